#define _GNU_SOURCE /* for asprintf() */
#include "compile/kernel_names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "base/text.h"

enum { MOST_KERNELS = 64, MOST_NESTED = 16, MOST_SHOWN = 12 };

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

void kernel_name_of_entry(const char *entry, char name[KERNEL_NAME_BYTES])
{
    size_t end = strcspn(entry, "\n"), depth = 0;
    while (end > 0 && (depth > 0 || !in_word(entry[end - 1]))) {
        char c = entry[--end];
        depth += c == '>' || c == ')';
        depth -= depth > 0 && (c == '<' || c == '(');
    }
    size_t start = end;
    while (start > 0 && in_word(entry[start - 1]))
        start--;
    snprintf(name, KERNEL_NAME_BYTES, "%.*s", (int)(end - start), entry + start);
}

typedef struct declared_kernel {
    char name[KERNEL_NAME_BYTES];       /* name with namespaces: "ns::scale" */
    char parameters[KERNEL_NAME_BYTES]; /* text of the parameters; "" if too long */
    char file[KERNEL_NAME_BYTES];
    int line;
    bool is_template;
} declared_kernel;

typedef struct reader {
    const char *at;
    char file[KERNEL_NAME_BYTES];
    int line;
    int depth; /* number of open braces */
    struct {
        char name[64];
        int depth; /* number of open braces around the namespace */
    } spaces[MOST_NESTED];
    int space_count;
    bool is_template; /* the current declaration is a template */
} reader;

static void step(reader *r)
{
    r->line += *r->at == '\n';
    r->at += *r->at != '\0';
}

static void skip_to(reader *r, const char *end)
{
    while (r->at < end && *r->at)
        step(r);
}

static void skip_literal(reader *r)
{
    const char quote = *r->at;
    step(r);
    while (*r->at && *r->at != quote && *r->at != '\n') {
        if (*r->at == '\\')
            step(r);
        step(r);
    }
    step(r);
}

static void read_directive(reader *r)
{
    unsigned line;
    char file[KERNEL_NAME_BYTES];
    int found = sscanf(r->at, "#line %u \"%255[^\"]", &line, file);
    const char *end = r->at;
    while (*end && *end != '\n')
        end += end[0] == '\\' && end[1] == '\n' ? 2 : 1;
    skip_to(r, end);
    if (found > 0)
        r->line = (int)line - 1; /* The newline after this directive counts, too. */
    if (found > 1)
        snprintf(r->file, sizeof r->file, "%s", file);
}

/* Skips blanks, comments, literals and directives. Returns false at the end of the text. */
static bool skip_others(reader *r)
{
    for (;;) {
        if (isspace((unsigned char)*r->at)) {
            step(r);
        } else if (strncmp(r->at, "//", 2) == 0) {
            skip_to(r, r->at + strcspn(r->at, "\n"));
        } else if (strncmp(r->at, "/*", 2) == 0) {
            const char *end = strstr(r->at + 2, "*/");
            skip_to(r, end ? end + 2 : r->at + strlen(r->at));
        } else if (*r->at == '"' || *r->at == '\'') {
            skip_literal(r);
        } else if (*r->at == '#') {
            read_directive(r);
        } else {
            return *r->at != '\0';
        }
    }
}

static size_t word_bytes(const char *at)
{
    size_t n = 0;
    while (in_word(at[n]))
        n++;
    return n;
}

static const char *skip_brackets(const char *at)
{
    int depth = 0;
    do {
        depth += (*at == '(') - (*at == ')');
        at += *at != '\0';
    } while (depth > 0 && *at);
    return at;
}

/* Reads a namespace after its keyword. Only a name followed by a brace opens a namespace. */
static void read_namespace(reader *r)
{
    char name[64] = "";
    while (skip_others(r) && (in_word(*r->at) || *r->at == ':')) {
        size_t n = *r->at == ':' ? 1 : word_bytes(r->at);
        if (strncmp(r->at, "inline", n) != 0)
            text_add(name, sizeof name, "%.*s", (int)n, r->at);
        r->at += n;
    }
    if (*r->at != '{' || r->space_count == MOST_NESTED)
        return;
    memcpy(r->spaces[r->space_count].name, name, sizeof name);
    r->spaces[r->space_count++].depth = r->depth;
}

