#include "compile/member.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool word_is(word w, const char *name)
{
    return strlen(name) == w.size && memcmp(w.start, name, w.size) == 0;
}

bool names_have(const void *list, size_t size, word w)
{
    const char *end = size > 0 ? (const char *)list + size : list;
    for (const char *p = list; p < end;) {
        size_t n = (size_t)((const char *)memchr(p, '\n', (size_t)(end - p)) - p);
        if (n == w.size && memcmp(p, w.start, n) == 0)
            return true;
        p += n + 1;
    }
    return false;
}

void names_add(pack *list, word w)
{
    if (names_have(list->bytes, list->size_bytes, w))
        return;
    pack_append(list, w.start, w.size);
    pack_append_text(list, "\n");
}

word word_at(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return (word){at, n};
}

static bool word_among(word w, const char *const *names)
{
    for (; *names; names++)
        if (word_is(w, *names))
            return true;
    return false;
}

/* Words whose presence makes a source one to compile alone: what they mean depends on the file as a
 * whole, or they make something of the module's that the others would see. */
static const char *const lone_words[] = {"__constant__", "__managed__", "__FILE__", "__LINE__",
                                         "__COUNTER__",  "assert",      "printf",   "namespace",
                                         "_Pragma",      NULL};

/* The words that a `(` may follow at file scope and that are no functions' names. */
static const char *const not_functions[] = {"alignas",  "decltype", "noexcept", "static_assert",
                                            "operator", "sizeof",   "asm",      NULL};

static const char *const kinds[] = {"struct", "class", "union", "enum", NULL};

typedef struct reader {
    const char *at;
    pack includes, renamed, declared, macros, dynamic;
    const char *array; /* where `extern` of a dynamic shared array stands */
    int braces, parens;
    bool fits;
    bool declared_anything; /* an include after this would change its place */
    bool c_linkage;         /* the declaration being read began with extern "C" */
    bool device_variable;   /* ... has __device__ */
    bool dynamic_shared;    /* ... extern __shared__ */
    bool type_name_next;    /* after struct, using, ... */
    bool aliasing;          /* using NAME = ..., typedef ...: no variable */
    bool constant;          /* constexpr: no storage */
    bool initializing;      /* after its `=`, where names are used, not declared */
    word last;              /* the word before; empty after anything but * & > */
} reader;

static void skip_string(reader *r, char quote)
{
    for (r->at++; *r->at && *r->at != quote && *r->at != '\n'; r->at++)
        if (*r->at == '\\' && r->at[1])
            r->at++;
    if (*r->at == quote)
        r->at++;
    else
        r->fits = false;
}

static bool skip_comment(reader *r)
{
    if (r->at[0] == '/' && r->at[1] == '/') {
        r->at += strcspn(r->at, "\n");
        return true;
    }
    if (r->at[0] != '/' || r->at[1] != '*')
        return false;
    const char *end = strstr(r->at + 2, "*/");
    if (!end)
        r->fits = false;
    r->at = end ? end + 2 : r->at + strlen(r->at);
    return true;
}

/* A line that begins with '#'. Continued lines are rare in what templates emit: alone with them. */
static void read_directive(reader *r)
{
    const char *line = r->at;
    size_t size = strcspn(line, "\n");
    r->at += size;
    if (memchr(line, '\\', size)) {
        r->fits = false;
        return;
    }
    const char *p = line + 1;
    p += strspn(p, " \t");
    word name = word_at(p);
    p += name.size;
    p += strspn(p, " \t");
    if (word_is(name, "line") || word_is(name, "pragma"))
        return;
    if (word_is(name, "include") && *p == '<' && !r->declared_anything) {
        pack_append(&r->includes, line, size);
        pack_append_text(&r->includes, "\n");
    } else if (word_is(name, "define") && (isalpha((unsigned char)*p) || *p == '_')) {
        names_add(&r->macros, word_at(p));
        r->declared_anything = true;
    } else if (word_is(name, "undef") &&
               names_have(r->macros.bytes, r->macros.size_bytes, word_at(p))) {
        ;
    } else {
        r->fits = false;
    }
}

static void end_declaration(reader *r)
{
    r->c_linkage = r->device_variable = r->dynamic_shared = r->type_name_next = false;
    r->aliasing = r->constant = r->initializing = false;
    r->last = (word){0};
}

static void read_top_level_word(reader *r, word w)
{
    static const char *const naming[] = {"using", NULL};
    r->declared_anything = true;
    if (word_among(w, kinds) || word_among(w, naming)) {
        r->type_name_next = true;
        r->aliasing |= word_is(w, "using");
    } else if (r->type_name_next && strncmp(w.start, "__", 2) != 0 && !word_is(w, "alignas")) {
        names_add(&r->declared, w);
        r->type_name_next = false;
    }
    r->aliasing |= word_is(w, "typedef");
    r->constant |= word_is(w, "constexpr");
    r->device_variable |= word_is(w, "__device__");
}

/* The punctuation after the last word says what was declared. */
static void read_top_level_sign(reader *r, char c)
{
    bool named = r->last.size > 0 && !r->initializing;
    if (c == '(' && named && strncmp(r->last.start, "__", 2) != 0 &&
        !word_among(r->last, not_functions)) {
        names_add(r->c_linkage ? &r->renamed : &r->declared, r->last);
        r->device_variable = false;
    } else if ((c == '=' || c == ';' || c == '[' || c == ',') && named) {
        names_add(&r->declared, r->last);
        /* A variable of the device is the module's, and has one place for all its members. */
        if (r->device_variable && !r->aliasing && !r->constant)
            r->fits = false;
    }
    if (c == '=')
        r->initializing = true;
    else if (c == ',' || c == '>')
        r->initializing = false;
}

