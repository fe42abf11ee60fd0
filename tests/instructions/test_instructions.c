/* Compares the simulated device with the PTX ISA, for each form of an instruction and for random
 * programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "differences.h"
#include "evaluate.h"
#include "forms.h"
#include "interpret.h"
#include "random_program.h"
#include "simulate.h"

enum { TRIES = 2048, PROGRAMS = 1200, THREADS = 64, MODULE_BYTES = PROGRAM_BYTES + 1024 };

static void *allocate(size_t count)
{
    void *p = calloc(count, sizeof(uint64_t));
    assert_non_null(p);
    return p;
}

/* Generates the first n sets of operands. */
static void operands_of(const form *f, uint32_t n, uint64_t *in)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t sources[FORM_SOURCES];
        form_operands(f, i, 1, sources);
        for (uint32_t s = 0; s < FORM_SOURCES; s++)
            in[s * n + i] = sources[s];
    }
}

static void form_module(const form *f, char *text)
{
    int n = snprintf(text, MODULE_BYTES, "%s", form_module_header);
    form_kernel(f, "k", text + n, (size_t)(MODULE_BYTES - n));
}

static void the_simulator_accepts_every_form_that_is_not_listed(void **state)
{
    (void)state;
    static differences known;
    static char text[MODULE_BYTES];
    form *forms;
    size_t count = forms_list(&forms);
    assert_true(differences_read(&known, TEST_SOURCE_DIR "/tests/gpu/instructions.txt"));
    uint64_t *in = allocate(FORM_SOURCES * TRIES), *out = allocate(2 * TRIES);
    for (size_t i = 0; i < count; i++) {
        at_error error = {0};
        uint64_t expected;
        /* If evaluate() implements a form, few operands are enough here. The next test runs the
         * form with all operands. */
        uint32_t n = evaluate(&forms[i], in, &expected) ? SIMULATE_THREADS : TRIES;
        operands_of(&forms[i], n, in);
        form_module(&forms[i], text);
        bool taken = simulate(text, in, FORM_SOURCES * n, out, 2 * n, n, &error) == AT_OK;
        if (taken == (differences_find(&known, forms[i].name)->state == STATE_REFUSED))
            fail_msg("%s is %s: %s", forms[i].name,
                     taken ? "taken, and listed as refused" : "refused", error.message);
    }
    free(in);
    free(out);
    free(forms);
}

static void every_form_has_the_result_of_the_isa(void **state)
{
    (void)state;
    static char text[MODULE_BYTES];
    form *forms;
    size_t count = forms_list(&forms), described = 0;
    uint64_t *in = allocate(FORM_SOURCES * TRIES), *out = allocate(2 * TRIES);
    for (size_t i = 0; i < count; i++) {
        uint64_t expected;
        at_error error = {0};
        operands_of(&forms[i], TRIES, in);
        if (!evaluate(&forms[i], in, &expected))
            continue;
        described++;
        form_module(&forms[i], text);
        assert_ok(simulate(text, in, FORM_SOURCES * TRIES, out, 2 * TRIES, TRIES, &error), error);
        for (int t = 0; t < TRIES; t++) {
            const uint64_t sources[] = {in[t], in[TRIES + t], in[2 * TRIES + t], in[3 * TRIES + t]};
            assert_true(evaluate(&forms[i], sources, &expected));
            if (out[t] != expected)
                fail_msg("%s of %llx, %llx, %llx, %llx is %llx here and %llx by the ISA",
                         forms[i].name, (unsigned long long)sources[0],
                         (unsigned long long)sources[1], (unsigned long long)sources[2],
                         (unsigned long long)sources[3], (unsigned long long)out[t],
                         (unsigned long long)expected);
        }
    }
    /* evaluate() does not know approximations and instructions of a whole warp. */
    assert_true(described > 2500);
    free(in);
    free(out);
    free(forms);
}

