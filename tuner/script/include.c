#include "script/include.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/state.h"

enum { NAME_BYTES = 256 };

/* One file on its way through the preprocessor's first phases. */
typedef struct reader {
    const char *at;
    const char *own_name; /* "" for the source itself; else as its #include spells it */
    char name[512];       /* for messages; #line changes it */
    int line;
    at_error *error;
} reader;

typedef struct collection {
    const char *const *folders;
    size_t folder_count;
    included *out;
} collection;

/* A #line directive may number lines up to the largest int. */
static void count_line(reader *r)
{
    r->line += r->line < INT_MAX;
}

/* Bytes of the line splice at `at`: a backslash and an end of line. */
static size_t splice_bytes(const char *at)
{
    if (at[0] != '\\')
        return 0;
    return at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

static void skip_splices(reader *r)
{
    for (size_t n; (n = splice_bytes(r->at)) > 0; r->at += n)
        count_line(r);
}

static char peek(reader *r)
{
    skip_splices(r);
    return *r->at;
}

static char take(reader *r)
{
    char c = peek(r);
    if (c == '\n')
        count_line(r);
    r->at += c != '\0';
    return c;
}

static char peek_second(reader *r)
{
    if (peek(r) == '\0')
        return '\0';
    reader ahead = {.at = r->at + 1};
    return peek(&ahead);
}

/* Skips one comment; false when there is none. */
static bool skip_comment(reader *r)
{
    if (peek(r) != '/' || (peek_second(r) != '/' && peek_second(r) != '*'))
        return false;
    take(r);
    if (take(r) == '/') {
        while (peek(r) != '\0' && peek(r) != '\n')
            take(r);
        return true;
    }
    for (char last = '\0', c; (c = take(r)) != '\0'; last = c)
        if (last == '*' && c == '/')
            break;
    return true;
}

static void skip_blanks(reader *r)
{
    for (;;) {
        char c = peek(r);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f')
            take(r);
        else if (!skip_comment(r))
            return;
    }
}

/* A string or character literal up to its end; one that is not closed ends with its line. */
static void skip_literal(reader *r)
{
    char quote = take(r);
    for (char c; (c = peek(r)) != '\0' && c != '\n';) {
        take(r);
        if (c == quote)
            return;
        if (c == '\\' && peek(r) != '\n')
            take(r);
    }
}

/* R"mark( ... )mark", of which the quote is next. */
static void skip_raw_literal(reader *r)
{
    char end[20] = ")";
    size_t n = 1;
    take(r);
    while (peek(r) != '(' && peek(r) != '\0' && n < sizeof end - 2)
        end[n++] = take(r);
    end[n++] = '"';
    end[n] = '\0';
    const char *closed = strstr(r->at, end);
    const char *stop = closed ? closed + n : r->at + strlen(r->at);
    for (; r->at < stop; r->at++)
        if (*r->at == '\n')
            count_line(r);
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* Reads an identifier or a number; what does not fit is left out. */
static void read_word(reader *r, char word[NAME_BYTES])
{
    size_t n = 0;
    bool number = isdigit((unsigned char)peek(r));
    while (is_word_char(peek(r)) || (number && peek(r) == '\'' && is_word_char(peek_second(r)))) {
        char c = take(r);
        if (n < NAME_BYTES - 1)
            word[n++] = c;
    }
    word[n] = '\0';
}

/* Most words are neither of those that matter, nor numbers, nor cut by a splice. */
static bool skip_plain_word(reader *r)
{
    const char *end = r->at;
    if (isdigit((unsigned char)*end) || strncmp(end, "__", 2) == 0)
        return false;
    while (is_word_char(*end))
        end++;
    if (*end == '\\' || *end == '"')
        return false;
    r->at = end;
    return true;
}

static at_status refuse(const reader *r, int line, const char *what)
{
    return error_set_at(r->error, AT_SCRIPT, r->name, line,
                        "%s: source may include headers of the CUDA Toolkit and files of the "
                        "script's folder, named in the #include itself by a path without '..'",
                        what);
}

static bool leads_outside(const char *name)
{
    if (name[0] == '/' || name[0] == '\0' || strchr(name, '\\'))
        return true;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return true;
    }
    return false;
}

/* "name" or <name>, which must lead nowhere else. */
static at_status read_name(reader *r, int line, char name[NAME_BYTES])
{
    size_t n = 0;
    char end = peek(r) == '"' ? '"' : peek(r) == '<' ? '>' : '\0';
    if (end == '\0')
        return refuse(r, line, "an #include of a macro: write the file's name");
    take(r);
    while (peek(r) != end) {
        if (peek(r) == '\0' || peek(r) == '\n' || n == NAME_BYTES - 1)
            return refuse(r, line, "an #include whose file name does not end");
        name[n++] = take(r);
    }
    take(r);
    name[n] = '\0';
    char what[NAME_BYTES + 40];
    snprintf(what, sizeof what, "an include of '%s'", name);
    return leads_outside(name) ? refuse(r, line, what) : AT_OK;
}

static at_status read_question(reader *r)
{
    char name[NAME_BYTES];
    int line = r->line;
    skip_blanks(r);
    if (peek(r) != '(')
        return refuse(r, line, "__has_include without a file name in brackets");
    take(r);
    skip_blanks(r);
    return read_name(r, line, name);
}

static bool is_question(const char *word)
{
    return strcmp(word, "__has_include") == 0 || strcmp(word, "__has_include_next") == 0 ||
           strcmp(word, "__has_embed") == 0;
}

static bool is_raw_prefix(const char *word)
{
    static const char *const prefixes[] = {"R", "LR", "uR", "UR", "u8R"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strcmp(word, prefixes[i]) == 0)
            return true;
    return false;
}

static void read_line_directive(reader *r)
{
    char number[NAME_BYTES];
    skip_blanks(r);
    read_word(r, number);
    long line = strtol(number, NULL, 10);
    if (line < 1 || line > INT_MAX)
        return;
    skip_blanks(r);
    if (peek(r) == '"') {
        size_t n = 0;
        take(r);
        while (peek(r) != '"' && peek(r) != '\n' && peek(r) != '\0') {
            char c = take(r);
            if (c == '\\' && peek(r) != '\n')
                c = take(r);
            if (n < sizeof r->name - 1)
                r->name[n++] = c;
        }
        r->name[n] = '\0';
    }
    r->line = (int)line - 1; /* the end of this line counts */
    while (peek(r) != '\n' && peek(r) != '\0')
        take(r);
}

static at_status scan(collection *c, const char *text, const char *own_name, const char *name,
                      at_error *error);

static const source_header *find_header(const included *i, const char *name)
{
    for (size_t n = 0; n < i->count; n++)
        if (strcmp(i->headers[n].name, name) == 0)
            return &i->headers[n];
    return NULL;
}

/* Looks as the preprocessor does: beside the file that includes, then in the folders. */
static bool find_path(const collection *c, const reader *r, const char *name, char path[PATH_MAX])
{
    char beside[2 * NAME_BYTES];
    while (strncmp(name, "./", 2) == 0)
        name += 2;
    const char *slash = strrchr(r->own_name, '/');
    snprintf(beside, sizeof beside, "%.*s%s", slash ? (int)(slash + 1 - r->own_name) : 0,
             r->own_name, name);
    return (slash && script_find_file(c->folders, c->folder_count, beside, path, PATH_MAX)) ||
           script_find_file(c->folders, c->folder_count, name, path, PATH_MAX);
}

static at_status add_header(collection *c, const reader *r, int line, const char *name,
                            const char *path, script_range *text)
{
    const source_header *known = find_header(c->out, name);
    if (strlen(text->bytes) != text->size_bytes)
        return error_set_at(r->error, AT_SCRIPT, r->name, line,
                            "%s, which this includes, holds a NUL", path);
    if (known && strcmp(known->text, text->bytes) != 0)
        return error_set_at(
            r->error, AT_SCRIPT, r->name, line,
            "'%s' names two files, the second of which is %s: give one another name", name, path);
    if (known)
        return AT_OK;
    if (!c->out->headers)
        c->out->headers = calloc(SOURCE_HEADERS_MAX, sizeof *c->out->headers);
    if (c->out->count == SOURCE_HEADERS_MAX)
        return error_set_at(r->error, AT_SCRIPT, r->name, line, "more than %d included files",
                            SOURCE_HEADERS_MAX);
    char *kept = c->out->headers ? strdup(name) : NULL;
    if (!kept)
        return error_set(r->error, AT_NO_MEMORY, "out of memory for an included file");
    c->out->headers[c->out->count++] = (source_header){.name = kept, .text = text->bytes};
    text->bytes = NULL;
    return scan(c, c->out->headers[c->out->count - 1].text, kept, path, r->error);
}

static at_status read_include(collection *c, reader *r)
{
    char name[NAME_BYTES], path[PATH_MAX];
    int line = r->line;
    skip_blanks(r);
    const char *link;
    /* One in angle brackets may be the Toolkit's. */
    const bool is_own = peek(r) == '"';
    at_status status = read_name(r, line, name);
    if (status)
        return status;
    if (!find_path(c, r, name, path))
        return is_own && script_leads_out(c->folders, c->folder_count, name, &link)
                   ? error_set_at(r->error, AT_SCRIPT, r->name, line, "cannot include '%s'%s", name,
                                  link)
                   : AT_OK;
    script_range text;
    status = script_read_file(path, &text, r->error);
    if (status == AT_IO)
        return error_set_at(r->error, AT_SCRIPT, r->name, line, "cannot include '%s': %s", name,
                            r->error ? r->error->message : "");
    if (!status)
        status = add_header(c, r, line, name, path, &text);
    free(text.bytes);
    return status;
}

/* A directive, of which the sign is taken. */
static at_status read_directive(collection *c, reader *r)
{
    char word[NAME_BYTES];
    skip_blanks(r);
    read_word(r, word);
    if (strcmp(word, "include") == 0 || strcmp(word, "include_next") == 0 ||
        strcmp(word, "import") == 0 || strcmp(word, "embed") == 0)
        return read_include(c, r);
    if (strcmp(word, "line") == 0)
        read_line_directive(r);
    return AT_OK;
}

static bool takes_directive_sign(reader *r)
{
    skip_blanks(r);
    if (peek(r) == '#') {
        take(r);
        return true;
    }
    if (peek(r) != '%' || peek_second(r) != ':')
        return false;
    take(r);
    take(r);
    return true;
}

/* Scans the rest of a line after its directive, if it has one. */
static at_status scan_line(reader *r)
{
    char word[NAME_BYTES];
    at_status status = AT_OK;
    while (!status && peek(r) != '\0' && peek(r) != '\n') {
        char c = peek(r);
        if (c == '"' || c == '\'') {
            skip_literal(r);
        } else if (is_word_char(c)) {
            if (skip_plain_word(r))
                continue;
            read_word(r, word);
            if (is_question(word))
                status = read_question(r);
            else if (peek(r) == '"' && is_raw_prefix(word))
                skip_raw_literal(r);
        } else if (!skip_comment(r)) {
            take(r);
        }
    }
    return status;
}

static at_status scan(collection *c, const char *text, const char *own_name, const char *name,
                      at_error *error)
{
    reader r = {.at = text, .own_name = own_name, .line = 1, .error = error};
    snprintf(r.name, sizeof r.name, "%s", name);
    /* These stand for a sign of directives and for a backslash with -std=c++11. */
    const char *trigraph = strstr(text, "?\?=");
    if (!trigraph)
        trigraph = strstr(text, "?\?/");
    if (trigraph) {
        for (const char *p = text; p < trigraph; p++)
            r.line += *p == '\n';
        return error_set_at(error, AT_SCRIPT, name, r.line,
                            "the trigraph %.3s, which can hide a directive, is not allowed",
                            trigraph);
    }
    at_status status = AT_OK;
    while (!status && peek(&r) != '\0') {
        if (takes_directive_sign(&r))
            status = read_directive(c, &r);
        if (!status)
            status = scan_line(&r);
        take(&r);
    }
    return status;
}

/* Most sources include nothing, as a quick look shows: no directive of the kind, no splice or
 * trigraph that could hide one. */
static bool may_include(const char *source)
{
    static const char *const signs[] = {"include", "import", "embed", "\\\n",
                                        "\\\r\n",  "?\?=",   "?\?/"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(source, signs[i]))
            return true;
    return false;
}

at_status include_collect(const char *source, const char *name, const char *const *folders,
                          size_t folder_count, included *out, at_error *error)
{
    *out = (included){0};
    if (!may_include(source))
        return AT_OK;
    collection c = {.folders = folders, .folder_count = folder_count, .out = out};
    at_status status = scan(&c, source, "", name, error);
    if (status)
        included_deinit(out);
    return status;
}

/* The list owns what it shows as const. */
static void free_text(const char *text)
{
    void *owned;
    memcpy(&owned, &text, sizeof owned);
    free(owned);
}

void included_deinit(included *i)
{
    for (size_t n = 0; n < i->count; n++) {
        free_text(i->headers[n].name);
        free_text(i->headers[n].text);
    }
    free(i->headers);
    *i = (included){0};
}