static void read_word_token(reader *r)
{
    word w = word_at(r->at);
    r->at += w.size;
    if (word_among(w, lone_words) && !(word_is(w, "namespace") && word_is(r->last, "using")))
        r->fits = false;
    if (*r->at == '"' && w.start[w.size - 1] == 'R') /* a raw string */
        r->fits = false;
    if (r->braces == 0 && r->parens == 0) {
        if (word_is(w, "namespace")) /* using namespace: names nothing */
            r->type_name_next = false;
        else
            read_top_level_word(r, w);
    }
    /* Dynamic shared arrays are declared in functions, too, and share one symbol when they have C
     * linkage, as in a function that has. */
    if (word_is(w, "__shared__") && word_is(r->last, "extern")) {
        r->dynamic_shared = true;
        r->array = r->last.start;
    }
    r->last = w;
}

static void read_sign(reader *r)
{
    char c = *r->at++;
    if (r->dynamic_shared && c == '[' && r->last.size > 0) {
        names_add(&r->renamed, r->last);
        names_add(&r->dynamic, (word){r->array, (size_t)(r->last.start - r->array)});
        r->dynamic_shared = false;
    }
    if (r->braces == 0 && r->parens == 0)
        read_top_level_sign(r, c);
    r->parens += (c == '(') - (c == ')');
    r->braces += (c == '{') - (c == '}');
    if (r->braces < 0 || r->parens < 0)
        r->fits = false;
    if (c == ';')
        r->dynamic_shared = false;
    if (r->braces == 0 && r->parens == 0 && (c == ';' || c == '}'))
        end_declaration(r);
    else if (c != '*' && c != '&' && c != '>')
        r->last = (word){0};
}

static void read_string(reader *r)
{
    bool linkage = word_is(r->last, "extern") && strncmp(r->at, "\"C\"", 3) == 0;
    skip_string(r, *r->at);
    r->last = (word){0};
    if (!linkage)
        return;
    r->c_linkage = true;
    const char *p = r->at + strspn(r->at, " \t\n");
    if (*p == '{')
        r->fits = false;
}

static void read_source(reader *r)
{
    bool fresh_line = true;
    while (*r->at && r->fits) {
        char c = *r->at;
        if (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
            fresh_line |= c == '\n';
            r->at++;
            continue;
        }
        if (c == '#' && fresh_line) {
            read_directive(r);
            continue;
        }
        fresh_line = false;
        if (skip_comment(r))
            continue;
        if (isalpha((unsigned char)c) || c == '_')
            read_word_token(r);
        else if (isdigit((unsigned char)c))
            r->at += word_at(r->at).size, r->last = (word){0};
        else if (c == '"' || c == '\'')
            read_string(r);
        else
            read_sign(r);
    }
    r->fits = r->fits && r->braces == 0 && r->parens == 0;
}

/* Whether the text of the arrays' declarations says how they are aligned: it does where no type in
 * it is the source's own. */
static bool alignment_is_known(const reader *r)
{
    const char *p = (const char *)r->dynamic.bytes, *end = p;
    if (r->dynamic.size_bytes > 0)
        end += r->dynamic.size_bytes;
    while (p < end) { /* every name ends in '\n': no word goes past the end */
        word w = word_at(p);
        if (w.size && names_have(r->declared.bytes, r->declared.size_bytes, w))
            return false;
        p += w.size ? w.size : 1;
    }
    return true;
}

/* Whether the text holds what a suffix or a member's scope looks like. */
static bool looks_marked(const char *source)
{
    for (const char *p = source; (p = strstr(p, "at")); p += 2)
        if (isdigit((unsigned char)p[2]) && (p == source || !isalnum((unsigned char)p[-1])))
            return true;
    return false;
}

bool group_member_init(const char *source, const char *name, const char *entry, group_member *out)
{
    *out = (group_member){.source = source, .name = name, .entry = entry};
    reader r = {.at = source, .fits = !looks_marked(source) && !strpbrk(name, "\"\\\n|")};
    for (const char *at = entry; *at; at += *at == '\n') {
        word own = word_at(at);
        at += strcspn(at, "\n");
        /* A kernel that a word names: a template's is not, and one of machine code has no suffix.
         */
        r.fits = r.fits && own.start + own.size == at && strncmp(own.start, "_Z", 2) != 0;
        names_add(&r.renamed, own);
    }
    read_source(&r);
    r.fits = r.fits && alignment_is_known(&r);
    out->includes = pack_take_text(&r.includes);
    out->renamed = pack_take_text(&r.renamed);
    out->declared = pack_take_text(&r.declared);
    out->macros = pack_take_text(&r.macros);
    out->dynamic = pack_take_text(&r.dynamic);
    if (r.fits && out->includes && out->renamed && out->declared && out->macros && out->dynamic)
        return true;
    group_member_deinit(out);
    return false;
}

void group_member_deinit(group_member *m)
{
    free(m->includes);
    free(m->renamed);
    free(m->declared);
    free(m->macros);
    free(m->dynamic);
    *m = (group_member){0};
}

bool group_members_fit(const group_member *a, const group_member *b)
{
    return strcmp(a->includes, b->includes) == 0 && strcmp(a->dynamic, b->dynamic) == 0;
}
