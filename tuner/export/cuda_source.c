#include "export/cuda_source.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "export/c_piece.h"

enum { MOST_NESTED = 16 };

typedef struct rewriter {
    const source_header *headers;
    size_t header_count;
    bool once[SOURCE_HEADERS_MAX]; /* has "#pragma once", and has been included */
    FILE *text, *includes, *undefines;
    char *include_list; /* what `includes` has, after a flush */
    size_t nested;
} rewriter;

/* ---- the pieces of a text ---- */

/* Blanks and comments; line ends too where they are nothing but blanks. */
static const char *skip_blanks(const char *at, bool over_lines)
{
    for (;;) {
        if (at[0] == '/' && at[1] == '*')
            at = c_skip_comment(at);
        else if (over_lines && at[0] == '/' && at[1] == '/')
            at = c_skip_line(at);
        else if (at[0] == '\\' && at[1] == '\n')
            at += 2;
        else if (*at == ' ' || *at == '\t' || *at == '\r' || (over_lines && *at == '\n'))
            at++;
        else
            return at;
    }
}

static bool is_name(const char *at, const char *end, const char *name)
{
    return (size_t)(end - at) == strlen(name) && strncmp(at, name, (size_t)(end - at)) == 0;
}

/* ---- rewriting ---- */

/* At `extern`: past extern "C" where it is that, with what stands for it written; else NULL. */
static const char *rewrite_linkage(rewriter *r, const char *at, bool in_directive)
{
    const char *literal = skip_blanks(c_skip_name(at), !in_directive);
    if (strncmp(literal, "\"C\"", 3) != 0 && strncmp(literal, "\"C++\"", 5) != 0)
        return NULL;
    const char *next = skip_blanks(c_skip_quoted(literal), !in_directive);
    /* Its names are seen outside, as those of a linkage block are. */
    if (*next == '{')
        fputs("inline namespace linkage ", r->text);
    return next;
}

/* Writes the piece from `at` to `end`; returns what is behind it. */
static const char *write_piece(rewriter *r, const char *at, const char *end, bool in_directive)
{
    const char *past = is_name(at, end, "extern") ? rewrite_linkage(r, at, in_directive) : NULL;
    if (!past)
        fwrite(at, 1, (size_t)(end - at), r->text);
    return past ? past : end;
}

/* Past the end of a directive, whose lines may be continued and whose comments may be long. */
static const char *directive_end(const char *at)
{
    while (*at && *at != '\n') {
        if (at[0] == '\\' && at[1])
            at += 2;
        else if (at[0] == '/' && at[1] == '/')
            at = c_skip_line(at);
        else
            at = c_skip_piece(at);
    }
    return *at ? at + 1 : at;
}

static at_status rewrite(rewriter *r, const char *source, at_error *error);

static void add_line_once(FILE *to, char **list, const char *line)
{
    fflush(to);
    if (!*list || !strstr(*list, line))
        fputs(line, to);
}

/* `name` is between the quotes or brackets that `open` begins. */
static at_status include(rewriter *r, char open, const char *name, at_error *error)
{
    char line[600];
    for (size_t i = 0; i < r->header_count; i++) {
        if (strcmp(r->headers[i].name, name) != 0)
            continue;
        if (r->once[i])
            return AT_OK;
        r->once[i] = strstr(r->headers[i].text, "#pragma once") != NULL;
        if (r->nested == MOST_NESTED)
            return error_set(error, AT_FORMAT, "'%.200s' is included by itself", name);
        r->nested++;
        at_status status = rewrite(r, r->headers[i].text, error);
        r->nested--;
        return status;
    }
    snprintf(line, sizeof line, "#include %c%.500s%c\n", open, name, open == '<' ? '>' : '"');
    add_line_once(r->includes, &r->include_list, line);
    return AT_OK;
}

static at_status rewrite_directive(rewriter *r, const char *at, const char *end, at_error *error)
{
    const char *word = skip_blanks(at + 1, false), *word_end = c_skip_name(word);
    const char *rest = skip_blanks(word_end, false);
    if (is_name(word, word_end, "include") && (*rest == '<' || *rest == '"')) {
        const char *close = strchr(rest + 1, *rest == '<' ? '>' : '"');
        char name[512];
        if (close && close < end && (size_t)(close - rest) < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)(close - rest - 1), rest + 1);
            return include(r, *rest, name, error);
        }
    }
    if (is_name(word, word_end, "line"))
        return AT_OK;
    if (is_name(word, word_end, "pragma") && is_name(rest, c_skip_name(rest), "once"))
        return AT_OK;
    if (is_name(word, word_end, "define"))
        fprintf(r->undefines, "#undef %.*s\n", (int)(c_skip_name(rest) - rest), rest);
    while (at < end) {
        const char *next = c_skip_piece(at);
        at = write_piece(r, at, next > end ? end : next, true);
    }
    return AT_OK;
}

static at_status rewrite(rewriter *r, const char *source, at_error *error)
{
    bool line_start = true;
    at_status status = AT_OK;
    for (const char *at = source; *at && !status;) {
        if (line_start && *at == '#') {
            const char *end = directive_end(at);
            status = rewrite_directive(r, at, end, error);
            at = end;
            continue;
        }
        const char *next = c_skip_piece(at);
        line_start = *at == '\n' || (line_start && strchr(" \t\r", *at));
        at = write_piece(r, at, next, false);
    }
    return status;
}

at_status export_cuda_source(const char *source, const source_header *headers, size_t header_count,
                             export_source *out, at_error *error)
{
    size_t size_bytes[3];
    rewriter r = {.headers = headers, .header_count = header_count};
    *out = (export_source){0};
    r.text = open_memstream(&out->text, &size_bytes[0]);
    r.includes = open_memstream(&r.include_list, &size_bytes[1]);
    r.undefines = open_memstream(&out->undefines, &size_bytes[2]);
    at_status status =
        r.text && r.includes && r.undefines ? rewrite(&r, source, error) : export_no_memory(error);
    FILE *const streams[] = {r.text, r.includes, r.undefines};
    for (size_t i = 0; i < 3; i++) {
        bool failed = streams[i] && ferror(streams[i]);
        failed = (streams[i] && fclose(streams[i]) != 0) || failed;
        if (failed && !status)
            status = export_no_memory(error);
    }
    out->includes = r.include_list;
    if (status)
        export_source_deinit(out);
    return status;
}
