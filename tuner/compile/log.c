#define _GNU_SOURCE /* memmem */
#include "compile/log.h"

#include <stdio.h>
#include <string.h>

/* A piece of the log: not NUL-terminated. */
typedef struct text_view {
    const char *start;
    size_t size;
} text_view;

static bool take_line(const char **rest, text_view *line)
{
    if (!**rest)
        return false;
    line->start = *rest;
    line->size = strcspn(*rest, "\n");
    *rest += line->size + ((*rest)[line->size] == '\n');
    return true;
}

static const char *find_in(text_view t, const char *needle)
{
    return memmem(t.start, t.size, needle, strlen(needle));
}

static text_view after(text_view t, const char *at, size_t skip)
{
    return (text_view){at + skip, t.size - (size_t)(at - t.start) - skip};
}

/* Whether the line says `phrase` followed by `name` and then by `end` ('\0': the end of the
 * line). */
static bool line_names(text_view line, const char *phrase, const char *name, char end)
{
    const char *at = find_in(line, phrase);
    if (!at)
        return false;
    text_view rest = after(line, at, strlen(phrase));
    size_t n = strlen(name);
    if (rest.size < n || memcmp(rest.start, name, n) != 0)
        return false;
    return end ? rest.size > n && rest.start[n] == end : rest.size == n;
}

static uint32_t clamp_add(uint32_t a, uint64_t b)
{
    return b > UINT32_MAX - a ? UINT32_MAX : a + (uint32_t)b;
}

static uint64_t read_number(text_view *t)
{
    uint64_t v = 0;
    while (t->size && *t->start >= '0' && *t->start <= '9') {
        if (v < UINT32_MAX)
            v = v * 10 + (uint64_t)(*t->start - '0');
        t->start++;
        t->size--;
    }
    return v;
}

typedef struct figure {
    const char *unit; /* what follows the number */
    size_t offset;    /* into kernel_resources */
} figure;

static const figure figures[] = {
    {" registers", offsetof(kernel_resources, registers)},
    {" barriers", offsetof(kernel_resources, barriers)},
    {" bytes stack frame", offsetof(kernel_resources, stack_bytes)},
    {" bytes spill stores", offsetof(kernel_resources, spill_store_bytes)},
    {" bytes spill loads", offsetof(kernel_resources, spill_load_bytes)},
    {" bytes smem", offsetof(kernel_resources, static_shared_bytes)},
    {" bytes cmem[", offsetof(kernel_resources, constant_bytes)},
};

/* Adds up every "<number><unit>" of the line. "64+16 bytes smem" (older versions: the kernel's own
 * and the system's) counts as both together. */
static void read_figures(text_view line, kernel_resources *out)
{
    uint64_t carried = 0;
    while (line.size) {
        if (*line.start < '0' || *line.start > '9') {
            line.start++;
            line.size--;
            continue;
        }
        uint64_t v = read_number(&line) + carried;
        carried = line.size && *line.start == '+' ? v : 0;
        for (size_t i = 0; !carried && i < sizeof figures / sizeof figures[0]; i++) {
            size_t n = strlen(figures[i].unit);
            if (line.size < n || memcmp(line.start, figures[i].unit, n) != 0)
                continue;
            uint32_t field;
            memcpy(&field, (char *)out + figures[i].offset, sizeof field);
            field = clamp_add(field, v);
            memcpy((char *)out + figures[i].offset, &field, sizeof field);
            break;
        }
    }
}

at_status compile_log_read(const char *log, const char *entry, kernel_resources *out,
                           at_error *error)
{
    static const char compiling[] = "Compiling entry function '";
    static const char properties[] = "Function properties for ";
    *out = (kernel_resources){0};
    bool found = false, in_entry = false, in_properties = false;
    text_view line;
    while (take_line(&log, &line)) {
        if (find_in(line, compiling)) {
            in_entry = line_names(line, compiling, entry, '\'');
            in_properties = false;
        } else if (find_in(line, properties)) {
            in_properties = line_names(line, properties, entry, '\0');
        } else if (find_in(line, " bytes gmem")) {
            read_figures(line, out);
        } else if (find_in(line, " bytes stack frame")) {
            if (in_properties)
                read_figures(line, out);
            in_properties = false;
        } else if (in_entry && find_in(line, ": Used ")) {
            read_figures(line, out);
            found = true;
            in_entry = false;
        }
    }
    if (found)
        return AT_OK;
    *out = (kernel_resources){0};
    return error_set(error, AT_NOT_FOUND, "the source has no kernel '%s' (extern \"C\" __global__)",
                     entry);
}

/* Does what the front end says from this line on, up to the next empty line, go without saying
 * beside an error: a warning, and how to be rid of warnings? */
static bool is_beside_errors(text_view line)
{
    return find_in(line, "): warning #") ||
           strncmp(line.start, "Remark: The warnings can", 24) == 0;
}

void compile_log_trim(char *log)
{
    const bool has_errors = strstr(log, "): error") != NULL;
    const char *rest = log;
    char *end = log;
    bool skips = false;
    text_view line;
    while (take_line(&rest, &line)) {
        if (strncmp(line.start, "ptxas info", 10) == 0 || strncmp(line.start, "ptxas  ", 7) == 0)
            continue;
        skips = has_errors && (skips || is_beside_errors(line));
        if (skips) {
            skips = line.size > 0;
            continue;
        }
        size_t n = (size_t)(rest - line.start);
        memmove(end, line.start, n);
        end += n;
    }
    while (end > log && (end[-1] == '\n' || end[-1] == ' ' || end[-1] == '\r'))
        end--;
    *end = '\0';
}

bool compile_source_place(const char *source, const char *word, char *place, size_t place_bytes)
{
    char file[256] = "";
    unsigned long number = 0;
    const char *rest = source;
    text_view line;
    for (; take_line(&rest, &line); number++) {
        unsigned long given;
        char head[300], name[256];
        snprintf(head, sizeof head, "%.*s", (int)(line.size < sizeof head ? line.size : 0),
                 line.start);
        if (sscanf(head, "#line %lu \"%255[^\"]\"", &given, name) == 2) {
            snprintf(file, sizeof file, "%s", name);
            number = given - 1;
        } else if (file[0] && find_in(line, word)) {
            snprintf(place, place_bytes, "%s:%lu", file, number);
            return true;
        }
    }
    return false;
}
