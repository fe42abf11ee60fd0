#include "script/include.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pack.h"
#include "cpp/token.h"
#include "script/state.h"

enum { NAME_BYTES = 256 };

typedef struct reader {
    const char *text;
    const char *own_name; /* path of the source in its folder; "" for the main source */
    size_t own_folder;    /* index of that folder; unused for the main source */
    char name[512];       /* name in messages; #line changes it */
    int64_t line_shift;   /* line in messages minus line in the text, due to #line */
    at_error *error;
} reader;

/* The unread part of a directive, without line splices. */
typedef struct directive {
    const char *start; /* beginning in the text */
    char *clean;       /* owned */
    cpp_lexer lexer;   /* in `clean` */
    int line;          /* line in the text */
} directive;

/* A name to write over the text from `start` to `end`. */
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

typedef struct found_file {
    size_t folder;
    char name[2 * NAME_BYTES]; /* path below the folder, without "." and ".." */
    char path[PATH_MAX];
} found_file;

/* Returns the size of a line splice at `at` (a backslash and an end of line), or 0. */
static size_t splice_bytes(const char *at)
{
    if (at[0] != '\\')
        return 0;
    return at[1] == '\n' ? 2 : at[1] == '\r' && at[2] == '\n' ? 3 : 0;
}

/* Opens the text of a directive after its '#'. The caller frees d->clean. */
static at_status open_directive(const reader *r, cpp_token t, directive *d)
{
    const size_t sign = *t.span.text == '#' ? 1 : 2;
    *d = (directive){.start = t.span.text + sign, .line = t.line, .clean = malloc(t.span.length)};
    if (!d->clean)
        return error_no_memory(r->error);
    size_t used = 0;
    for (const char *at = d->start, *end = t.span.text + t.span.length; at < end;) {
        const size_t splice = splice_bytes(at);
        if (splice == 0)
            d->clean[used++] = *at;
        at += splice ? splice : 1;
    }
    d->lexer = cpp_lexer_make(d->clean, used, 1);
    d->lexer.at_line_start = false;
    return AT_OK;
}

static size_t offset_in_text(const reader *r, const directive *d, const char *place)
{
    const char *at = d->start;
    for (const char *c = d->clean;; c++, at++) {
        for (size_t splice; (splice = splice_bytes(at)) > 0;)
            at += splice;
        if (c == place)
            return (size_t)(at - r->text);
    }
}

/* Returns the line for messages; #line may set lines up to the largest int. */
static int shown_line(const reader *r, int line)
{
    const int64_t shown = line + r->line_shift;
    return shown < INT_MAX ? (int)shown : INT_MAX;
}

