/* The simulated device computes what the PTX ISA says: each form of an instruction, and random
 * programs of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "differences.h"
#include "evaluate.h"
#include "forms.h"
#include "random_program.h"
#include "simulate.h"

enum { TRIES = 2048, PROGRAMS = 1200, THREADS = 64, MODULE_BYTES = PROGRAM_BYTES + 1024 };

static void *allocate(size_t count)
{
    void *p = calloc(count, sizeof(uint64_t));
    assert_non_null(p);
    return p;
}

static void operands_of(const form *f, uint64_t *in)
{
    for (int i = 0; i < TRIES; i++) {
        uint64_t sources[FORM_SOURCES];
        form_operands(f, (size_t)i, 1, sources);
        for (int s = 0; s < FORM_SOURCES; s++)
            in[s * TRIES + i] = sources[s];
    }
}

static void form_module(const form *f, char *text)
{
    int n = snprintf(text, MODULE_BYTES, "%s", form_module_header);
    form_kernel(f, "k", text + n, (size_t)(MODULE_BYTES - n));
}

static void the_simulator_takes_every_form_but_those_that_are_listed(void **state)
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
        operands_of(&forms[i], in);
        form_module(&forms[i], text);
        bool taken =
            simulate(text, in, FORM_SOURCES * TRIES, out, 2 * TRIES, TRIES, &error) == AT_OK;
        if (taken == (differences_find(&known, forms[i].name)->state == STATE_REFUSED))
            fail_msg("%s is %s: %s", forms[i].name,
                     taken ? "taken, and listed as refused" : "refused", error.message);
    }
    free(in);
    free(out);
    free(forms);
}

static void every_form_gives_what_the_isa_says(void **state)
{
    (void)state;
    static char text[MODULE_BYTES];
    form *forms;
    size_t count = forms_list(&forms), described = 0;
    uint64_t *in = allocate(FORM_SOURCES * TRIES), *out = allocate(2 * TRIES);
    for (size_t i = 0; i < count; i++) {
        uint64_t expected;
        at_error error = {0};
        operands_of(&forms[i], in);
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
    /* What is left are approximations and what concerns a whole warp. */
    assert_true(described > 2500);
    free(in);
    free(out);
    free(forms);
}

/* The registers of a thread after the program. */
static void interpret(const random_program *p, const uint64_t *inputs, uint64_t *registers)
{
    memcpy(registers, inputs, PROGRAM_REGISTERS * sizeof *registers);
    for (int i = 0; i < PROGRAM_REGISTERS; i++)
        registers[i] = random_program_register(i, inputs[i]);
    for (int i = 0; i < PROGRAM_STEPS; i++) {
        const program_step *s = &p->steps[i];
        uint64_t sources[FORM_SOURCES] = {0}, result;
        if (!s->form) {
            registers[s->result] =
                random_program_register(s->result, inputs[PROGRAM_REGISTERS + s->fresh]);
            continue;
        }
        for (int k = 0; s->form->sources[k]; k++)
            sources[k] =
                s->sources[k].number < 0 ? s->sources[k].bits : registers[s->sources[k].number];
        assert_true(evaluate(s->form, sources, &result));
        if (s->guard < 0 || (registers[s->guard] != 0) != s->guard_negated)
            registers[s->result] = result;
    }
}

static void random_programs_do_what_the_isa_says(void **state)
{
    (void)state;
    enum { INPUTS = PROGRAM_INPUTS * THREADS, OUTPUTS = PROGRAM_REGISTERS * THREADS };
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
            uint64_t inputs[PROGRAM_INPUTS], registers[PROGRAM_REGISTERS];
            random_program_inputs(seed, (uint64_t)t, inputs);
            interpret(&p, inputs, registers);
            for (int k = 0; k < PROGRAM_REGISTERS; k++)
                if (out[k * THREADS + t] != registers[k])
                    fail_msg(
                        "seed %llu, thread %d: register %d is %llx here and %llx by the ISA\n%s",
                        (unsigned long long)seed, t, k, (unsigned long long)out[k * THREADS + t],
                        (unsigned long long)registers[k], text);
        }
    }
    free(drawn);
    free(in);
    free(out);
    free(forms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_simulator_takes_every_form_but_those_that_are_listed),
        cmocka_unit_test(every_form_gives_what_the_isa_says),
        cmocka_unit_test(random_programs_do_what_the_isa_says),
    };
    return cmocka_run_group_tests_name("instructions", tests, NULL, NULL);
}
