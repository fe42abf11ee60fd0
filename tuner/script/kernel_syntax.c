/* Gives Lua the syntax tree of a kernel's own file, node by node, with host code, and with types
 * and templates resolved. libclang is loaded only when a comment is written. The declarations below
 * are those of its stable C interface, clang-c/Index.h, so no header is needed to build. Headers of
 * the Toolkit and the standard library are not read: templates/kernel_file/toolkit.h replaces them.
 * lua/lib/host_syntax.lua declares the names that remain unknown, because statements that do not
 * compile are missing from the tree. */
#include <dlfcn.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "script/state.h"

typedef struct cx_string {
    const void *data;
    unsigned flags;
} cx_string;
typedef struct cx_cursor {
    int kind, more;
    const void *data[3];
} cx_cursor;
typedef struct cx_type {
    int kind;
    void *data[2];
} cx_type;
typedef struct cx_place {
    const void *data[2];
    unsigned number;
} cx_place;
typedef struct cx_range {
    const void *data[2];
    unsigned begin, end;
} cx_range;
typedef struct cx_token {
    unsigned numbers[4];
    void *data;
} cx_token;
typedef struct cx_unsaved {
    const char *name, *text;
    unsigned long size_bytes;
} cx_unsaved;
typedef void *cx_unit, *cx_file, *cx_value, *cx_diagnostic;
typedef int (*cx_visitor)(cx_cursor, cx_cursor, void *);

/* The kinds of cursors and evaluated values that this file distinguishes. */
enum { KIND_BINARY = 114, KIND_COMPOUND = 115, KIND_UNARY = 112, KIND_VARIABLE = 9 };
enum { KIND_INTEGER = 106, KIND_FLOATING = 107, KIND_CHARACTER = 110, KIND_SIZEOF = 136 };
enum { KIND_BOOL = 130, KIND_ENUMERATOR = 7, LAST_DECLARATION = 39 };
enum { VALUE_INT = 1, VALUE_FLOAT = 2 };
enum { FIRST_SCALAR = 3, LAST_SCALAR = 23, TYPE_POINTER = 101, TYPE_ENUM = 106, TYPE_ARRAY = 112 };
enum { KEEP_GOING = 0x200, VISIT_ON = 1 };

