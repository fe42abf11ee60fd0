#include "compile/group.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"

static void put(pack *t, const char *bytes, size_t size)
{
    unsigned char *at = pack_grow(t, size);
    if (at && size > 0)
        memcpy(at, bytes, size);
}

static void puts_to(pack *t, const char *s)
{
    put(t, s, strlen(s));
}

/* As a string, owned by the caller; NULL when memory ran out. */
static char *finish(pack *t)
{
    put(t, "", 1);
    if (!t->failed)
        return (char *)t->bytes;
    pack_deinit(t);
    return NULL;
}

typedef struct word {
    const char *start;
    size_t size;
} word;

static bool word_is(word w, const char *name)
{
    return strlen(name) == w.size && memcmp(w.start, name, w.size) == 0;
}

static bool word_among(word w, const char *const *names)
{
    for (; *names; names++)
        if (word_is(w, *names))
            return true;
    return false;
}

/* Whether a list of `size` bytes, names that each end in '\n', has the word. */
static bool listed(const void *list, size_t size, word w)
{
    const char *end = (const char *)list + size;
    for (const char *p = list; p < end;) {
        size_t n = (size_t)((const char *)memchr(p, '\n', (size_t)(end - p)) - p);
        if (n == w.size && memcmp(p, w.start, n) == 0)
            return true;
        p += n + 1;
    }
    return false;
}

static void list_add(pack *list, word w)
{
    if (listed(list->bytes, list->size_bytes, w))
        return;
    put(list, w.start, w.size);
    puts_to(list, "\n");
}

/* Words whose presence makes a source one to compile alone: what they mean depends on the file as a
 * whole, or they make something of the module's that the others would see. */
static const char *const lone_words[] = {"__constant__", "__managed__", "__FILE__", "__LINE__",
                                         "__COUNTER__",  "assert",      "printf",   "namespace",
                                         "_Pragma",      NULL};

/* What a `(` may follow at file scope without being a function's name. */
static const char *const not_functions[] = {"alignas",  "decltype", "noexcept", "static_assert",
                                            "operator", "sizeof",   "asm",      NULL};

static const char *const kinds[] = {"struct", "class", "union", "enum", NULL};

/* Stands where messages about an alias have the file's name; the name follows. */
#define NAMES_MARK "names|"

typedef struct reader {
    const char *at;
    pack includes, renamed, declared, macros, dynamic;
    const char *array; /* where `extern` of a dynamic shared array stands */
    int braces, parens;
    bool fits;
    bool declared_anything; /* an include behind this would change its place */
    bool c_linkage;         /* the declaration being read began with extern "C" */
    bool external;          /* ... with extern */
    bool device_variable;   /* ... has __device__ */
    bool dynamic_shared;    /* ... extern __shared__ */
    bool type_name_next;    /* after struct, using, ... */
    bool aliasing;          /* using NAME = ..., typedef ...: no variable */
    bool constant;          /* constexpr: no storage */
    bool initializing;      /* behind its `=`, where names are used, not declared */
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

static word read_word(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char)at[n]) || at[n] == '_')
        n++;
    return (word){at, n};
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
    word name = read_word(p);
    p += name.size;
    p += strspn(p, " \t");
    if (word_is(name, "line") || word_is(name, "pragma"))
        return;
    if (word_is(name, "include") && *p == '<' && !r->declared_anything) {
        put(&r->includes, line, size);
        puts_to(&r->includes, "\n");
    } else if (word_is(name, "define") && (isalpha((unsigned char)*p) || *p == '_')) {
        list_add(&r->macros, read_word(p));
        r->declared_anything = true;
    } else if (word_is(name, "undef") && listed(r->macros.bytes, r->macros.size_bytes, read_word(p))) {
        ;
    } else {
        r->fits = false;
    }
}

static void end_declaration(reader *r)
{
    r->c_linkage = r->external = r->device_variable = r->dynamic_shared = r->type_name_next = false;
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
        list_add(&r->declared, w);
        r->type_name_next = false;
    }
    r->aliasing |= word_is(w, "typedef");
    r->constant |= word_is(w, "constexpr");
    r->external |= word_is(w, "extern");
    r->device_variable |= word_is(w, "__device__");
}

/* The punctuation behind the last word says what was declared. */
static void read_top_level_sign(reader *r, char c)
{
    bool named = r->last.size > 0 && !r->initializing;
    if (c == '(' && named && strncmp(r->last.start, "__", 2) != 0 &&
        !word_among(r->last, not_functions)) {
        list_add(r->c_linkage ? &r->renamed : &r->declared, r->last);
        r->device_variable = false;
    } else if ((c == '=' || c == ';' || c == '[' || c == ',') && named) {
        list_add(&r->declared, r->last);
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
    word w = read_word(r->at);
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
        list_add(&r->renamed, r->last);
        list_add(&r->dynamic, (word){r->array, (size_t)(r->last.start - r->array)});
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
            r->at += read_word(r->at).size, r->last = (word){0};
        else if (c == '"' || c == '\'')
            read_string(r);
        else
            read_sign(r);
    }
    r->fits = r->fits && r->braces == 0 && r->parens == 0;
}

