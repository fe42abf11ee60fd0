/* Kernels of (int *in, int *out) with a mistake, and the message of the fault. */
#ifndef AUTOTUNE_TESTS_FAULT_FIXTURE_H
#define AUTOTUNE_TESTS_FAULT_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "sim_fixture.h"

/* Asserts that the message contains some parts in this order. `parts` has the parts with " ... "
 * between. */
static inline void assert_story(const sim_test *t, const char *parts)
{
    const char *at = t->fault.message;
    for (const char *end; parts; parts = end ? end + 5 : NULL) {
        char part[256];
        end = strstr(parts, " ... ");
        snprintf(part, sizeof part, "%.*s", (int)(end ? end - parts : (long)strlen(parts)), parts);
        at = strstr(at, part);
        if (!at)
            fail_msg("\"%s\" does not say \"%s\"", t->fault.message, part);
    }
}

/* Runs a kernel of (int *in, int *out) on `blocks` blocks of `threads` threads. Each buffer has
 * 64 elements. */
static inline sim_fault_kind run_on(int host_threads, sim_test *t, const char *source,
                                    uint32_t blocks, uint32_t threads)
{
    static int in[64], out[64];
    for (int i = 0; i < 64; i++)
        in[i] = i;
    sim_test_init(t, source, "sm_90", NULL);
    t->threads = host_threads;
    sim_test_u64(t, sim_test_buffer(t, "in", in, sizeof in, true));
    sim_test_u64(t, sim_test_buffer(t, "out", out, sizeof out, false));
    return sim_test_run(t, blocks, 1, threads, 1, 0);
}

static inline sim_fault_kind run_grid(sim_test *t, const char *source, uint32_t blocks,
                                      uint32_t threads)
{
    return run_on(0, t, source, blocks, threads);
}

static inline sim_fault_kind run(sim_test *t, const char *source, uint32_t threads)
{
    return run_grid(t, source, 1, threads);
}

/* Asserts that a kernel with this body has this fault, and a message with these parts. */
static inline void assert_fault(const char *body, uint32_t blocks, uint32_t threads,
                                sim_fault_kind kind, const char *story)
{
    sim_test t;
    char source[1024];
    snprintf(source, sizeof source, "extern \"C\" __global__ void k(int *in, int *out)\n{ %s }\n",
             body);
    sim_fault_kind found = run_grid(&t, source, blocks, threads);
    if (found != kind)
        fail_msg("%s: fault %d (%s), not %d", body, found, t.fault.message, kind);
    if (story)
        assert_story(&t, story);
    sim_test_deinit(&t);
}

/* Calls assert_fault() with form[0], part and form[1] joined to a body. */
static inline void assert_fault_with(const char *const form[2], const char *part, uint32_t blocks,
                                     uint32_t threads, sim_fault_kind kind, const char *story)
{
    char body[768];
    snprintf(body, sizeof body, "%s%s%s", form[0], part, form[1]);
    assert_fault(body, blocks, threads, kind, story);
}

#endif
