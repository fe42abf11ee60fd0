/* Python's expressions as tables, for the tool's own Lua (lua/lib/python.lua). */
#include <lauxlib.h>
#include <string.h>

#include "script/expression/reader.h"
#include "script/state.h"

/* The place of `op` in the table of a node. */
static const char *const op_names[NODE_OPS] = {
    [NODE_NONE] = "none",      [NODE_TRUTH] = "truth",   [NODE_WHOLE] = "whole",
    [NODE_NUMBER] = "number",  [NODE_TEXT] = "text",     [NODE_NAME] = "name",
    [NODE_FIELD] = "field",    [NODE_CALL] = "call",     [NODE_ITEMS] = "items",
    [NODE_EACH] = "each",      [NODE_INDEX] = "index",   [NODE_CHOICE] = "choice",
    [NODE_IN] = "in",          [NODE_NOT_IN] = "not in", [NODE_PLUS] = "plus",
    [NODE_OR] = "or",          [NODE_AND] = "and",       [NODE_LESS] = "<",
    [NODE_AT_MOST] = "<=",     [NODE_GREATER] = ">",     [NODE_AT_LEAST] = ">=",
    [NODE_EQUAL] = "==",       [NODE_UNEQUAL] = "!=",    [NODE_BIT_OR] = "|",
    [NODE_BIT_XOR] = "^",      [NODE_BIT_AND] = "&",     [NODE_SHIFT_LEFT] = "<<",
    [NODE_SHIFT_RIGHT] = ">>", [NODE_ADD] = "+",         [NODE_SUBTRACT] = "-",
    [NODE_MULTIPLY] = "*",     [NODE_DIVIDE] = "/",      [NODE_FLOOR_DIVIDE] = "//",
    [NODE_REMAINDER] = "%",    [NODE_POWER] = "**",      [NODE_NOT] = "not",
    [NODE_NEGATE] = "negate",  [NODE_BIT_NOT] = "~",
};

/* Tables are gone through by functions that call themselves. */
enum { MOST_DEPTH = 100, MOST_BYTES = 16384 };

static void push_value(lua_State *L, const node *n)
{
    double number;
    memcpy(&number, &n->bits, sizeof number);
    if (n->op == NODE_TRUTH)
        lua_pushboolean(L, n->bits != 0);
    else if (n->op == NODE_NUMBER)
        lua_pushnumber(L, number);
    else
        lua_pushinteger(L, n->bits);
}

static bool push_node(lua_State *L, int known, const node *n, int depth);

/* Gives the table on top of the stack the operands of a node, those of a list one by one. */
static bool add_operands(lua_State *L, int known, const node *n, int depth)
{
    lua_Integer count = 0;
    for (uint32_t i = 0; i < n->count; i++) {
        lua_Integer listed = 0;
        const node *of = n->of[i];
        for (const node *l = of; l->op == NODE_LIST; l = l->of[0])
            listed++;
        bool is_list = of->op == NODE_LIST || (of->op == NODE_NONE && i + 1 == n->count &&
                                               (n->op == NODE_CALL || n->op == NODE_ITEMS));
        if (!is_list && !push_node(L, known, of, depth + 1))
            return false;
        if (!is_list)
            lua_rawseti(L, -2, ++count);
        count += listed;
        for (lua_Integer k = count; listed-- > 0; of = of->of[0]) {
            if (!push_node(L, known, of->of[1], depth + 1))
                return false;
            lua_rawseti(L, -2, k--);
        }
    }
    return true;
}

/* Pushes { op, value, name, ... of operands }; a node that stands in several places is one table,
 * which `known` (stack index) has by its id. False, with anything on the stack: it is too deep. */
static bool push_node(lua_State *L, int known, const node *n, int depth)
{
    luaL_checkstack(L, 8, NULL);
    if (lua_rawgeti(L, known, n->id) == LUA_TTABLE)
        return true;
    lua_pop(L, 1);
    sandbox_charge(L, 10);
    lua_createtable(L, (int)n->count, 3);
    lua_pushvalue(L, -1);
    lua_rawseti(L, known, n->id);
    lua_pushstring(L, op_names[n->op]);
    lua_setfield(L, -2, "op");
    push_value(L, n);
    lua_setfield(L, -2, "value");
    lua_pushlstring(L, n->name ? n->name : "", n->length);
    lua_setfield(L, -2, "name");
    return depth < MOST_DEPTH && add_operands(L, known, n, depth);
}

static const node *read_name(void *context, tree *t, token name, token next)
{
    (void)context;
    (void)next;
    return reader_plain_name(t, name);
}

int script_read_python(lua_State *L)
{
    size_t size_bytes;
    const char *text = luaL_checklstring(L, 1, &size_bytes);
    tree *t = script_of(L)->expressions;
    token stopped = {.text = text};
    sandbox_charge(L, size_bytes);
    const node *root = NULL;
    if (size_bytes == strlen(text) && size_bytes <= MOST_BYTES)
        root = reader_read_to(t, &notation_python, text, &(reader_names){NULL, read_name, NULL},
                              &stopped);
    if (tree_lacks_memory(t))
        sandbox_raise_memory(L);
    lua_newtable(L);
    if (root && push_node(L, lua_gettop(L), root, 0))
        return 1;
    lua_pushnil(L);
    if (root || size_bytes > MOST_BYTES)
        lua_pushstring(L, "it is too long, or nested too deeply");
    else if (stopped.kind == TOKEN_END)
        lua_pushstring(L, "it ends too early");
    else
        lua_pushfstring(L, "it is not understood from here on: %s", stopped.text);
    return 2;
}