/* functions of the interface: type, name without clang_, parameters */
#define FUNCTIONS(F)                                                                               \
    F(void *, createIndex, (int, int))                                                             \
    F(void, disposeIndex, (void *))                                                                \
    F(cx_unit, parseTranslationUnit,                                                               \
      (void *, const char *, const char *const *, int, cx_unsaved *, unsigned, unsigned))          \
    F(void, disposeTranslationUnit, (cx_unit))                                                     \
    F(unsigned, getNumDiagnostics, (cx_unit))                                                      \
    F(cx_diagnostic, getDiagnostic, (cx_unit, unsigned))                                           \
    F(cx_string, getDiagnosticSpelling, (cx_diagnostic))                                           \
    F(cx_place, getDiagnosticLocation, (cx_diagnostic))                                            \
    F(void, disposeDiagnostic, (cx_diagnostic))                                                    \
    F(cx_cursor, getTranslationUnitCursor, (cx_unit))                                              \
    F(unsigned, visitChildren, (cx_cursor, cx_visitor, void *))                                    \
    F(cx_string, getCursorKindSpelling, (int))                                                     \
    F(cx_string, getCursorSpelling, (cx_cursor))                                                   \
    F(cx_string, getTypeSpelling, (cx_type))                                                       \
    F(cx_string, getFileName, (cx_file))                                                           \
    F(cx_string, getCursorPrettyPrinted, (cx_cursor, void *))                                      \
    F(const char *, getCString, (cx_string))                                                       \
    F(void, disposeString, (cx_string))                                                            \
    F(cx_type, getCursorType, (cx_cursor))                                                         \
    F(cx_type, getCanonicalType, (cx_type))                                                        \
    F(cx_type, getPointeeType, (cx_type))                                                          \
    F(cx_cursor, getTypeDeclaration, (cx_type))                                                    \
    F(long long, Type_getSizeOf, (cx_type))                                                        \
    F(cx_place, getCursorLocation, (cx_cursor))                                                    \
    F(cx_range, getCursorExtent, (cx_cursor))                                                      \
    F(cx_place, getRangeStart, (cx_range))                                                         \
    F(cx_place, getRangeEnd, (cx_range))                                                           \
    F(void, getFileLocation, (cx_place, cx_file *, unsigned *, unsigned *, unsigned *))            \
    F(void, getSpellingLocation, (cx_place, cx_file *, unsigned *, unsigned *, unsigned *))        \
    F(const char *, getFileContents, (cx_unit, cx_file, size_t *))                                 \
    F(void, tokenize, (cx_unit, cx_range, cx_token **, unsigned *))                                \
    F(void, disposeTokens, (cx_unit, cx_token *, unsigned))                                        \
    F(cx_place, getTokenLocation, (cx_unit, cx_token))                                             \
    F(cx_cursor, getCursorReferenced, (cx_cursor))                                                 \
    F(cx_cursor, getCursorDefinition, (cx_cursor))                                                 \
    F(cx_cursor, getSpecializedCursorTemplate, (cx_cursor))                                        \
    F(int, Cursor_isNull, (cx_cursor))                                                             \
    F(unsigned, hashCursor, (cx_cursor))                                                           \
    F(unsigned, equalCursors, (cx_cursor, cx_cursor))                                              \
    F(int, Cursor_getNumArguments, (cx_cursor))                                                    \
    F(cx_cursor, Cursor_getArgument, (cx_cursor, unsigned))                                        \
    F(int, Cursor_getNumTemplateArguments, (cx_cursor))                                            \
    F(cx_cursor, Cursor_getVarDeclInitializer, (cx_cursor))                                        \
    F(long long, getEnumConstantDeclValue, (cx_cursor))                                            \
    F(cx_value, Cursor_Evaluate, (cx_cursor))                                                      \
    F(int, EvalResult_getKind, (cx_value))                                                         \
    F(long long, EvalResult_getAsLongLong, (cx_value))                                             \
    F(double, EvalResult_getAsDouble, (cx_value))                                                  \
    F(void, EvalResult_dispose, (cx_value))

typedef struct kernel_syntax {
#define F(type, name, parameters) type(*name) parameters;
    FUNCTIONS(F)
#undef F
    void *library, *index;
    cx_unit unit;
    cx_cursor *nodes, *children; /* node n is nodes[n - 1]; `children` is scratch */
    size_t count, child_count;
    keymap numbers; /* hash of a node -> its number; nodes with equal hashes have adjacent keys */
} kernel_syntax;

static bool load_function(void *library, const char *name, void *function, size_t bytes)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, bytes); /* ISO C has no cast of a data pointer to a function
                                       * pointer. */
    return symbol != NULL;
}

