#include "script/include.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pack.h"
#include "script/state.h"

enum { NAME_BYTES = 256 };

/* a file in the first phases of the preprocessor */
typedef struct reader {
    const char *at;
    const char *own_name; /* path below its folder; "" for the source itself */
    size_t own_folder;    /* index of its folder; unused for the source itself */
    char name[512];       /* for messages; #line changes it */
    int line;
    at_error *error;
} reader;

/* a name to write over the text from `start` to `end` */
typedef struct edit {
    size_t start, end;
    char name[NAME_BYTES];
} edit;

typedef struct edit_list {
    edit *edits;
    size_t count;
} edit_list;

typedef struct collection {
    const char *const *folders;
    size_t folder_count;
    included *out;
    char **paths; /* owned paths of the headers' files */
} collection;

/* a file that was found */
typedef struct found_file {
    size_t folder;
    char name[2 * NAME_BYTES]; /* path below the folder, without "." and ".." */
    char path[PATH_MAX];
} found_file;

/* A #line directive may number a line as high as the largest int. */
static void count_line(reader *r)
{
    r->line += r->line < INT_MAX;
}

/* Returns the size of a line splice at `at` (a backslash and an end of line), or 0. */
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

/* Skips a comment. Returns false if there is none. */
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

/* Skips a string or a character, at most up to the end of the line. */
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

/* Skips R"mark( ... )mark" from its quote on. */
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

/* Reads an identifier or a number, cut to the size of `word`. */
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

/* Skips a word without reading it. Returns false if the word may matter, is a number or has a
 * splice. */
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
                        "%s: source may include headers of the CUDA Toolkit and files below the "
                        "script's folder or one that -I names, named in the #include itself by a "
                        "path that stays below it",
                        what);
}

static at_status refuse_name(const reader *r, int line, const char *name)
{
    char what[NAME_BYTES + 40];
    snprintf(what, sizeof what, "an include of '%s'", name);
    return refuse(r, line, what);
}

static bool leads_outside(const char *name)
{
    return name[0] == '/' || name[0] == '\0' || strchr(name, '\\');
}

static bool has_parent(const char *name)
{
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return true;
    }
    return false;
}

/* Joins the folder of the file `from` and `name`, without "." and "..". Returns false if the path
 * leaves the folder that `from` is relative to, or is too long. */
static bool join(const char *from, const char *name, char out[2 * NAME_BYTES])
{
    const char *slash = strrchr(from, '/');
    size_t used = slash ? (size_t)(slash - from) : 0;
    if (used >= 2 * NAME_BYTES)
        return false;
    memcpy(out, from, used);
    while (*name) {
        size_t n = strcspn(name, "/");
        if (n == 2 && strncmp(name, "..", 2) == 0) {
            if (used == 0)
                return false;
            while (used > 0 && out[used - 1] != '/')
                used--;
            used -= used > 0;
        } else if (n > 0 && !(n == 1 && *name == '.')) {
            if (used + n + 2 > 2 * NAME_BYTES)
                return false;
            if (used > 0)
                out[used++] = '/';
            memcpy(out + used, name, n);
            used += n;
        }
        name += n + (name[n] == '/');
    }
    out[used] = '\0';
    return used > 0;
}

/* Reads "name" or <name>, and refuses a name that leads elsewhere. */
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
    return leads_outside(name) ? refuse_name(r, line, name) : AT_OK;
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
    at_status status = read_name(r, line, name);
    return !status && has_parent(name) ? refuse_name(r, line, name) : status;
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
    r->line = (int)line - 1; /* the end of this line adds 1 */
    while (peek(r) != '\n' && peek(r) != '\0')
        take(r);
}

static at_status scan(collection *c, char **text, const char *own_name, size_t own_folder,
                      const char *name, at_error *error);

/* Returns the path of the header with this name, or NULL. */
static const char *find_path(const collection *c, const char *name)
{
    for (size_t n = 0; n < c->out->count; n++)
        if (strcmp(c->out->headers[n].name, name) == 0)
            return c->paths[n];
    return NULL;
}

