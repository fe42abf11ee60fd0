/* Fuzzes scripts. Any text must be a pattern with all its parts, or an error with a reason. */
#include "script/emit.h"
#include "script_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_space(script *s, problem_kind kind)
{
    const pattern *p = script_pattern(s);
    double product = 1;
    for (size_t i = 0; i < p->parameter_count; i++)
        product *= (double)p->parameters[i].value_count;
    space *made;
    if (product > 1e4 || script_space(s, kind, &made, NULL))
        return;
    uint16_t indices[64];
    uint64_t index;
    for (uint64_t i = 0; i < space_count(made); i++) {
        space_at(made, i, indices);
        if (!space_find(made, indices, &index) || index != i)
            abort();
    }
    space_free(made);
}

static void ask(script *s, problem_kind kind)
{
    const pattern *p = script_pattern(s);
    at_error error = {0};
    problem_plan problem;
    launch_plan launch;
    emitted out;
    bool valid;
    size_t broken;
    script_problem_plan(s, kind, NULL, 1, &problem, &error);
    script_valid(s, kind, p->baseline, &valid, &broken, &error);
    script_launch_plan(s, kind, p->baseline, &launch, &error);
    script_reference_plan(s, kind, NULL, &launch, &error);
    script_filler_plan(s, kind, NULL, &launch, &error);
    if (emit_filler(s, kind, NULL, false, &out, &error) == AT_OK)
        emitted_deinit(&out);
    if (emit_variant(s, kind, p->baseline, true, &out, &error) == AT_OK)
        emitted_deinit(&out);
    if (emit_reference(s, kind, NULL, false, &out, &error) == AT_OK)
        emitted_deinit(&out);
    ask_space(s, kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = write_input("p.lua", data, size);
    script_options options = tight_options();
    script *s;
    at_error error = {0};
    at_status status = script_load(path, &options, &s, &error);
    if (status) {
        if (s || error.status != status || error.message[0] == '\0')
            abort();
        return 0;
    }
    for (int kind = 0; kind < PROBLEM_KINDS; kind++)
        ask(s, (problem_kind)kind);
    script_free(s);
    return 0;
}
