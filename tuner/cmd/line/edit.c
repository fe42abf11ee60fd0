#include "cmd/line/edit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/pack.h"

enum { CONTEXT = 3, MOST_BYTES = 4 << 20 };

void edit_list_deinit(edit_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->edits[i].text);
    free(list->edits);
    *list = (edit_list){0};
}

void edit_add(edit_list *list, size_t begin, size_t length, const char *text)
{
    size_t at = list->count;
    edit one = {.begin = begin, .length = length, .text = memory_text(text)};
    memory_add(&list->edits, &list->count, &one, sizeof one);
    for (; at > 0 && list->edits[at - 1].begin > begin; at--)
        list->edits[at] = list->edits[at - 1];
    list->edits[at] = one;
}

/* Appends the text from `at` to `end`, after the edits. */
static void put_edited(pack *out, const edit_list *list, const char *text, size_t at, size_t end)
{
    for (size_t i = 0; i < list->count; i++) {
        const edit *e = &list->edits[i];
        if (e->begin < at || e->begin + e->length > end)
            continue;
        pack_append(out, text + at, e->begin - at);
        pack_append_text(out, e->text);
        at = e->begin + e->length;
    }
    pack_append(out, text + at, end - at);
}

char *edit_apply(const edit_list *list, const char *text)
{
    pack out = {0};
    put_edited(&out, list, text, 0, strlen(text));
    return memory_require(pack_take_text(&out));
}

static size_t line_start(const char *text, size_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

static size_t next_line(const char *text, size_t at)
{
    const char *end = strchr(text + at, '\n');
    return end ? (size_t)(end + 1 - text) : strlen(text);
}

/* bounds of changed lines, in the text before the edits */
typedef struct change {
    size_t begin, end;
} change;

/* Returns the bounds of the lines that edit *i changes. Includes edits that share these lines, and
 * moves *i past all of them. */
static change touched(const edit_list *list, const char *text, size_t *i)
{
    const edit *e = &list->edits[*i];
    change c = {line_start(text, e->begin), e->begin + e->length};
    const bool inserts =
        e->length == 0 && c.begin == e->begin && *e->text && e->text[strlen(e->text) - 1] == '\n';
    if (!inserts)
        c.end = next_line(text, c.end);
    for (++*i; *i < list->count && list->edits[*i].begin < c.end; ++*i)
        c.end = next_line(text, list->edits[*i].begin + list->edits[*i].length);
    return c;
}

size_t edit_count_lines(const char *text, size_t begin, size_t end)
{
    size_t lines = 0;
    for (size_t at = begin; at < end; at = next_line(text, at))
        lines++;
    return lines;
}

static void put_lines(pack *out, char sign, const char *text, size_t begin, size_t end)
{
    for (size_t at = begin; at < end;) {
        const size_t next = next_line(text, at);
        const size_t stop = next < end ? next : end;
        pack_append(out, &sign, 1);
        pack_append(out, text + at, stop - at);
        if (text[stop - 1] != '\n')
            pack_append_text(out, "\n\\ No newline at end of file\n");
        at = stop;
    }
}

static size_t back(const char *text, size_t at, int lines)
{
    for (; lines > 0 && at > 0; lines--)
        at = line_start(text, at - 1);
    return at;
}

static size_t ahead(const char *text, size_t at, int lines)
{
    for (; lines > 0 && text[at]; lines--)
        at = next_line(text, at);
    return at;
}

/* Prints one hunk, which begins with edit *i. *grown is the number of lines added so far. */
static void print_hunk(const edit_list *list, const char *text, size_t *i, long *grown, FILE *to)
{
    pack body = {0};
    change c = touched(list, text, i);
    const size_t begin = back(text, c.begin, CONTEXT);
    size_t old_lines = 0, new_lines = 0, at = begin;
    for (;;) {
        pack now = {0};
        put_lines(&body, ' ', text, at, c.begin);
        put_lines(&body, '-', text, c.begin, c.end);
        put_edited(&now, list, text, c.begin, c.end);
        char *after = memory_require(pack_take_text(&now));
        put_lines(&body, '+', after, 0, strlen(after));
        old_lines += edit_count_lines(text, at, c.end);
        new_lines +=
            edit_count_lines(text, at, c.begin) + edit_count_lines(after, 0, strlen(after));
        free(after);
        at = c.end;
        size_t following = *i;
        change next = following < list->count ? touched(list, text, &following) : c;
        if (following == *i || next.begin > ahead(text, at, 2 * CONTEXT))
            break;
        *i = following;
        c = next;
    }
    const size_t end = ahead(text, at, CONTEXT);
    put_lines(&body, ' ', text, at, end);
    old_lines += edit_count_lines(text, at, end);
    new_lines += edit_count_lines(text, at, end);
    const long first = (long)edit_count_lines(text, 0, begin) + 1;
    fprintf(to, "@@ -%ld,%zu +%ld,%zu @@\n", first, old_lines, first + *grown, new_lines);
    fwrite(body.bytes, 1, body.size_bytes, to);
    *grown += (long)new_lines - (long)old_lines;
    pack_deinit(&body);
}

void edit_print(const edit_list *list, const char *before, const char *path, FILE *to)
{
    char *after = edit_apply(list, before);
    if (strcmp(before, after) != 0) {
        fprintf(to, "--- %s\n+++ %s\n", path, path);
        long grown = 0;
        for (size_t i = 0; i < list->count;)
            print_hunk(list, before, &i, &grown, to);
    }
    free(after);
}

at_status edit_write(const char *path, const char *before, const char *after, at_error *error)
{
    char *now = NULL;
    struct stat s;
    at_status status = file_read(path, MOST_BYTES, &now, NULL, error);
    if (!status && strcmp(now, before) != 0)
        status = error_set(error, AT_USAGE,
                           "%s was changed by another program meanwhile: nothing is written. Run "
                           "the command again",
                           path);
    if (!status && stat(path, &s) != 0)
        status = error_set(error, AT_IO, "%s no longer exists", path);
    if (!status)
        status = file_replace(path, after, strlen(after), error);
    if (!status && chmod(path, s.st_mode & 07777) != 0)
        status = error_set(error, AT_IO, "%s is written, but its mode cannot be set", path);
    free(now);
    return status;
}