static at_status refuse(const reader *r, int line, const char *what)
{
    return error_set_at(r->error, AT_SCRIPT, r->name, shown_line(r, line),
                        "%s: a source may include headers of the CUDA Toolkit, and files below "
                        "the script's folder or a folder of -I. Write the path in the #include "
                        "itself, not in a macro; it must stay below that folder",
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

/* Joins the folder of `from` and `name`, without "." and "..". Returns false if the path is too
 * long or leaves the folder to which `from` is relative. */
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

/* Reads "name" or <name>. Refuses names that leave the folders. *start is where the name begins. */
static at_status read_name(const reader *r, directive *d, char name[NAME_BYTES], const char **start)
{
    const cpp_token t = cpp_next(&d->lexer);
    const char *end = NULL; /* the closing quote or bracket */
    if (cpp_is(t, "<"))
        end = memchr(t.span.text, '>', (size_t)(d->lexer.end - t.span.text));
    else if (t.kind != CPP_LITERAL || *t.span.text != '"')
        return refuse(r, d->line, "this #include names a macro: write the file's name");
    else if (t.span.length > 1 && t.span.text[t.span.length - 1] == '"')
        end = t.span.text + t.span.length - 1;
    if (!end || end - t.span.text > NAME_BYTES)
        return refuse(r, d->line, "the file name of this #include is never closed");
    *start = t.span.text + 1;
    const size_t length = (size_t)(end - *start);
    memcpy(name, *start, length);
    name[length] = '\0';
    d->lexer.at = end + 1;
    return leads_outside(name) ? refuse_name(r, d->line, name) : AT_OK;
}

static at_status check_questions(const reader *r, directive *d)
{
    static const char *const questions[] = {"__has_include", "__has_include_next", "__has_embed",
                                            NULL};
    at_status status = AT_OK;
    for (cpp_token t = cpp_next(&d->lexer); !status && t.kind != CPP_END; t = cpp_next(&d->lexer)) {
        char name[NAME_BYTES];
        const char *start;
        if (!cpp_is_any(t, questions))
            continue;
        if (!cpp_is(cpp_next(&d->lexer), "("))
            return refuse(r, d->line, "__has_include without a file name in brackets");
        status = read_name(r, d, name, &start);
        if (!status && has_parent(name))
            status = refuse_name(r, d->line, name);
    }
    return status;
}

/* Reads the rest of #line NUMBER "NAME"; `next_line` is the number of the following line. */
static void read_line_directive(reader *r, directive *d, int next_line)
{
    const cpp_token number = cpp_next(&d->lexer), name = cpp_next(&d->lexer);
    const long line = number.kind == CPP_NUMBER ? strtol(number.span.text, NULL, 10) : 0;
    if (line < 1 || line > INT_MAX)
        return;
    r->line_shift = (int64_t)line - next_line;
    if (name.kind != CPP_LITERAL)
        return;
    size_t n = 0;
    for (size_t i = 1; i + 1 < name.span.length; i++) {
        i += name.span.text[i] == '\\' && i + 2 < name.span.length;
        if (n < sizeof r->name - 1)
            r->name[n++] = name.span.text[i];
    }
    r->name[n] = '\0';
}

static at_status scan(collection *c, char **text, const char *own_name, size_t own_folder,
                      const char *name, at_error *error);

static const char *find_path(const collection *c, const char *name)
{
    for (size_t n = 0; n < c->out->count; n++)
        if (strcmp(c->out->headers[n].name, name) == 0)
            return c->paths[n];
    return NULL;
}

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

/* Adds a file to the headers. `as` is its name, with the folder's number if the name is taken. */
static at_status add_header(collection *c, const reader *r, int line, const found_file *file,
                            script_bytes *text, char as[NAME_BYTES])
{
    if (strlen(text->bytes) != text->size_bytes)
        return error_set_at(r->error, AT_SCRIPT, r->name, shown_line(r, line),
                            "%s, which this includes, contains a NUL character", file->path);
    for (int attempt = 0; attempt < 2; attempt++) {
        int n = attempt ? snprintf(as, NAME_BYTES, "%zu/%s", file->folder, file->name)
                        : snprintf(as, NAME_BYTES, "%s", file->name);
        if (n < 0 || n >= NAME_BYTES)
            return error_set_at(r->error, AT_SCRIPT, r->name, shown_line(r, line),
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
        return error_set_at(r->error, AT_SCRIPT, r->name, shown_line(r, line),
                            "the source includes more than %d files, the most that are allowed",
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

/* Reads the rest of an #include. Collects its file, and adds an edit of the name. */
static at_status read_include(collection *c, const reader *r, directive *d, edit_list *list)
{
    edit e;
    found_file file;
    const char *start;
    at_status status = read_name(r, d, e.name, &start);
    if (status)
        return status;
    const int line = shown_line(r, d->line);
    if (!find_file(c, r, e.name, &file)) {
        if (has_parent(e.name))
            return refuse_name(r, d->line, e.name);
        /* A file in angle brackets may be the Toolkit's. */
        return start[-1] == '"' && script_leads_out(c->folders, c->folder_count, e.name)
                   ? error_set_at(r->error, AT_SCRIPT, r->name, line, "cannot include '%s'%s",
                                  e.name, script_link_text)
                   : AT_OK;
    }
    script_bytes bytes;
    char as[NAME_BYTES];
    status = script_read_file(file.path, &bytes, r->error);
    if (status == AT_IO)
        return error_set_at(r->error, AT_SCRIPT, r->name, line, "cannot include '%s': %s", e.name,
                            r->error ? r->error->message : "");
    if (!status)
        status = add_header(c, r, d->line, &file, &bytes, as);
    free(bytes.bytes);
    if (status || strcmp(as, e.name) == 0)
        return status;
    e.start = offset_in_text(r, d, start);
    e.end = offset_in_text(r, d, start + strlen(e.name));
    memcpy(e.name, as, sizeof as);
    return array_add(&list->edits, &list->count, &e, sizeof e) ? AT_OK : error_no_memory(r->error);
}

/* Reads a directive; `next_line` is the number of the line after it. */
static at_status read_directive(collection *c, reader *r, cpp_token t, int next_line,
                                edit_list *list)
{
    static const char *const includes[] = {"include", "include_next", "import", "embed", NULL};
    directive d;
    at_status status = open_directive(r, t, &d);
    if (status)
        return status;
    const cpp_token word = cpp_next(&d.lexer);
    if (cpp_is_any(word, includes))
        status = read_include(c, r, &d, list);
    else if (cpp_is(word, "line"))
        read_line_directive(r, &d, next_line);
    if (!status)
        status = check_questions(r, &d);
    free(d.clean);
    return status;
}

static at_status refuse_trigraph(const char *text, const char *name, at_error *error)
{
    /* With -std=c++11, these trigraphs mean '#' and a backslash. */
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

/* Collects the files that a text includes, and corrects their names in its directives. */
static at_status scan(collection *c, char **text, const char *own_name, size_t own_folder,
                      const char *name, at_error *error)
{
    reader r = {.text = *text, .own_name = own_name, .own_folder = own_folder, .error = error};
    edit_list list = {0};
    snprintf(r.name, sizeof r.name, "%s", name);
    at_status status = refuse_trigraph(*text, name, error);
    cpp_lexer l = cpp_lexer_make(*text, strlen(*text), 1);
    for (cpp_token t = cpp_next(&l); !status && t.kind != CPP_END; t = cpp_next(&l))
        if (t.kind == CPP_DIRECTIVE)
            status = read_directive(c, &r, t, l.line + 1, &list);
    if (!status && list.count > 0)
        status = apply(text, &list, error);
    free(list.edits);
    return status;
}

/* Tells whether a source may include files: it has a directive, or a splice or trigraph that could
 * hide a directive. Most sources have neither. */
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