/* Looks up a file as the preprocessor does: beside the file that includes it, then in the
 * folders. */
static bool find_file(const collection *c, const reader *r, const char *name, found_file *out)
{
    if (r->own_name[0] && join(r->own_name, name, out->name) &&
        script_find_file(&c->folders[r->own_folder], 1, out->name, out->path, PATH_MAX)) {
        out->folder = r->own_folder;
        return true;
    }
    for (size_t i = 0; i < c->folder_count && join("", name, out->name); i++)
        if (script_find_file(&c->folders[i], 1, out->name, out->path, PATH_MAX)) {
            out->folder = i;
            return true;
        }
    return false;
}

/* Adds a file to the headers under its name, or, if another file has that name, with the number of
 * its folder before it. Writes the name into `as`. */
static at_status add_header(collection *c, const reader *r, int line, const found_file *file,
                            script_bytes *text, char as[NAME_BYTES])
{
    if (strlen(text->bytes) != text->size_bytes)
        return error_set_at(r->error, AT_SCRIPT, r->name, line,
                            "%s, which this includes, holds a NUL", file->path);
    for (int attempt = 0; attempt < 2; attempt++) {
        int n = attempt ? snprintf(as, NAME_BYTES, "%zu/%s", file->folder, file->name)
                        : snprintf(as, NAME_BYTES, "%s", file->name);
        if (n < 0 || n >= NAME_BYTES)
            return error_set_at(r->error, AT_SCRIPT, r->name, line,
                                "the name of %s, which this includes, is too long", file->path);
        const char *known = find_path(c, as);
        if (known && strcmp(known, file->path) == 0)
            return AT_OK;
        if (!known)
            break;
    }
    if (!c->out->headers) {
        c->out->headers = calloc(SOURCE_HEADERS_MAX, sizeof *c->out->headers);
        c->paths = calloc(SOURCE_HEADERS_MAX, sizeof *c->paths);
    }
    if (c->out->count == SOURCE_HEADERS_MAX)
        return error_set_at(r->error, AT_SCRIPT, r->name, line, "more than %d included files",
                            SOURCE_HEADERS_MAX);
    char *kept = c->out->headers && c->paths ? strdup(as) : NULL;
    char *path = kept ? strdup(file->path) : NULL;
    if (!path) {
        free(kept);
        return error_no_memory(r->error);
    }
    c->paths[c->out->count] = path;
    source_header *added = &c->out->headers[c->out->count++];
    *added = (source_header){.name = kept, .text = text->bytes};
    text->bytes = NULL;
    return scan(c, (char **)(uintptr_t)&added->text, file->name, file->folder, file->path,
                r->error);
}

static at_status read_include(collection *c, reader *r, const char *text, edit_list *list)
{
    edit e;
    found_file file;
    int line = r->line;
    skip_blanks(r);
    const char *link;
    /* A file in angle brackets may be the Toolkit's. */
    const bool is_own = peek(r) == '"';
    e.start = (size_t)(r->at - text) + 1;
    at_status status = read_name(r, line, e.name);
    e.end = (size_t)(r->at - text) - 1;
    if (status)
        return status;
    if (!find_file(c, r, e.name, &file)) {
        if (has_parent(e.name))
            return refuse_name(r, line, e.name);
        return is_own && script_leads_out(c->folders, c->folder_count, e.name, &link)
                   ? error_set_at(r->error, AT_SCRIPT, r->name, line, "cannot include '%s'%s",
                                  e.name, link)
                   : AT_OK;
    }
    script_bytes bytes;
    char as[NAME_BYTES];
    status = script_read_file(file.path, &bytes, r->error);
    if (status == AT_IO)
        return error_set_at(r->error, AT_SCRIPT, r->name, line, "cannot include '%s': %s", e.name,
                            r->error ? r->error->message : "");
    if (!status)
        status = add_header(c, r, line, &file, &bytes, as);
    free(bytes.bytes);
    if (status || strcmp(as, e.name) == 0)
        return status;
    memcpy(e.name, as, sizeof as);
    return array_add(&list->edits, &list->count, &e, sizeof e) ? AT_OK : error_no_memory(r->error);
}

