/* The Lua state in which scripts and templates run, and its limits of memory and work.
 * sandbox_call() runs everything in protected mode and returns any error, exhausted memory
 * included, with file, line and message. Scripts see pure functions through tables that they cannot
 * change. There is no io, os, debug, load, metatables, coroutines or pcall, so nothing leaves the
 * sandbox or catches a limit. A count of VM instructions limits the time; C functions whose work
 * depends on their arguments (string.rep, table.sort ...) add to it. pairs() sorts keys, so every
 * run is the same. */
#ifndef AUTOTUNE_SCRIPT_SANDBOX_SANDBOX_H
#define AUTOTUNE_SCRIPT_SANDBOX_SANDBOX_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct sandbox {
    lua_State *L;
    size_t used_bytes, limit_bytes;
    bool refused;              /* limit_bytes refused an allocation */
    int64_t instruction_limit; /* limit of each sandbox_call() */
    int64_t instructions_left;
    uint64_t instructions_spent; /* instructions of all calls that have ended */
    int64_t cpu_deadline_ns;     /* CPU deadline of the running call; catches uncounted work */
    bool (*stop)(
        void *); /* called now and then; true ends the call with AT_INTERRUPTED; may be NULL */
    void *stop_context;  /* argument of `stop` */
    int64_t until_stop;  /* instructions until the next call of `stop` */
    int64_t cpu_stop_ns; /* CPU time of the next call of `stop` */
    const char *path;    /* borrowed; for errors without a position from Lua (after a tail call) */
    int line;            /* line in that file, or 0 */
    bool raised;         /* `error` was set by sandbox_raise() */
    at_error error;      /* error of the running call */
} sandbox;

/* Registry key of the table with which each environment starts; sandbox_open_library() fills it. */
extern const char sandbox_base_key[];

/* Makes an empty state. A limit of 0 is the default. A failure leaves nothing to free. AT_SCRIPT if
 * the memory limit is too small, AT_NO_MEMORY. */
at_status sandbox_init(sandbox *s, const char *path, size_t memory_limit_bytes,
                       uint64_t instruction_limit, at_error *error);
void sandbox_deinit(sandbox *s);

/* Adds the functions of library.c to the table of environments and the methods of strings.
 * AT_SCRIPT if the memory limit is too small, AT_NO_MEMORY. */
at_status sandbox_open_library(sandbox *s, at_error *error);

/* Runs `function` in protected mode with `argument` as a light userdata, and discards its results.
 * Without `counted`, which is faster, there is no instruction limit, so `function` must not call
 * anything that can loop. */
at_status sandbox_call(sandbox *s, lua_CFunction function, void *argument, bool counted,
                       at_error *error);

/* Pops the error object of a failed lua_pcall, and makes an error of it. */
at_status sandbox_failure(sandbox *s, int result, at_error *error);

/* Raises an error with this status and message, within sandbox_call(). Never returns. */
int sandbox_raise(lua_State *L, at_status status, const char *file, int line, const char *format,
                  ...) __attribute__((noreturn, format(printf, 5, 6)));

/* Raises a copy of the error, within sandbox_call(). Never returns. */
int sandbox_raise_error(lua_State *L, const at_error *error) __attribute__((noreturn));

/* Raises a lack of memory, after a nested protected call failed with LUA_ERRMEM. */
int sandbox_raise_memory(lua_State *L) __attribute__((noreturn));

/* Returns the sandbox of a Lua state. */
sandbox *sandbox_of(lua_State *L);

/* Like realloc, for memory that counts against the script's limit. Returns NULL if the memory or
 * the limit is exhausted. `new_bytes` 0 frees. */
void *sandbox_resize(lua_State *L, void *block, size_t old_bytes, size_t new_bytes);

/* Stops counting memory of sandbox_resize(), which its new owner frees with free(). */
void sandbox_disown(sandbox *s, size_t size_bytes);

/* Adds the work of a C function, in VM instructions. Raises if the limit is exceeded. */
void sandbox_charge(lua_State *L, uint64_t instructions);

/* Pushes a new table with everything that scripts may use: the libraries, pairs, type, error ... */
void sandbox_push_environment(lua_State *L);

/* Replaces the table on top of the stack by a view of it that cannot be changed. If `what` is not
 * NULL ("device", say), a missing key is an error that names the nearest key. */
void sandbox_protect(lua_State *L, const char *what);

/* Loads text, never a binary chunk, and pushes the function. Pops its environment from the stack.
 * After a syntax error pushes a message and returns false. */
bool sandbox_load(lua_State *L, const char *text, size_t size_bytes, const char *source);

/* Returns "; write ..." for a syntax error that is a habit of another language, or "". `text` is
 * the source. `line` is the line of the error, or 0 for an expression. */
const char *sandbox_syntax_hint(const char *message, const char *text, int line);

/* Returns the number of ( outside of quotes, without the number of ). */
int sandbox_open_brackets(const char *text);

#endif
