#include "compile/group.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Stands where messages about an alias have the file's name; the name follows. */
#define NAMES_MARK "names|"

enum { SUFFIX_BYTES = 8 };

/* "_at3_" of the fourth member: what follows its entries' names in the program. */
static void group_suffix(size_t index, char out[SUFFIX_BYTES])
{
    snprintf(out, SUFFIX_BYTES, "_at%u_", (unsigned)index % COMPILE_GROUP_MAX);
}

/* Writes `before`name`between`name`after` for each name of a list. */
static void put_each(pack *t, const char *list, const char *before, const char *suffix)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, "\n");
        pack_append_text(t, before);
        pack_append(t, p, n);
        if (suffix) {
            pack_append_text(t, " ");
            pack_append(t, p, n);
            pack_append_text(t, suffix);
        }
        pack_append_text(t, "\n");
        p += n + 1;
    }
}

/* The source without its includes, every `#line N "file"` as `#line N "index|file"`. */
static void put_body(pack *t, const group_member *m, size_t index)
{
    for (const char *p = m->source; *p;) {
        size_t n = strcspn(p, "\n");
        const char *q = p + strspn(p, " \t");
        const char *quote = NULL;
        if (*q == '#') {
            word directive = word_at(q + 1 + strspn(q + 1, " \t"));
            if (word_is(directive, "line"))
                quote = memchr(p, '"', n);
            if (word_is(directive, "include"))
                p += n, n = 0;
        }
        if (quote) {
            char mark[16];
            snprintf(mark, sizeof mark, "%zu|", index);
            pack_append(t, p, (size_t)(quote + 1 - p));
            pack_append_text(t, mark);
            pack_append(t, quote + 1, n - (size_t)(quote + 1 - p));
        } else {
            pack_append(t, p, n);
        }
        pack_append_text(t, "\n");
        p += n + (p[n] == '\n');
    }
}

char *group_source(const group_member *members, size_t count)
{
    pack t = {0}, names = {0};
    /* `shared` and the like are good names for an array, and what the toolkit's macros are made
     * of. */
    pack_append_text(&t, "#undef __shared__\n#define __shared__ __attribute__((__shared__))\n");
    pack_append_text(&t, members[0].includes);
    for (size_t i = 0; i < count; i++)
        for (const char *p = members[i].declared; *p;) {
            size_t n = strcspn(p, "\n");
            names_add(&names, (word){p, n});
            p += n + 1;
        }
    pack_append_text(&t, "namespace at_none {}\n");
    char *aliases = pack_take_text(&names);
    for (const char *p = aliases; p && *p;) {
        size_t n = strcspn(p, "\n");
        pack_append_text(&t, "#line 1 \"" NAMES_MARK);
        pack_append(&t, p, n);
        pack_append_text(&t, "\"\nnamespace ");
        pack_append(&t, p, n);
        pack_append_text(&t, " = at_none;\n");
        p += n + 1;
    }
    for (size_t i = 0; i < count; i++) {
        char suffix[SUFFIX_BYTES], head[48];
        group_suffix(i, suffix);
        put_each(&t, members[i].renamed, "#define ", suffix);
        snprintf(head, sizeof head, "namespace at%zu_ {\n#line 1 \"%zu|", i, i);
        pack_append_text(&t, head);
        pack_append_text(&t, members[i].name);
        pack_append_text(&t, "\"\n");
        put_body(&t, &members[i], i);
        pack_append_text(&t, "}\n");
        put_each(&t, members[i].renamed, "#undef ", NULL);
        put_each(&t, members[i].macros, "#undef ", NULL);
    }
    t.failed |= !aliases;
    free(aliases);
    return pack_take_text(&t);
}

char *group_entries(const group_member *members, size_t count)
{
    pack t = {0};
    size_t length;
    for (size_t i = 0; i < count; i++) {
        const char *entry;
        char scope[16], suffix[SUFFIX_BYTES];
        group_suffix(i, suffix);
        snprintf(scope, sizeof scope, "at%zu_::", i);
        for (size_t k = 0; entry = text_line(members[i].entry, k, &length), length > 0; k++) {
            pack_append_text(&t, t.size_bytes ? "\n" : "");
            pack_append_text(&t, scope);
            pack_append(&t, entry, length);
            pack_append_text(&t, suffix);
        }
    }
    return pack_take_text(&t);
}

