/* A pool of compile workers and sources for it. The workers are real processes with NVRTC. */
#ifndef AUTOTUNE_POOL_FIXTURE_H
#define AUTOTUNE_POOL_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile/compile.h"

static const char plain[] = "extern \"C\" __global__ void k(int *p) { *p = 1; }";

static inline compile_request request_of(uint64_t id, const char *source)
{
    return (compile_request){
        .id = id, .source = source, .name = "test.cu", .entry = "k", .arch = "sm_90"};
}

static inline compile_pool *open_pool(int jobs, int timeout_s)
{
    at_error error = {0};
    compile_pool *pool;
    compile_options o = {.jobs = jobs, .timeout_s = timeout_s};
    assert_ok(compile_pool_new(&o, &pool, &error), error);
    return pool;
}

static inline compile_result compile_one(compile_pool *pool, const compile_request *r)
{
    at_error error = {0};
    compile_result result;
    assert_ok(compile_submit(pool, r, &error), error);
    assert_ok(compile_take(pool, -1, &result, &error), error);
    assert_int_equal(result.id, r->id);
    return result;
}

/* Returns a source that the preprocessor expands for hours in little memory. Each macro contains
 * the previous macro twice, and the first macro is empty. */
static inline char *endless_source(void)
{
    enum { DOUBLINGS = 50 };
    char *source = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&source, &size);
    assert_non_null(f);
    fputs("#define D0\n", f);
    for (int i = 1; i <= DOUBLINGS; i++)
        fprintf(f, "#define D%d D%d D%d\n", i, i - 1, i - 1);
    fprintf(f, "extern \"C\" __global__ void k(int *p) { D%d }", DOUBLINGS);
    assert_int_equal(fclose(f), 0);
    return source;
}

#endif