/* Reads the declaration after __global__. The kernel's name is the first name before a bracket that
 * is no attribute. */
static bool read_kernel(reader *r, declared_kernel *out)
{
    while (skip_others(r) && *r->at != ';' && *r->at != '{' && *r->at != '}') {
        const char *word = r->at;
        size_t n = word_bytes(word);
        if (n == 0) {
            step(r);
            continue;
        }
        const int line = r->line;
        skip_to(r, word + n);
        const char *after = r->at + strspn(r->at, " \t\n");
        if (*after != '(')
            continue;
        const char *end = skip_brackets(after);
        skip_to(r, end);
        if (strncmp(word, "__", 2) == 0 || strncmp(word, "alignas", n) == 0)
            continue;
        *out = (declared_kernel){.line = line, .is_template = r->is_template};
        memcpy(out->file, r->file, sizeof out->file);
        for (int i = 0; i < r->space_count; i++)
            if (r->spaces[i].name[0])
                text_add(out->name, sizeof out->name, "%s::", r->spaces[i].name);
        text_add(out->name, sizeof out->name, "%.*s", (int)n, word);
        if ((size_t)(end - after) < sizeof out->parameters &&
            !memchr(after, '\n', (size_t)(end - after)))
            memcpy(out->parameters, after, (size_t)(end - after));
        return true;
    }
    return false;
}

/* Finds the kernels that a text declares, at most `capacity`, in the order of the text. Repeated
 * declarations count, too. `name` is the file name until the first #line directive. */
static size_t find_kernels(const char *text, const char *name, declared_kernel *out,
                           size_t capacity)
{
    reader r = {.at = text, .line = 1};
    size_t count = 0;
    snprintf(r.file, sizeof r.file, "%s", name);
    while (count < capacity && skip_others(&r)) {
        const char c = *r.at;
        size_t n = word_bytes(r.at);
        if (n == 0) {
            step(&r);
            r.depth += (c == '{') - (c == '}');
            if (c == '}' && r.space_count > 0 && r.spaces[r.space_count - 1].depth == r.depth)
                r.space_count--;
            if (c == ';' || c == '{' || c == '}')
                r.is_template = false;
            continue;
        }
        const char *word = r.at;
        r.at += n;
        if (n == 9 && strncmp(word, "namespace", n) == 0)
            read_namespace(&r);
        else if (n == 8 && strncmp(word, "template", n) == 0)
            r.is_template = true;
        else if (n == 10 && strncmp(word, "__global__", n) == 0)
            count += read_kernel(&r, &out[count]);
    }
    return count;
}

static size_t find_all(const compile_request *r, declared_kernel *out)
{
    size_t count = find_kernels(r->source, r->name, out, MOST_KERNELS);
    for (size_t i = 0; i < r->header_count && count < MOST_KERNELS; i++)
        count +=
            find_kernels(r->headers[i].text, r->headers[i].name, out + count, MOST_KERNELS - count);
    return count;
}

static const char *last_part(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

/* Returns the kernel with the name in the entry, or with the nearest name, or NULL. */
static const declared_kernel *find_named_kernel(const declared_kernel *kernels, size_t count,
                                                const char *entry)
{
    const char *names[MOST_KERNELS];
    char own[KERNEL_NAME_BYTES];
    kernel_name_of_entry(entry, own);
    for (size_t i = 0; i < count; i++)
        names[i] = last_part(kernels[i].name);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], own) == 0)
            return &kernels[i];
    const char *nearest = nearest_name(own, names, count);
    for (size_t i = 0; i < count; i++)
        if (names[i] == nearest)
            return &kernels[i];
    return NULL;
}

static void list_kernels(pack *to, const declared_kernel *kernels, size_t count,
                         const declared_kernel *known)
{
    size_t shown = 0;
    for (size_t i = 0; i < count && shown < MOST_SHOWN; i++) {
        bool told = known && strcmp(known->name, kernels[i].name) == 0;
        for (size_t k = 0; k < i && !told; k++)
            told = strcmp(kernels[k].name, kernels[i].name) == 0;
        if (told)
            continue;
        pack_append_text(to, shown++ ? ", "
                             : known ? "; other kernels here are "
                                     : "; the kernels here are ");
        pack_append_text(to, kernels[i].name);
        pack_append_text(to, kernels[i].is_template ? "<...>" : "");
    }
    if (count == 0)
        pack_append_text(to, "; the source has no kernel (__global__)");
}