static size_t count_entries(const group_member *m)
{
    size_t count = 0, length;
    while (text_line(m->entry, count, &length), length > 0)
        count++;
    return count;
}

char *group_lines(const group_member *members, size_t index, const char *lines)
{
    size_t first = 0, count = count_entries(&members[index]), length;
    for (size_t i = 0; i < index; i++)
        first += count_entries(&members[i]);
    const char *from = text_line(lines, first, &length);
    const char *to = text_line(lines, first + count - 1, &length);
    return strndup(from, (size_t)(to - from) + length);
}

/* The member that a mark "3|" at `p` names, its length in *size; -1 when there is none. */
static int marked_member(const char *p, size_t *size)
{
    size_t n = strspn(p, "0123456789");
    if (n == 0 || n > 2 || p[n] != '|')
        return -1;
    *size = n + 1;
    return atoi(p);
}

/* Marks the members that declare the name. */
static void mark_declaring(const group_member *members, size_t count, word name, bool *broken)
{
    for (size_t i = 0; i < count; i++) {
        const char *declared = members[i].declared;
        broken[i] |= names_have(declared, strlen(declared), name);
    }
}

size_t group_broken(const group_member *members, size_t count, const char *log, bool *broken)
{
    size_t found = 0;
    memset(broken, 0, count * sizeof *broken);
    for (const char *p = log; *p;) {
        size_t n = strcspn(p, "\n"), mark;
        int member = -1;
        const char *word_error = strstr(p, "error");
        bool complains = word_error && word_error < p + n;
        if (complains && strncmp(p, NAMES_MARK, strlen(NAMES_MARK)) == 0) {
            mark_declaring(members, count, word_at(p + strlen(NAMES_MARK)), broken);
        } else if (complains) {
            member = marked_member(p, &mark);
            /* ptxas names the kernel: 'transpose_at3_'. */
            for (const char *q = p; member < 0 && (q = strstr(q, "_at")) && q < p + n; q += 3)
                if (isdigit((unsigned char)q[3]))
                    member = atoi(q + 3);
        }
        if (member >= 0 && (size_t)member < count)
            broken[member] = true;
        p += n + (p[n] == '\n');
    }
    for (size_t i = 0; i < count; i++)
        found += broken[i];
    return found;
}

/* Copies the line without the member's marks: "3|", "_at3_", "at3_::". */
static void put_unmarked(pack *t, const char *line, size_t size, size_t index)
{
    char mark[16], suffix[SUFFIX_BYTES], scope[16];
    snprintf(mark, sizeof mark, "%zu|", index);
    group_suffix(index, suffix);
    snprintf(scope, sizeof scope, "at%zu_::", index);
    const char *const marks[] = {mark, suffix, scope};
    for (size_t i = 0; i < size;) {
        size_t skipped = 0;
        for (size_t k = 0; k < 3 && !skipped; k++) {
            size_t n = strlen(marks[k]);
            bool begins = k != 0 || i == 0 || !isalnum((unsigned char)line[i - 1]);
            if (begins && i + n <= size && memcmp(line + i, marks[k], n) == 0)
                skipped = n;
        }
        if (skipped)
            i += skipped;
        else
            pack_append(t, line + i++, 1);
    }
    pack_append_text(t, "\n");
}

/* Blocks are parted by blank lines; the first line of one that is about a source names its file.
 * The compiler says once how to silence warnings: each member's first has it, as it would alone. */
char *group_log(const char *log, size_t index)
{
    static const char remark[] =
        "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n";
    pack t = {0};
    bool has_remark = strstr(log, "Remark: The warnings can be suppressed") != NULL;
    bool own = false, remarked = false, warned = false;
    for (const char *p = log; *p;) {
        size_t n = strcspn(p, "\n"), mark;
        int member = marked_member(p, &mark);
        if (member >= 0)
            own = (size_t)member == index;
        else if (strncmp(p, "Remark:", 7) == 0)
            own = false;
        if (own) {
            warned |= member >= 0 && strstr(p, "warning") != NULL;
            put_unmarked(&t, p, n, index);
            if (n == 0 && warned && has_remark && !remarked) {
                pack_append_text(&t, remark);
                remarked = true;
            }
        }
        p += n + (p[n] == '\n');
    }
    return pack_take_text(&t);
}
