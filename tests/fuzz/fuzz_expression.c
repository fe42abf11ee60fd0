/* What is evaluated without Lua gives Lua's answers: for any text that Lua takes as an
 * expression. */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

#include "script/expression_vector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WHOLES = 2, INPUTS = 4, MOST_STEPS = 256, MOST_TEXT = 1000 };
static const char *const names[INPUTS] = {"x", "y", "p", "q"};

static bool resolve(void *context, token name, token field, vector_operand *operand)
{
    (void)context;
    for (size_t i = 0; i < INPUTS && field.kind == TOKEN_END; i++)
        if (token_is(name, names[i])) {
            *operand =
                (vector_operand){.type = i < WHOLES ? VECTOR_WHOLE : VECTOR_TRUTH, .input = i};
            return true;
        }
    return false;
}

/* The function is on top of the stack, and stays there. */
static bool ask_lua(lua_State *L, const int64_t *inputs)
{
    lua_pushvalue(L, -1);
    for (size_t i = 0; i < INPUTS; i++)
        if (i < WHOLES)
            lua_pushinteger(L, inputs[i]);
        else
            lua_pushboolean(L, (int)inputs[i]);
    if (lua_pcall(L, INPUTS, 1, 0) != LUA_OK || !lua_isboolean(L, -1))
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
        return; /* a zero divisor */
    for (size_t i = 0; i < VALUES; i++) {
        inputs[0] = values[i];
        if (ask_lua(L, inputs) != holds[i])
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MOST_TEXT)
        return 0;
    static const char before[] = "local x, y, p, q = ...; return (", after[] = "\n)";
    char chunk[sizeof before + MOST_TEXT + sizeof after], text[MOST_TEXT + 1];
    memcpy(text, data, size);
    text[size] = '\0';
    strcpy(chunk, before);
    strcat(chunk, text);
    strcat(chunk, after);
    lua_State *L = luaL_newstate();
    vector_step steps[MOST_STEPS];
    if (L && luaL_loadbufferx(L, chunk, strlen(chunk), "=expression", "t") == LUA_OK) {
        size_t step_count = vector_compile(text, resolve, NULL, steps, MOST_STEPS);
        if (step_count)
            compare(L, steps, step_count);
    }
    if (L)
        lua_close(L);
    return 0;
}
