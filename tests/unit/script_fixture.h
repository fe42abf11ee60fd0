/* Writes scripts to a temporary folder and loads them for sm_90. */
#ifndef AUTOTUNE_SCRIPT_FIXTURE_H
#define AUTOTUNE_SCRIPT_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "script/script.h"

static char fixture_dir[256];

static inline int fixture_setup(void **state)
{
    (void)state;
    snprintf(fixture_dir, sizeof fixture_dir, "%s/tests/script.XXXXXX", TEST_BINARY_DIR);
    return mkdtemp(fixture_dir) ? 0 : -1;
}

static inline int fixture_teardown(void **state)
{
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", fixture_dir);
    return system(command);
}

static inline const char *fixture_path(const char *name)
{
    static char paths[4][512]; /* tests may use up to four paths at once */
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", fixture_dir, name);
    return path;
}

static inline void fixture_write_bytes(const char *name, const void *bytes, size_t size_bytes)
{
    FILE *f = fopen(fixture_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size_bytes, f), size_bytes);
    fclose(f);
}

static inline void fixture_write(const char *name, const char *text)
{
    fixture_write_bytes(name, text, strlen(text));
}

static inline script_options fixture_options(void)
{
    return (script_options){
        .lua_dir = TEST_SOURCE_DIR "/lua",
        .template_dir = TEST_SOURCE_DIR "/templates",
        .instruction_limit = 20000000, /* the default takes long under the sanitizers */
        .device = {.name = "sm_90",
                   .major = 9,
                   .sm_count = 132,
                   .warp_size = 32,
                   .max_threads_per_block = 1024,
                   .max_threads_per_sm = 2048,
                   .max_shared_per_block_bytes = 232448},
    };
}

/* The fields of at.pattern{...}. Each field is on its own line: `problem` on line 4, `space` on
 * line 5, ..., `extra` on line 10. NULL stands for the default text. */
typedef struct fixture_pattern {
    const char *problem, *space, *where, *baseline, *kernel, *launch, *extra;
} fixture_pattern;

static inline const char *or_else(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

static inline void fixture_write_pattern(const fixture_pattern *p)
{
    static char text[1 << 16];
    snprintf(text, sizeof text,
             "local at = require 'autotune'\nreturn at.pattern {\nname = 'p',\n%s\n%s\n%s\n%s\n%s\n"
             "%s\n%s\n}\n",
             or_else(p->problem, "problem = { n = 1024, dtype = 'float' },"),
             or_else(p->space, "space = { tile = { 1, 2, 4 }, mode = { 'a', 'b' } },"),
             or_else(p->where, ""), or_else(p->baseline, "baseline = { tile = 1, mode = 'a' },"),
             or_else(p->kernel, "kernel = { template = 'p.cu.tmpl' },"),
             or_else(p->launch, "launch = { grid = 1, block = 32 },"), or_else(p->extra, ""));
    fixture_write("p.lua", text);
    if (access(fixture_path("p.cu.tmpl"), F_OK) != 0)
        fixture_write("p.cu.tmpl", "// ${tile}\n");
}

/* Loads p.lua. */
static inline at_status fixture_load(script **out, at_error *error)
{
    script_options options = fixture_options();
    *error = (at_error){0};
    return script_load(fixture_path("p.lua"), &options, out, error);
}

static inline script *fixture_load_pattern(const fixture_pattern *p)
{
    script *s;
    at_error error;
    fixture_write_pattern(p);
    assert_ok(fixture_load(&s, &error), error);
    return s;
}

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" does not contain \"%s\"", (text), (part));                            \
    } while (0)

/* Asserts that loading p.lua fails with this message at this line. */
static inline void fixture_expect_failure(const char *wanted, int line)
{
    script *s;
    at_error error;
    at_status status = fixture_load(&s, &error);
    script_free(s);
    if (status != AT_SCRIPT)
        fail_msg("status %s instead of: %s", status_name(status), wanted);
    assert_contains(error.message, wanted);
    if (error.line != line)
        fail_msg("line %d instead of %d: %s", error.line, line, error.message);
}

#endif