static void random_programs_have_the_results_of_the_isa(void **state)
{
    (void)state;
    enum { INPUTS = PROGRAM_INPUTS * THREADS, OUTPUTS = PROGRAM_REGISTERS * THREADS };
    static const differences nothing;
    const difference *of[PROGRAM_STEPS];
    static char text[MODULE_BYTES];
    form *forms;
    size_t count = forms_list(&forms), drawn_count = 0;
    const form **drawn = allocate(count);
    uint64_t *in = allocate(INPUTS), *out = allocate(OUTPUTS), none[FORM_SOURCES] = {0}, result;
    for (size_t i = 0; i < count; i++)
        if (!strchr(forms[i].body, '[') && evaluate(&forms[i], none, &result))
            drawn[drawn_count++] = &forms[i];
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        random_program p;
        at_error error = {0};
        random_program_make(&p, drawn, drawn_count, seed);
        interpret_known(&p, &nothing, of);
        int n = snprintf(text, sizeof text, "%s", form_module_header);
        random_program_kernel(&p, "k", text + n, sizeof text - (size_t)n);
        for (int t = 0; t < THREADS; t++) {
            uint64_t inputs[PROGRAM_INPUTS];
            random_program_inputs(seed, (uint64_t)t, inputs);
            for (int k = 0; k < PROGRAM_INPUTS; k++)
                in[k * THREADS + t] = inputs[k];
        }
        assert_ok(simulate(text, in, INPUTS, out, OUTPUTS, THREADS, &error), error);
        for (int t = 0; t < THREADS; t++) {
            uint64_t inputs[PROGRAM_INPUTS];
            interpretation expected;
            random_program_inputs(seed, (uint64_t)t, inputs);
            assert_true(interpret(&p, of, inputs, &expected));
            for (int k = 0; k < PROGRAM_REGISTERS; k++)
                if (out[k * THREADS + t] != expected.registers[k])
                    fail_msg(
                        "seed %llu, thread %d: register %d is %llx here and %llx by the ISA\n%s",
                        (unsigned long long)seed, t, k, (unsigned long long)out[k * THREADS + t],
                        (unsigned long long)expected.registers[k], text);
        }
    }
    free(drawn);
    free(in);
    free(out);
    free(forms);
}

/* Returns a program with this first step. All other steps load inputs that are not used. */
static random_program program_of(const form *f, int result, int first, int second)
{
    random_program p = {0};
    for (int i = 0; i < PROGRAM_STEPS; i++)
        p.steps[i] = (program_step){.result = PROGRAM_SHORT - 1, .guard = -1};
    p.steps[0].form = f;
    p.steps[0].result = result;
    p.steps[0].sources[0].number = first;
    p.steps[0].sources[1].number = second;
    return p;
}

static const form *form_called(const form *forms, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    fail_msg("there is no form %s", name);
    return NULL;
}

static void only_values_computed_from_an_open_nan_are_open(void **state)
{
    (void)state;
    static const differences known = {.lines = {{.pattern = "add.f64", .among = AMONG_NAN}},
                                      .count = 1};
    enum { X = PROGRAM_SHORT + PROGRAM_WORDS, P = PROGRAM_REGISTERS - PROGRAM_FLAGS };
    form *forms;
    size_t count = forms_list(&forms);
    const difference *of[PROGRAM_STEPS];
    uint64_t inputs[PROGRAM_INPUTS] = {0};
    interpretation seen;
    random_program p = program_of(form_called(forms, count, "add.f64"), X, X + 1, X + 2);
    random_program then = program_of(form_called(forms, count, "xor.b64"), X + 3, X + 4, X);
    p.steps[1] = then.steps[0];
    interpret_known(&p, &known, of);

    inputs[X + 1] = 0x7ff8000000000000;
    assert_true(interpret(&p, of, inputs, &seen));
    assert_true(seen.open[X] && seen.open[X + 3]);
    assert_false(seen.open[X + 1] || seen.open[X + 4]);

    /* A number is not open. A register is no longer open after another write. */
    inputs[X + 1] = 0x3ff0000000000000;
    assert_true(interpret(&p, of, inputs, &seen));
    assert_false(seen.open[X] || seen.open[X + 3]);
    inputs[X + 1] = 0x7ff8000000000000;
    p.steps[2] = (program_step){.result = X, .guard = -1};
    interpret_known(&p, &known, of);
    assert_true(interpret(&p, of, inputs, &seen));
    assert_true(!seen.open[X] && seen.open[X + 3]);

    /* The result is open under a guard only if the guard is true. First, the guard is false. */
    p.steps[1].guard = P;
    assert_true(interpret(&p, of, inputs, &seen));
    assert_false(seen.open[X + 3]);
    inputs[P] = 1;
    assert_true(interpret(&p, of, inputs, &seen));
    assert_true(seen.open[X + 3]);
    free(forms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_simulator_accepts_every_form_that_is_not_listed),
        cmocka_unit_test(every_form_has_the_result_of_the_isa),
        cmocka_unit_test(random_programs_have_the_results_of_the_isa),
        cmocka_unit_test(only_values_computed_from_an_open_nan_are_open),
    };
    return cmocka_run_group_tests_name("instructions", tests, NULL, NULL);
}
