/* Tests counts of machine instructions for each pipe, from the notes in the PTX. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sim/kernel.h"
#include "sim/profile.h"

enum { TURNS = 100 };

/* A loop that ptxas unrolled into a loop of four iterations and a loop of single iterations. */
static const char looped[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k(.param .u32 n)\n{\n"
                             ".reg .pred %p<2>;\n.reg .b32 %r<3>;\n.reg .f32 %f<2>;\n"
                             "ld.param.u32 %r1, [n];\n"
                             "mov.u32 %r2, 0;\n"
                             "mov.f32 %f1, 0f00000000;\n"
                             "$L1:\n"
                             "fma.rn.f32 %f1, %f1, %f1, %f1; //@ 5 0 0 0 3 0 0\n"
                             "add.s32 %r2, %r2, 1; //@ 0 5 0 0 0 0 0\n"
                             "setp.lt.s32 %p1, %r2, %r1; //@ 0 2 0 0 0 0 0\n"
                             "@%p1 bra $L1; //@ 0 0 0 0 0 2 0\n"
                             "ret; //@ 0 0 0 0 0 1 0\n}\n";

static sim_issue issue_of(const char *text)
{
    sim_kernel k;
    sim_issue out;
    at_error error = {0};
    const char *const entry = "k";
    assert_ok(sim_kernel_init(&k, text, strlen(text), "k.ptx", &entry, 1, &error), error);
    const sim_program *p = k.programs[0];
    sim_counter *counters = calloc(p->code_count, sizeof *counters);
    assert_non_null(counters);
    for (size_t i = 0; i < p->code_count; i++)
        if (p->code[i].statement != PTX_NONE)
            counters[i].issued = p->module->statements[p->code[i].statement].line > 11 ? TURNS : 1;
    sim_issue_find(p, counters, 1, &out);
    free(counters);
    sim_kernel_deinit(&k);
    return out;
}

TEST(copies_of_an_unrolled_loop_share_its_iterations)
{
    const sim_issue found = issue_of(looped);
    assert_float_equal(found.pipes[SIM_PIPE_FLOAT], TURNS, 1e-9);
    assert_float_equal(found.pipes[SIM_PIPE_INTEGER], TURNS * 7 / 5.0, 1e-9);
    assert_float_equal(found.locals, TURNS * 3 / 5.0, 1e-9);
}

TEST(without_notes_spill_accesses_are_unknown)
{
    char plain[sizeof looped];
    memcpy(plain, looped, sizeof plain);
    for (char *at = plain; (at = strstr(at, "//@")) != NULL;)
        memcpy(at, "// ", 3);
    assert_true(issue_of(plain).locals < 0);
}

TEST(a_warpgroup_product_counts_as_work_for_each_eight_columns)
{
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 d)\n{\n.reg .f32 %f<16>;\n.reg .b64 %rd<2>;\n"
        "ld.param.u64 %rd1, [d];\n"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, "
        "%f7, %f8, %f9, %f10, %f11, %f12, %f13, %f14, %f15}, %rd1, %rd1, 0, 1, 1, 0, 0;\n"
        "wgmma.commit_group.sync.aligned;\n}\n";
    const sim_issue found = issue_of(text);
    assert_float_equal(found.pipes[SIM_PIPE_MATRIX], 4, 1e-9);
    assert_float_equal(found.total, 3, 1e-9);
}