static void *open_library(void)
{
    enum { NEWEST = 40, OLDEST = 14 };
    void *library = NULL;
    for (int version = NEWEST; version >= OLDEST && !library; version--) {
        char name[64];
        snprintf(name, sizeof name, "libclang-%d.so.1", version);
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        snprintf(name, sizeof name, "libclang.so.%d", version == OLDEST ? 13 : version);
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    return library ? library : dlopen("libclang.so", RTLD_NOW | RTLD_LOCAL);
}

static at_status load(kernel_syntax *k, at_error *error)
{
    bool complete = (k->library = open_library()) != NULL;
#define F(type, name, parameters)                                                                  \
    complete = complete && load_function(k->library, "clang_" #name, &k->name, sizeof k->name);
    FUNCTIONS(F)
#undef F
    return complete ? AT_OK
                    : error_set(error, AT_NO_TOOLCHAIN,
                                "reading the host code of a .cu file needs libclang 14 or newer, "
                                "which was not found. Install it: sudo apt-get install libclang1, "
                                "or dnf install clang-libs");
}

void kernel_syntax_free(kernel_syntax *k)
{
    if (!k)
        return;
    if (k->unit)
        k->disposeTranslationUnit(k->unit);
    if (k->index)
        k->disposeIndex(k->index);
    if (k->library)
        dlclose(k->library);
    free(k->children);
    keymap_deinit(&k->numbers);
    free(k->nodes);
    free(k);
}

/* Parses the file with `prelude` and the text `more` before it. Headers are also looked up in
 * `folders`. */
static at_status read_file(const char *path, const char *prelude, const char *more,
                           const char *const *folders, size_t folder_count, kernel_syntax *k,
                           at_error *error)
{
    enum { MOST = 64 };
    static const char unknown[] = "/autotune/unknown.h"; /* only in memory */
    static const char *const fixed[] = {
        "-ferror-limit=0",       "-std=c++17",  "-w",      "-nocudainc", "-nostdinc",
        "-fno-spell-checking",   "-nostdinc++", "-x",      "cuda",       "--cuda-host-only",
        "--cuda-gpu-arch=sm_80", "-nocudalib",  "-include"};
    const char *arguments[MOST];
    size_t count = sizeof fixed / sizeof *fixed;
    memcpy(arguments, fixed, sizeof fixed);
    arguments[count++] = prelude;
    arguments[count++] = "-include";
    arguments[count++] = unknown;
    for (size_t i = 0; i < folder_count && count + 2 <= MOST; i++) {
        arguments[count++] = "-I";
        arguments[count++] = folders[i];
    }
    cx_unsaved unsaved = {unknown, more, strlen(more)};
    if (k->unit)
        k->disposeTranslationUnit(k->unit);
    k->unit =
        k->parseTranslationUnit(k->index, path, arguments, (int)count, &unsaved, 1, KEEP_GOING);
    return k->unit ? AT_OK : error_set_at(error, AT_SCRIPT, path, 0, "libclang cannot read it");
}

/* Returns the node's number, or 0 if it is a null cursor or memory is short. */
static lua_Integer number_of(kernel_syntax *k, cx_cursor c)
{
    if (k->Cursor_isNull(c))
        return 0;
    uint64_t key = (uint64_t)k->hashCursor(c) << 8, found;
    for (; keymap_get(&k->numbers, key, &found); key++)
        if (k->equalCursors(k->nodes[found - 1], c))
            return (lua_Integer)found;
    const bool added = array_add((void *)&k->nodes, &k->count, &c, sizeof c) &&
                       keymap_put(&k->numbers, key, k->count);
    return added ? (lua_Integer)k->count : 0;
}

static void push_string(lua_State *L, const kernel_syntax *k, cx_string s)
{
    const char *text = k->getCString(s);
    lua_pushstring(L, text ? text : "");
    k->disposeString(s);
}

/* Finds a node's first token, perhaps in a macro. Returns the text of the token's file, or NULL. */
static const char *find_spelling(const kernel_syntax *k, cx_cursor c, cx_file *file, unsigned *line,
                                 unsigned *offset, size_t *size)
{
    cx_token *tokens = NULL;
    unsigned count = 0;
    const char *bytes = NULL;
    k->tokenize(k->unit, k->getCursorExtent(c), &tokens, &count);
    if (count > 0) {
        k->getFileLocation(k->getTokenLocation(k->unit, tokens[0]), file, line, NULL, offset);
        bytes = *file ? k->getFileContents(k->unit, *file, size) : NULL;
    }
    k->disposeTokens(k->unit, tokens, count);
    return bytes;
}

static int add_child(cx_cursor c, cx_cursor parent, void *context)
{
    kernel_syntax *k = context;
    (void)parent;
    return array_add((void *)&k->children, &k->child_count, &c, sizeof c) ? VISIT_ON : 0;
}

static void push_children(lua_State *L, kernel_syntax *k, cx_cursor c, cx_cursor *last)
{
    k->child_count = 0;
    k->visitChildren(c, add_child, k); /* An error of Lua must not leave this call. */
    lua_createtable(L, (int)k->child_count, 0);
    for (size_t i = 0; i < k->child_count; i++) {
        *last = k->children[i];
        lua_pushinteger(L, number_of(k, *last));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

/* Goes back over the operator that ends before `at`. Returns its length, or 0. A comma does not
 * count, because commas also separate arguments of macros. */
static unsigned operator_before(const char *bytes, unsigned *at)
{
    unsigned length = 0;
    while (*at > 0 && strchr(" \t\r\n\\", bytes[*at - 1]))
        --*at;
    for (; length < 3 && *at > 0 && strchr("<>=!&|+-*/%^", bytes[*at - 1]); length++)
        --*at;
    return length;
}

/* Pushes the operator before the second operand: from the body of a macro, or from the file if the
 * operand is a macro that does not contain the first operand. */
static void push_binary(lua_State *L, const kernel_syntax *k, cx_cursor first, cx_cursor second)
{
    cx_file file = NULL;
    unsigned line, at = 0, first_at = 0;
    size_t size = 0;
    const char *bytes = find_spelling(k, second, &file, &line, &at, &size);
    unsigned length = bytes ? operator_before(bytes, &at) : 0;
    if (length == 0) {
        k->getFileLocation(k->getRangeStart(k->getCursorExtent(first)), &file, NULL, NULL,
                           &first_at);
        k->getFileLocation(k->getRangeStart(k->getCursorExtent(second)), &file, NULL, NULL, &at);
        bytes = file && at != first_at ? k->getFileContents(k->unit, file, &size) : NULL;
        length = bytes ? operator_before(bytes, &at) : 0;
    }
    lua_pushlstring(L, bytes ? bytes + at : "", length);
}

/* Pushes the operator, which stands before the operand, or, for ++ and --, possibly after it. */
static void push_unary(lua_State *L, const kernel_syntax *k, cx_cursor c)
{
    cx_file file;
    unsigned line, at = 0;
    size_t size = 0;
    const char *bytes = find_spelling(k, c, &file, &line, &at, &size);
    unsigned length = 1;
    if (bytes && at + 1 < size && strchr("+-", bytes[at]) && bytes[at + 1] == bytes[at])
        length = 2;
    if (bytes && !strchr("+-*&!~", bytes[at]))
        lua_pushliteral(L, "++"); /* stands for ++ or -- */
    else
        lua_pushlstring(L, bytes ? bytes + at : "", bytes ? length : 0);
}

static bool is_scalar(const kernel_syntax *k, cx_cursor c)
{
    const int kind = k->getCanonicalType(k->getCursorType(c)).kind;
    return kind >= FIRST_SCALAR && kind <= LAST_SCALAR;
}

static void push_value(lua_State *L, const kernel_syntax *k, cx_cursor c)
{
    cx_value v = k->Cursor_Evaluate(c);
    const int kind = v ? k->EvalResult_getKind(v) : 0;
    if (kind == VALUE_INT)
        lua_pushinteger(L, k->EvalResult_getAsLongLong(v));
    else if (kind == VALUE_FLOAT)
        lua_pushnumber(L, k->EvalResult_getAsDouble(v));
    else
        lua_pushnil(L);
    if (v)
        k->EvalResult_dispose(v);
}

static void set_number(lua_State *L, const char *field, lua_Integer v)
{
    if (v > 0)
        set_integer(L, field, v);
}

static void set_type(lua_State *L, kernel_syntax *k, cx_type type)
{
    type = k->getCanonicalType(type);
    push_string(L, k, k->getTypeSpelling(type));
    lua_setfield(L, -2, "type");
    const bool is_plain = (type.kind >= FIRST_SCALAR && type.kind <= LAST_SCALAR) ||
                          (type.kind >= TYPE_POINTER && type.kind <= TYPE_ENUM) ||
                          type.kind == TYPE_ARRAY;
    if (!is_plain) /* libclang crashes if it is asked for the size of a dependent type. */
        return;
    set_number(L, "bytes", k->Type_getSizeOf(type));
    const cx_cursor class = k->getTypeDeclaration(type);
    if (class.kind <= LAST_DECLARATION)
        set_number(L, "class", number_of(k, class));
    cx_type to = k->getPointeeType(type);
    set_number(L, "pointee_bytes", to.kind ? k->Type_getSizeOf(to) : 0);
    const cx_cursor structure = k->getTypeDeclaration(to);
    if (to.kind && structure.kind <= LAST_DECLARATION)
        set_number(L, "pointee_class", number_of(k, structure));
}

static void set_place(lua_State *L, const kernel_syntax *k, cx_cursor c)
{
    cx_file file = NULL;
    unsigned line = 0;
    k->getFileLocation(k->getCursorLocation(c), &file, &line, NULL, NULL);
    set_number(L, "line", line);
    if (!file)
        return;
    push_string(L, k, k->getFileName(file));
    lua_setfield(L, -2, "file");
}

static void set_reference(lua_State *L, kernel_syntax *k, cx_cursor c)
{
    cx_cursor to = k->getCursorReferenced(c);
    if (k->Cursor_isNull(to) || k->equalCursors(to, c))
        return;
    const cx_cursor definition = k->getCursorDefinition(to);
    set_number(L, "ref", number_of(k, k->Cursor_isNull(definition) ? to : definition));
}

/* host.syntax_errors(text) parses the kernel's file with `text` before it. Returns a list of the
 * errors, each { text, before, after }: the message, and the file's text on both sides of the
 * place. */
static int host_syntax_errors(lua_State *L)
{
    enum { AROUND = 64 };
    script *s = script_of(L);
    const kernel_file *f = &s->kernel_source;
    kernel_syntax *k = s->kernel_syntax;
    at_error error = {0};
    char prelude[PATH_MAX];
    snprintf(prelude, sizeof prelude, "%s/kernel_file/toolkit.h", s->from.template_dir);
    if (!k) {
        k = s->kernel_syntax = calloc(1, sizeof *k);
        if (!k)
            sandbox_raise(L, AT_NO_MEMORY, NULL, 0, "out of memory while reading %s", f->path);
        if (load(k, &error))
            sandbox_raise_error(L, &error);
        k->index = k->createIndex(0, 0);
    }
    if (read_file(f->reals[0], prelude, luaL_checkstring(L, 1), s->options.includes,
                  s->options.include_count, k, &error))
        sandbox_raise_error(L, &error);
    const unsigned count = k->getNumDiagnostics(k->unit);
    lua_createtable(L, (int)count, 0);
    for (unsigned i = 0; i < count; i++) {
        cx_diagnostic d = k->getDiagnostic(k->unit, i);
        cx_file file = NULL;
        unsigned at = 0;
        size_t size = 0;
        k->getSpellingLocation(k->getDiagnosticLocation(d), &file, NULL, NULL, &at);
        const char *bytes = file ? k->getFileContents(k->unit, file, &size) : NULL;
        const cx_string text = k->getDiagnosticSpelling(d);
        k->disposeDiagnostic(d);
        lua_createtable(L, 0, 3);
        push_string(L, k, text);
        lua_setfield(L, -2, "text");
        at = at < size ? at : (unsigned)size;
        const size_t before = at < AROUND ? at : AROUND, after = size - at;
        lua_pushlstring(L, bytes ? bytes + at - before : "", before);
        lua_setfield(L, -2, "before");
        lua_pushlstring(L, bytes ? bytes + at : "", after < AROUND ? after : AROUND);
        lua_setfield(L, -2, "after");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* host.syntax(number) returns a node as { kind, name, type, bytes, pointee_bytes, line, file,
 * children, arguments, ref, op, value, init, printed, template }. Nodes in it are numbers. Without
 * a number, returns the file that host.syntax_errors() parsed. */
static int host_syntax(lua_State *L)
{
    kernel_syntax *k = script_of(L)->kernel_syntax;
    luaL_argcheck(L, k && k->unit, 1, "no file has been parsed");
    const lua_Integer number = luaL_optinteger(L, 1, 0);
    luaL_argcheck(L, number >= 0 && (size_t)number <= k->count, 1, "no node has that number");
    const cx_cursor c = number ? k->nodes[number - 1] : k->getTranslationUnitCursor(k->unit);
    sandbox_charge(L, 64);
    lua_createtable(L, 0, 12);
    push_string(L, k, k->getCursorKindSpelling(c.kind));
    lua_setfield(L, -2, "kind");
    push_string(L, k, k->getCursorSpelling(c));
    lua_setfield(L, -2, "name");
    cx_cursor last = c;
    push_children(L, k, c, &last);
    lua_setfield(L, -2, "children");
    if (!number)
        return 1;
    set_place(L, k, c);
    set_type(L, k, k->getCursorType(c));
    set_reference(L, k, c);
    const int arguments = k->Cursor_getNumArguments(c);
    lua_newtable(L);
    for (int i = 0; i < arguments; i++) {
        lua_pushinteger(L, number_of(k, k->Cursor_getArgument(c, (unsigned)i)));
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "arguments");
    if (c.kind == KIND_BINARY || c.kind == KIND_COMPOUND)
        push_binary(L, k, k->children[0], last);
    else if (c.kind == KIND_UNARY)
        push_unary(L, k, c);
    else
        lua_pushnil(L);
    lua_setfield(L, -2, "op");
    if (c.kind == KIND_INTEGER || c.kind == KIND_FLOATING || c.kind == KIND_CHARACTER ||
        c.kind == KIND_SIZEOF || c.kind == KIND_BOOL)
        push_value(L, k, c);
    else if (c.kind == KIND_ENUMERATOR)
        lua_pushinteger(L, k->getEnumConstantDeclValue(c));
    else if (c.kind == KIND_BINARY && is_scalar(k, c)) /* for an unknown `op` */
        push_value(L, k, c);
    else
        lua_pushnil(L);
    lua_setfield(L, -2, "value");
    if (c.kind == KIND_VARIABLE)
        set_number(L, "init", number_of(k, k->Cursor_getVarDeclInitializer(c)));
    if (c.kind < LAST_DECLARATION) {
        if (k->Cursor_getNumTemplateArguments(c) > 0) {
            push_string(L, k, k->getCursorPrettyPrinted(c, NULL));
            lua_setfield(L, -2, "printed");
        }
        set_number(L, "template", number_of(k, k->getSpecializedCursorTemplate(c)));
    }
    return 1;
}

/* host.syntax_text(number) returns a node's text, and the file and line of its first token. */
static int host_syntax_text(lua_State *L)
{
    const script *s = script_of(L);
    const kernel_syntax *k = s->kernel_syntax;
    const lua_Integer number = luaL_checkinteger(L, 1);
    luaL_argcheck(L, k && number > 0 && (size_t)number <= k->count, 1, "no node has that number");
    const cx_range all = k->getCursorExtent(k->nodes[number - 1]);
    cx_file file = NULL, end_file = NULL;
    unsigned begin = 0, end = 0, line = 0;
    size_t size = 0;
    k->getFileLocation(k->getRangeStart(all), &file, NULL, NULL, &begin);
    k->getFileLocation(k->getRangeEnd(all), &end_file, NULL, NULL, &end);
    const char *bytes = file ? k->getFileContents(k->unit, file, &size) : NULL;
    lua_pushlstring(L, bytes ? bytes + begin : "",
                    bytes && end > begin && end <= size ? end - begin : 0);
    if (!find_spelling(k, k->nodes[number - 1], &file, &line, &begin, &size))
        return 1;
    push_string(L, k, k->getFileName(file));
    lua_pushinteger(L, line);
    return 3;
}

const luaL_Reg host_syntax_functions[] = {
    {"syntax_errors", host_syntax_errors},
    {"syntax", host_syntax},
    {"syntax_text", host_syntax_text},
    {NULL, NULL},
};
