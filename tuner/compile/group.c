#include "compile/group.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "base/text.h"

typedef struct word {
    const char *start;
    size_t size;
} word;

static bool word_is(word w, const char *name)
{
    return strlen(name) == w.size && memcmp(w.start, name, w.size) == 0;
}

static bool names_have(const void *list, size_t size, word w)
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

static void names_add(pack *list, word w)
{
    if (names_have(list->bytes, list->size_bytes, w))
        return;
    pack_append(list, w.start, w.size);
    pack_append_text(list, "\n");
}

static word word_at(const char *at)
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

/* Words for which a source is compiled alone: their meaning depends on the whole file, or they
 * declare parts of the module that other members would see. */
static const char *const ungroupable_words[] = {
    "__constant__", "__managed__", "__FILE__",  "__LINE__", "__COUNTER__",
    "assert",       "printf",      "namespace", "_Pragma",  NULL};

/* Words that stand before a `(` at file scope but do not name functions. */
static const char *const not_functions[] = {"alignas",  "decltype", "noexcept", "static_assert",
                                            "operator", "sizeof",   "asm",      NULL};

static const char *const kinds[] = {"struct", "class", "union", "enum", NULL};

typedef struct reader {
    const char *at;
    pack includes, renamed, declared, macros, dynamic;
    const char *array; /* position of `extern` in the declaration of a dynamic shared array */
    int braces, parens;
    bool fits;
    bool declared_anything; /* a declaration was read, so later includes cannot move to the top */
    bool c_linkage;         /* the current declaration began with extern "C" */
    bool device_variable;   /* the current declaration has __device__ */
    bool dynamic_shared;    /* the current declaration has extern __shared__ */
    bool type_name_next;    /* the next word is the name of a type: after struct, using ... */
    bool aliasing;          /* after using or typedef, which declare no variable */
    bool constant;          /* after constexpr: the variable has no storage */
    bool initializing;      /* after `=`: names are used, not declared */
    word last;              /* previous word; empty after any character except * & > */
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

/* Reads a line that begins with '#'. A source with a continued line (rare) does not fit. */
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

/* Reads a punctuation character at file scope. After a name, this character shows what was
 * declared. */
static void read_top_level_sign(reader *r, char c)
{
    bool named = r->last.size > 0 && !r->initializing;
    if (c == '(' && named && strncmp(r->last.start, "__", 2) != 0 &&
        !word_among(r->last, not_functions)) {
        names_add(r->c_linkage ? &r->renamed : &r->declared, r->last);
        r->device_variable = false;
    } else if ((c == '=' || c == ';' || c == '[' || c == ',') && named) {
        names_add(&r->declared, r->last);
        /* A device variable belongs to the module and would be shared by all members. */
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
    if (word_among(w, ungroupable_words) && !(word_is(w, "namespace") && word_is(r->last, "using")))
        r->fits = false;
    if (*r->at == '"' && w.start[w.size - 1] == 'R') /* A raw string. */
        r->fits = false;
    if (r->braces == 0 && r->parens == 0) {
        if (word_is(w, "namespace")) /* `using namespace` declares no name. */
            r->type_name_next = false;
        else
            read_top_level_word(r, w);
    }
    /* Dynamic shared arrays may also be declared in functions. With C linkage, or in a function
     * with C linkage, all of them have the same symbol. */
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

/* Returns true unless the source itself declares the element type of a dynamic shared array. */
static bool alignment_is_known(const reader *r)
{
    const char *p = (const char *)r->dynamic.bytes, *end = p;
    if (r->dynamic.size_bytes > 0)
        end += r->dynamic.size_bytes;
    while (p < end) { /* Every name ends in '\n', so no word passes the end. */
        word w = word_at(p);
        if (w.size && names_have(r->declared.bytes, r->declared.size_bytes, w))
            return false;
        p += w.size ? w.size : 1;
    }
    return true;
}

/* Returns true if the source contains text that looks like the suffix or namespace of a member. */
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
        /* Only single words can get a suffix; template instances and mangled names do not fit. */
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

bool group_members_compatible(const group_member *a, const group_member *b)
{
    return strcmp(a->includes, b->includes) == 0 && strcmp(a->dynamic, b->dynamic) == 0;
}

/* In messages about an alias, the file name is this mark and the name of the alias. */
#define NAMES_MARK "names|"

enum { SUFFIX_BYTES = 8 };

/* Writes the suffix of a member's entries in the program, such as "_at3_" for member 3. */
static void group_suffix(size_t index, char out[SUFFIX_BYTES])
{
    snprintf(out, SUFFIX_BYTES, "_at%u_", (unsigned)index % COMPILE_GROUP_MAX);
}

/* Writes a line for each name of the list: `before`, the name and, unless `suffix` is NULL, the
 * name again with the suffix. */
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

/* Writes the source without its includes. Each `#line N "file"` becomes `#line N "index|file"`. */
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
    /* The Toolkit's __shared__ uses words such as `shared`, which a source may define. */
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

/* Returns the member of a mark such as "3|" at `p`, with the length of the mark in *size, or -1. */
static int marked_member(const char *p, size_t *size)
{
    size_t n = strspn(p, "0123456789");
    if (n == 0 || n > 2 || p[n] != '|')
        return -1;
    *size = n + 1;
    return atoi(p);
}

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
            /* ptxas reports a kernel by its name with suffix: 'transpose_at3_'. */
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

/* Copies the line without the marks of the member: "3|", "_at3_", "at3_::". */
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

/* The log consists of blocks that end with a blank line; the first line of a block about a source
 * names its file. The compiler explains only once how to suppress warnings. Each member's first
 * warning gets this explanation, as if the member had been compiled alone. */
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
