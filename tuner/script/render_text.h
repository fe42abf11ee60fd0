/* The functions that templates for people and modules of commands have beside Lua's own; render.c
 * adds them.
 *
 *   cut(text, columns)    how many bytes of it go on a line of so many characters, and how many
 *                         blanks the break replaces: base/wrap.h
 *   units.NAME(number)    time (of ns), duration (of s), size (of bytes), rate (10^9 a second),
 *                         count, percent (of a share): base/units.h
 *   spell(value)          a value as scripts and records spell it: base/value.h
 *   ceiling_of(name)      its unit ("bytes", "flops" or "items") and its words, "the FP32
 *                         rate"; nil for an unknown name
 *   median_of(samples_ns) the median and the ends of its 95 % interval */
#ifndef AUTOTUNE_SCRIPT_RENDER_TEXT_H
#define AUTOTUNE_SCRIPT_RENDER_TEXT_H

#include <lua.h>

/* Adds them to the table on top of the stack. */
void render_add_texts(lua_State *L);

#endif