/* Reads a directive whose sign has been taken. */
static at_status read_directive(collection *c, reader *r, const char *text, edit_list *list)
{
    char word[NAME_BYTES];
    skip_blanks(r);
    read_word(r, word);
    if (strcmp(word, "include") == 0 || strcmp(word, "include_next") == 0 ||
        strcmp(word, "import") == 0 || strcmp(word, "embed") == 0)
        return read_include(c, r, text, list);
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

/* Scans the rest of a line. */
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

static at_status refuse_trigraph(const char *text, const char *name, at_error *error)
{
    /* With -std=c++11 these are the sign of directives and a backslash. */
    const char *trigraph = strstr(text, "?\?=");
    int line = 1;
    if (!trigraph)
        trigraph = strstr(text, "?\?/");
    if (!trigraph)
        return AT_OK;
    for (const char *p = text; p < trigraph; p++)
        line += *p == '\n';
    return error_set_at(error, AT_SCRIPT, name, line,
                        "the trigraph %.3s, which can hide a directive, is not allowed", trigraph);
}

/* Writes the names of the edits, which are sorted, into *text. */
static at_status apply(char **text, const edit_list *list, at_error *error)
{
    pack to = {0};
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++) {
        pack_append(&to, *text + at, list->edits[i].start - at);
        pack_append_text(&to, list->edits[i].name);
        at = list->edits[i].end;
    }
    pack_append_text(&to, *text + at);
    char *changed = pack_take_text(&to);
    if (!changed)
        return error_no_memory(error);
    free(*text);
    *text = changed;
    return AT_OK;
}

/* Collects the files that a text includes, and writes their names into its directives. */
static at_status scan(collection *c, char **text, const char *own_name, size_t own_folder,
                      const char *name, at_error *error)
{
    reader r = {
        .at = *text, .own_name = own_name, .own_folder = own_folder, .line = 1, .error = error};
    edit_list list = {0};
    snprintf(r.name, sizeof r.name, "%s", name);
    at_status status = refuse_trigraph(*text, name, error);
    while (!status && peek(&r) != '\0') {
        if (takes_directive_sign(&r))
            status = read_directive(c, &r, *text, &list);
        if (!status)
            status = scan_line(&r);
        take(&r);
    }
    if (!status && list.count > 0)
        status = apply(text, &list, error);
    free(list.edits);
    return status;
}

/* Tells whether a source may include anything: most have no such directive, and no splice or
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

at_status include_collect(char **source, const char *name, const char *const *folders,
                          size_t folder_count, included *out, at_error *error)
{
    *out = (included){0};
    if (!may_include(*source))
        return AT_OK;
    collection c = {.folders = folders, .folder_count = folder_count, .out = out};
    at_status status = scan(&c, source, "", 0, name, error);
    for (size_t i = 0; c.paths && i < out->count; i++)
        free(c.paths[i]);
    free(c.paths);
    if (status)
        included_deinit(out);
    return status;
}

/* ---- lists of headers ---- */

at_status included_add(included *to, const char *name, char *text, at_error *error)
{
    if (!to->headers)
        to->headers = calloc(SOURCE_HEADERS_MAX, sizeof *to->headers);
    char *kept = strdup(name);
    if (!to->headers || !kept || !text || to->count == SOURCE_HEADERS_MAX) {
        free(kept);
        free(text);
        return error_no_memory(error);
    }
    to->headers[to->count++] = (source_header){.name = kept, .text = text};
    return AT_OK;
}

at_status included_copy(const included *from, included *out, at_error *error)
{
    at_status status = AT_OK;
    *out = (included){0};
    for (size_t i = 0; !status && i < from->count; i++)
        status = included_add(out, from->headers[i].name, strdup(from->headers[i].text), error);
    return status;
}

/* Frees a text that the list owns but shows as const. */
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
