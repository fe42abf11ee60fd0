/* The Lua state that scripts and templates run in: what they can reach, and how much of it.
 *
 * Everything runs in protected mode through sandbox_call(): an error of any kind, exhausted memory
 * included, comes back as a status with file, line and message. Scripts see pure functions only (no
 * io, os, debug, load, metatables, coroutines or pcall: nothing that could leave the sandbox or
 * catch a limit), through tables that they cannot change. Memory is limited in the allocator,
 * running time by a count of VM instructions, to which C functions whose work depends on their
 * arguments (string.rep, pattern matching, table.sort ...) add theirs. pairs() visits keys in
 * sorted order, so that a script means the same in every run. */
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
    bool refused;              /* an allocation, because of limit_bytes */
    int64_t instruction_limit; /* for each call of sandbox_call */
    int64_t instructions_left;
    uint64_t instructions_spent; /* by all finished calls */
    int64_t cpu_deadline_ns;     /* of the running call; a second line of defence */
    bool (*stop)(void *);        /* called now and then; true ends the call with AT_INTERRUPTED */
    void *stop_context;          /* of `stop`, which may be NULL */
    int64_t until_stop;          /* instructions until it is called again */
    int64_t cpu_stop_ns;         /* and the CPU time */
    const char *path; /* named in errors when Lua gives no position (after a tail call), */
    int line;         /* with its line or 0; borrowed */
    bool raised;      /* `error` holds what sandbox_raise() was given */
    at_error error;   /* of the call in progress */
} sandbox;

/* Registry key of the table of everything that an environment starts with; script/sandbox/library.h
 * fills it. */
extern const char sandbox_base_key[];

/* Makes an empty state. 0 chooses a default for either limit. On failure there is nothing to free.
 * Errors: AT_SCRIPT (the memory limit is too small), AT_NO_MEMORY. */
at_status sandbox_init(sandbox *s, const char *path, size_t memory_limit_bytes,
                       uint64_t instruction_limit, at_error *error);
void sandbox_deinit(sandbox *s);

/* Runs `function` with one light userdata, `argument`, in protected mode and discards its results.
 * `counted` applies the instruction limit; without it `function` runs faster, but must call nothing
 * that can loop. */
at_status sandbox_call(sandbox *s, lua_CFunction function, void *argument, bool counted,
                       at_error *error);

/* Turns the result of a failed lua_pcall, whose error object is on top of the stack, into an error,
 * and pops it. */
at_status sandbox_failure(sandbox *s, int result, at_error *error);

/* Raises an error with this status and message inside a running sandbox_call(); never returns. */
int sandbox_raise(lua_State *L, at_status status, const char *file, int line, const char *format,
                  ...) __attribute__((noreturn, format(printf, 5, 6)));

/* Like sandbox_raise, with an existing at_error. */
int sandbox_raise_error(lua_State *L, const at_error *error) __attribute__((noreturn));

/* Raises that memory ran out, for a nested protected call that failed with LUA_ERRMEM. */
int sandbox_raise_memory(lua_State *L) __attribute__((noreturn));

/* The sandbox that a state belongs to. */
sandbox *sandbox_of(lua_State *L);

/* Like realloc, for memory that counts against the script's limit: NULL when memory or the limit is
 * exhausted. new_bytes 0 frees. */
void *sandbox_resize(lua_State *L, void *block, size_t old_bytes, size_t new_bytes);

/* Memory of sandbox_resize() no longer counts: its new owner frees it with free(). */
void sandbox_disown(sandbox *s, size_t size_bytes);

/* Adds the work of a C function, in VM instructions, to the count; raises when that is too much. */
void sandbox_charge(lua_State *L, uint64_t instructions);

/* Pushes a fresh table with what scripts may use: the libraries, and pairs, type, error ... */
void sandbox_push_environment(lua_State *L);

/* Replaces the table on top of the stack by a view of it that cannot be changed. A missing key is
 * an error that names the nearest one when `what` (say, "device") is not NULL. */
void sandbox_protect(lua_State *L, const char *what);

/* Loads text (never a binary chunk) and pushes the function; the environment, on top of the stack,
 * is popped and becomes its _ENV. False, with a message in its place, on a syntax error. */
bool sandbox_load(lua_State *L, const char *text, size_t size_bytes, const char *source);

/* Returns the remedy for a syntax error as another language's habits make it: "; write ...", or "".
 * `message` is Lua's; `text` is what was read, and the error is in its line `line`, or anywhere in
 * an expression (0). */
const char *sandbox_syntax_hint(const char *message, const char *text, int line);

#endif