/* Returns a sentence about an entry for which NVRTC reported `why`, or NULL without memory. */
static char *sentence(const char *entry, const char *why, const declared_kernel *meant)
{
    char own[KERNEL_NAME_BYTES], *text = NULL;
    int used;
    kernel_name_of_entry(entry, own);
    if (strstr(why, "function template"))
        used = asprintf(&text,
                        "the entry '%s' is a template: name an instance of it, such as "
                        "'%s<...>'",
                        entry, entry);
    else if (strstr(why, "overloaded"))
        used = asprintf(&text,
                        "the entry '%s' names several kernels: choose one by its type, such as "
                        "'(void(*)%s)%s'",
                        entry, meant && meant->parameters[0] ? meant->parameters : "(float *, int)",
                        entry);
    else if (meant && strcmp(last_part(meant->name), own) == 0 && !strstr(why, own))
        used = asprintf(&text, "the entry '%s' is not the name of a kernel: %s", entry, why);
    else if (meant)
        used = asprintf(&text, "there is no kernel '%s'; did you mean '%s%s', which is here?",
                        entry, meant->name, meant->is_template ? "<...>" : "");
    else
        used = asprintf(&text, "there is no kernel '%s'", entry);
    return used < 0 ? NULL : text;
}

char *kernel_names_complain(const compile_request *r, const char *entry, const char *why)
{
    pack to = {0};
    declared_kernel *kernels = calloc(MOST_KERNELS, sizeof *kernels);
    size_t count = kernels ? find_all(r, kernels) : 0;
    const declared_kernel *meant = find_named_kernel(kernels, count, entry),
                          *place = meant || count == 0 ? meant : &kernels[0];
    char *text = sentence(entry, why, meant), head[KERNEL_NAME_BYTES + 64];
    snprintf(head, sizeof head, "%s(%d): error: ", place ? place->file : r->name,
             place ? place->line : 1);
    pack_append_text(&to, head);
    pack_append_text(&to, text ? text : "out of memory");
    list_kernels(&to, kernels, count, meant);
    free(text);
    free(kernels);
    return pack_take_text(&to);
}

/* File name of NVRTC's generated source for the entries: its line N + 1 is entry N. */
static const char entries_file[] = "__nv_name_map(";

/* Returns the end of a block of the log, which is after a blank line. */
static const char *block_end(const char *at)
{
    const char *end = strstr(at, "\n\n");
    return end ? end + 2 : at + strlen(at);
}

static bool is_of_entries(const char *block)
{
    return strncmp(block, entries_file, sizeof entries_file - 1) == 0;
}

/* Returns true if the block is a count of errors: "2 errors detected in the compilation of ..." */
static bool is_count(const char *block)
{
    const char *end = block + strspn(block, "0123456789");
    return end > block && strncmp(end, " error", 6) == 0;
}

static bool has_other_errors(const char *log)
{
    for (const char *at = log, *end; *at; at = end) {
        end = block_end(at);
        const char *error = strstr(at, "error: ");
        if (!is_of_entries(at) && error && error < end)
            return true;
    }
    return false;
}

void kernel_names_explain(char **log, const compile_request *r)
{
    pack to = {0};
    const char *first = strstr(*log, entries_file);
    unsigned told = 0;
    if (!first)
        return;
    const bool others = has_other_errors(*log);
    for (const char *at = *log, *end; *at; at = end) {
        end = block_end(at);
        unsigned number = 0;
        char why[KERNEL_NAME_BYTES] = "";
        if (!is_of_entries(at)) {
            if (!is_count(at))
                pack_append(&to, at, (size_t)(end - at));
            continue;
        }
        if (others || sscanf(at, "__nv_name_map(%u): error: %255[^\n]", &number, why) != 2 ||
            number < 2 || number == told)
            continue;
        told = number;
        size_t length;
        const char *entry = text_line(r->entry, number - 2, &length);
        char *copy = strndup(entry, length);
        char *told_text = copy ? kernel_names_complain(r, copy, why) : NULL;
        pack_append_text(&to, told_text ? told_text : at);
        pack_append_text(&to, "\n");
        free(told_text);
        free(copy);
    }
    char *text = pack_take_text(&to);
    if (!text)
        return;
    free(*log);
    *log = text;
}
