/* Fuzzes expressions. Any text that Lua accepts as an expression must be read. The evaluation
 * without Lua must give the result of Lua. */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader_fixture.h"
#include "script/expression/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_TEXT = 1000 };

static bool resolve(void *context, const node *leaf, vector_operand *operand)
{
    (void)context;
    *operand = (vector_operand){.input = leaf->op == NODE_INPUT ? reader_input(leaf) : 0};
    return leaf->op == NODE_INPUT && operand->input < W;
}

/* Resolves names. Expressions of this test call no functions. */
static const node *read_input(void *context, tree *t, token name, token next)
{
    return name.length == 1 ? reader_fixture_name(context, t, name, next) : NULL;
}

/* Calls the function on top of the stack and leaves it there. Returns false if the call fails. */
static bool ask_lua(lua_State *L, const int64_t *inputs)
{
    lua_pushvalue(L, -1);
    for (size_t i = 0; i < W; i++)
        if (i < P)
            lua_pushinteger(L, inputs[i]);
        else
            lua_pushboolean(L, (int)inputs[i]);
    if (lua_pcall(L, W, 1, 0) != LUA_OK || !lua_isboolean(L, -1))
        abort();
    bool answer = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return answer;
}

static void compare(lua_State *L, const vector_step *steps, size_t step_count)
{
    static const int64_t values[] = {3, -7, 1, 0, -1, 64, INT64_MIN, INT64_MAX};
    enum { VALUES = sizeof values / sizeof *values };
    int64_t inputs[INPUTS] = {12, -5, 0, 1};
    bool holds[VALUES];
    if (!vector_evaluate(steps, step_count, inputs, 0, values, VALUES, holds))
        return; /* the expression divides by zero */
    for (size_t i = 0; i < VALUES; i++) {
        inputs[0] = values[i];
        if (ask_lua(L, inputs) != holds[i])
            abort();
    }
}

static const node *read_any(void *context, tree *t, token name, token next)
{
    (void)context;
    (void)next;
    return reader_plain_name(t, name);
}

/* Expects that a text is read if Lua accepts the text also without brackets, unlike "1) or (2". */
static void expect_read(lua_State *L, const char *text)
{
    char chunk[MOST_TEXT + 16];
    snprintf(chunk, sizeof chunk, "return %s\n", text);
    if (strstr(text, "function") || strstr(text, "...") || luaL_loadstring(L, chunk) != LUA_OK)
        return;
    tree *t = tree_new();
    if (t && !reader_read(t, text, &(reader_names){NULL, read_any, reader_fixture_field}))
        abort();
    tree_free(t);
}

/* Returns the number of steps of the expression, or 0 if only Lua can evaluate it. */
static size_t compile(const char *text, vector_step *steps)
{
    tree *t = tree_new();
    const reader_names names = {NULL, read_input, reader_fixture_field};
    const node *root = t ? reader_read(t, text, &names) : NULL, *term = NULL;
    term_type type = TERM_WHOLE;
    if (root && term_make(t, root, reader_leaf, NULL, &type, &term, NULL) != AT_OK)
        term = NULL;
    size_t count = term && type == TERM_TRUTH ? vector_compile(term, resolve, NULL, steps) : 0;
    tree_free(t);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_TEXT)
        return 0;
    static const char before[] = "local x, y, p, q = ...; local w = 'w'; return (", after[] = "\n)";
    char chunk[sizeof before + MOST_TEXT + sizeof after], text[MOST_TEXT + 1];
    memcpy(text, data, size);
    text[size] = '\0';
    strcpy(chunk, before);
    strcat(chunk, text);
    strcat(chunk, after);
    lua_State *L = luaL_newstate();
    vector_step steps[VECTOR_MOST_STEPS];
    if (L && luaL_loadbufferx(L, chunk, strlen(chunk), "=expression", "t") == LUA_OK) {
        if (strlen(text) == size)
            expect_read(L, text);
        lua_settop(L, 1);
        size_t step_count = compile(text, steps);
        if (step_count)
            compare(L, steps, step_count);
    }
    if (L)
        lua_close(L);
    return 0;
}