/* Whether the text of the arrays' declarations says how they are aligned: it does where no type in it is
 * the source's own. */
static bool alignment_is_known(const reader *r)
{
    const char *p = (const char *)r->dynamic.bytes, *end = p + r->dynamic.size_bytes;
    while (p < end) { /* every name ends in '\n': no word goes past the end */
        word w = read_word(p);
        if (w.size && listed(r->declared.bytes, r->declared.size_bytes, w))
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
    for (const char *at = entry; *at; at += strspn(at, " ")) {
        word own = {at, strcspn(at, " ")};
        list_add(&r.renamed, own);
        at += own.size;
    }
    read_source(&r);
    r.fits = r.fits && alignment_is_known(&r);
    out->includes = finish(&r.includes);
    out->renamed = finish(&r.renamed);
    out->declared = finish(&r.declared);
    out->macros = finish(&r.macros);
    out->dynamic = finish(&r.dynamic);
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

void group_suffix(size_t index, char out[COMPILE_SUFFIX_BYTES])
{
    snprintf(out, COMPILE_SUFFIX_BYTES, "_at%u_", (unsigned)index % COMPILE_GROUP_MAX);
}

/* Writes `before`name`between`name`after` for each name of a list. */
static void put_each(pack *t, const char *list, const char *before, const char *suffix)
{
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, "\n");
        puts_to(t, before);
        put(t, p, n);
        if (suffix) {
            puts_to(t, " ");
            put(t, p, n);
            puts_to(t, suffix);
        }
        puts_to(t, "\n");
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
            word directive = read_word(q + 1 + strspn(q + 1, " \t"));
            if (word_is(directive, "line"))
                quote = memchr(p, '"', n);
            if (word_is(directive, "include"))
                p += n, n = 0;
        }
        if (quote) {
            char mark[16];
            snprintf(mark, sizeof mark, "%zu|", index);
            put(t, p, (size_t)(quote + 1 - p));
            puts_to(t, mark);
            put(t, quote + 1, n - (size_t)(quote + 1 - p));
        } else {
            put(t, p, n);
        }
        puts_to(t, "\n");
        p += n + (p[n] == '\n');
    }
}

char *group_source(const group_member *members, size_t count)
{
    pack t = {0}, names = {0};
    /* `shared` and the like are good names for an array, and what the toolkit's macros are made of. */
    puts_to(&t, "#undef __shared__\n#define __shared__ __attribute__((__shared__))\n");
    puts_to(&t, members[0].includes);
    for (size_t i = 0; i < count; i++)
        for (const char *p = members[i].declared; *p;) {
            size_t n = strcspn(p, "\n");
            list_add(&names, (word){p, n});
            p += n + 1;
        }
    puts_to(&t, "namespace at_none {}\n");
    char *aliases = finish(&names);
    for (const char *p = aliases; p && *p;) {
        size_t n = strcspn(p, "\n");
        puts_to(&t, "#line 1 \"" NAMES_MARK);
        put(&t, p, n);
        puts_to(&t, "\"\nnamespace ");
        put(&t, p, n);
        puts_to(&t, " = at_none;\n");
        p += n + 1;
    }
    for (size_t i = 0; i < count; i++) {
        char suffix[COMPILE_SUFFIX_BYTES], head[48];
        group_suffix(i, suffix);
        put_each(&t, members[i].renamed, "#define ", suffix);
        snprintf(head, sizeof head, "namespace at%zu_ {\n#line 1 \"%zu|", i, i);
        puts_to(&t, head);
        puts_to(&t, members[i].name);
        puts_to(&t, "\"\n");
        put_body(&t, &members[i], i);
        puts_to(&t, "}\n");
        put_each(&t, members[i].renamed, "#undef ", NULL);
        put_each(&t, members[i].macros, "#undef ", NULL);
    }
    t.failed |= !aliases;
    free(aliases);
    return finish(&t);
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
        broken[i] |= listed(declared, strlen(declared), name);
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
            mark_declaring(members, count, read_word(p + strlen(NAMES_MARK)), broken);
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
    char mark[16], suffix[COMPILE_SUFFIX_BYTES], scope[16];
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
            put(t, line + i++, 1);
    }
    puts_to(t, "\n");
}

/* Blocks are parted by blank lines; the first line of one that is about a source names its file. The
 * compiler says once how to silence warnings: each member's first has it, as it would alone. */
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
                puts_to(&t, remark);
                remarked = true;
            }
        }
        p += n + (p[n] == '\n');
    }
    return finish(&t);
}
