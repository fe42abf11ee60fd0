/* Tests exported kernels. The launches of a configuration must be the same in C and in Lua. A
 * program that nvcc or clang compiles must make the library's launches. The program runs on a
 * fake CUDA runtime that prints launches. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "check.h"
#include "cmd/export/kernels.h"
#include "export_fixture.h"
#include "library/pattern.h"
#include "record/pick.h"
#include "run/setup/setup.h"
#include "script/emit.h"
#include "temporary.h"

enum {
    VALUE_BYTES = 64,
    CONFIGURATIONS = 4,
    BUFFER_ADDRESS = 0x10000,
    BALANCED = 2 /* cudaClusterSchedulingPolicyLoadBalancing */
};

typedef struct subject {
    settings run;
    char path[512];
    script *script;
    record record;
    record_set records;
    export_model model;
    kernel_problems problems;
} subject;

static arch_limits here(void)
{
    arch_limits limits;
    at_error error = {0};
    assert_ok(arch_find("sm_90", &limits, &error), error);
    snprintf(limits.name, sizeof limits.name, "NVIDIA H200");
    return limits;
}

/* Loads the script `file`, a path below the project's folder. `recorded` is the JSON of a record,
 * or NULL. */
static void subject_open(subject *s, const char *file, const char *recorded)
{
    at_error error = {0};
    const arch_limits limits = here();
    options o = {0};
    *s = (subject){.records = {0, &s->record}};
    snprintf(s->path, sizeof s->path, "%s/%s.lua", TEST_SOURCE_DIR, file);
    s->run.pattern.script = s->path;
    assert_ok(target_load_script(&s->run, &limits, &s->script, &error), error);
    if (recorded) {
        assert_ok(record_parse(recorded, strlen(recorded), "r.json", NULL, &s->record, &error),
                  error);
        s->records.count = 1;
    }
    assert_ok(
        exported_model(script_pattern(s->script)->name, &s->records, s->script, &s->model, &error),
        error);
    kernel_ptx ptx = {0};
    assert_ok(exported_kernels(&o, &s->run, &s->records, s->script, &s->model, &s->problems, &ptx,
                               &error),
              error);
    kernel_ptx_deinit(&ptx);
}

static void subject_close(subject *s)
{
    export_model_deinit(&s->model);
    kernel_problems_deinit(&s->problems);
    record_deinit(&s->record);
    script_free(s->script);
}

static void write_file(const char *folder, const char *name, const char *text, size_t size_bytes)
{
    char path[TEMPORARY_BYTES + 80];
    at_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(file_replace(path, text, size_bytes, &error), error);
}

/* Runs shell commands in the folder. Returns the text of the file `out`, which they must write. */
static char *run(const char *folder, const char *commands)
{
    char line[4096], path[TEMPORARY_BYTES + 16], *text;
    at_error error = {0};
    snprintf(line, sizeof line, "cd %s && (%s) >log 2>&1", folder, commands);
    int status = system(line);
    snprintf(path, sizeof path, "%s/%s", folder, status ? "log" : "out");
    assert_ok(file_read(path, 1 << 26, &text, NULL, &error), error);
    if (status)
        fail_msg("%s: %.3000s", commands, text);
    return text;
}

/* Loads the script for a random valid problem, or returns NULL. */
static script *random_problem(const subject *s, rng *r)
{
    static const char *const types[] = {"float", "double", "half", "int32", "uint8"};
    char texts[SETTINGS_MAX_VARIABLES][VALUE_BYTES];
    const pattern *p = script_pattern(s->script);
    const arch_limits limits = here();
    settings with = s->run;
    script *out;
    at_error error = {0};
    for (size_t i = 0; i < p->problem_count; i++) {
        const pattern_variable *v = &p->problems[PROBLEM_TUNED][i];
        char *text = texts[with.pattern.variable_count];
        if (strcmp(v->name, "steps") == 0) /* with `steps` = 0 the pattern has no launch */
            snprintf(text, VALUE_BYTES, "%" PRIu64, rng_below(r, 40));
        else if (v->value.kind == VALUE_INTEGER)
            snprintf(text, VALUE_BYTES, "%" PRIu64,
                     1 + rng_below(r, (uint64_t)2 << rng_below(r, 20)));
        else if (v->value.kind == VALUE_NUMBER)
            snprintf(text, VALUE_BYTES, "%.6g",
                     100 * (double)rng_below(r, 1 << 20) / (1 << 20) - 50);
        else if (strcmp(v->name, "dtype") == 0)
            snprintf(text, VALUE_BYTES, "%s", types[rng_below(r, 5)]);
        else if (strcmp(v->name, "axis") == 0)
            snprintf(text, VALUE_BYTES, "%s", rng_below(r, 2) ? "rows" : "columns");
        else
            continue;
        with.pattern.variables[with.pattern.variable_count++] = (script_setting){v->name, text};
    }
    return target_load_script(&with, &limits, &out, &error) ? NULL : out;
}

/* ---- expected launches ---- */

static void print_bytes(FILE *to, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%02x", ((const unsigned char *)bytes)[i]);
}

static void print_shapes(FILE *to, const kernel_launch *l)
{
    fprintf(to, " %u,%u,%u %u,%u,%u %u,%u,%u %u %d %d", l->grid[0], l->grid[1], l->grid[2],
            l->block[0], l->block[1], l->block[2], l->cluster[0], l->cluster[1], l->cluster[2],
            l->dynamic_shared_bytes, l->balanced ? BALANCED : 0, (int)l->cooperative);
}

static void print_arguments(FILE *to, const launch_plan *plan, const kernel_launch *l)
{
    for (uint32_t i = 0; i < l->argument_count; i++) {
        const argument_plan *a = &plan->arguments[l->first_argument + i];
        const uint64_t address = (uint64_t)BUFFER_ADDRESS * (a->buffer + 1u);
        fputc(' ', to);
        if (a->is_buffer)
            print_bytes(to, &address, sizeof address);
        else
            print_bytes(to, plan_argument_value(plan, a), a->size_bytes);
    }
}

/* Prints the launches of a configuration as "entry GRID BLOCK ... ARGUMENTS; ...: BYTES BYTES", or
 * "fails". */
static void expect_plan(FILE *to, script *s, const uint16_t *indices)
{
    launch_plan plan;
    problem_plan problem;
    at_error error = {0};
    if (script_launch_plan(s, PROBLEM_TUNED, indices, &plan, &error) ||
        script_problem_plan(s, PROBLEM_TUNED, indices, 1, &problem, &error)) {
        fputs("fails\n", to);
        return;
    }
    launch_walk walk = {0};
    while (plan_walk(&plan, &walk)) {
        fputs(plan_entry(&plan, walk.place), to);
        print_shapes(to, &plan.launches[walk.place]);
        print_arguments(to, &plan, &plan.launches[walk.place]);
        fputs("; ", to);
    }
    for (uint32_t i = 0; i < problem.buffer_count; i++)
        fprintf(to, " %" PRIu64, plan_buffer_bytes(&problem.buffers[i]));
    fputs("\n", to);
}

/* C code that prints an autotune_plan as expect_plan() does. */
static const char shower[] =
    "static void show(bool fine, const autotune_plan *p, const char *const *entries)\n"
    "{\n"
    "    if (!fine) {\n"
    "        puts(\"fails\");\n"
    "        return;\n"
    "    }\n"
    "    int place = -1;\n"
    "    unsigned round = 0;\n"
    "    while (autotune_launch_next(p, &place, &round)) {\n"
    "        const autotune_launch *l = &p->launches[place];\n"
    "        printf(\"%s %u,%u,%u %u,%u,%u %u,%u,%u %u %d %d\", entries[l->entry], l->grid[0],\n"
    "               l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->cluster[0],\n"
    "               l->cluster[1], l->cluster[2], l->shared_bytes, l->balanced ? 2 : 0,\n"
    "               (int)l->cooperative);\n"
    "        for (int j = 0; j < l->argument_count; j++) {\n"
    "            const autotune_argument *a = &p->arguments[l->first_argument + j];\n"
    "            uint64_t address = 0x10000 * (uint64_t)(a->buffer + 1);\n"
    "            const void *bytes = a->buffer >= 0      ? (const void *)&address\n"
    "                                : a->size_bytes > 8 ? (const void *)(p->structs + a->bits)\n"
    "                                                    : (const void *)&a->bits;\n"
    "            putchar(' ');\n"
    "            for (unsigned b = 0; b < a->size_bytes; b++)\n"
    "                printf(\"%02x\", ((const unsigned char *)bytes)[b]);\n"
    "        }\n"
    "        printf(\"; \");\n"
    "    }\n"
    "    for (int i = 0; i < p->buffer_count; i++)\n"
    "        printf(\" %\" PRIu64, p->buffer_bytes[i]);\n"
    "    puts(\"\");\n"
    "}\n\n";

static void compare_lines(char *said, char *wanted, long least)
{
    char *said_save, *wanted_save;
    long lines = 0, fails = 0;
    char *a = strtok_r(said, "\n", &said_save), *b = strtok_r(wanted, "\n", &wanted_save);
    for (; a && b; lines++) {
        if (strcmp(a, b) != 0)
            fail_msg("line %ld: C says\n%s\nand Lua\n%s", lines + 1, a, b);
        fails += strcmp(a, "fails") == 0;
        a = strtok_r(NULL, "\n", &said_save);
        b = strtok_r(NULL, "\n", &wanted_save);
    }
    assert_null(a);
    assert_null(b);
    /* Most launches must be valid, or the test would show little. */
    assert_true(lines >= least && fails < lines / 2);
}

/* ---- launches in C ---- */

/* Writes questions about random problems. The first configuration of each problem is the
 * baseline with the values `given`, and the others are random. */
static void ask_subject(const subject *s, const char *given, rng *r, int problems, FILE *source,
                        FILE *expected)
{
    const pattern *p = script_pattern(s->script);
    at_error error = {0};
    fprintf(source, "static void ask_%s(void)\n{\n    static const char *const entries[] = {",
            p->name);
    for (size_t i = 0; i < s->model.launch.entry_count; i++)
        fprintf(source, "%s\"%s\"", i ? ", " : "", s->model.launch.entries[i]);
    fputs("};\n    autotune_plan plan;\n", source);
    for (int n = 0; n < problems; n++) {
        script *with = random_problem(s, r);
        if (!with)
            continue;
        fprintf(source, "    {\n        static const autotune_%s_problem p = ", p->name);
        print_c_problem(source, &s->model, script_pattern(with));
        fprintf(source, ";\n        static const autotune_%s_config c[] = {", p->name);
        for (int c = 0; c < CONFIGURATIONS; c++) {
            uint16_t indices[RECORD_MAX_VALUES];
            for (size_t i = 0; i < p->parameter_count; i++)
                indices[i] = c == 0 || rng_below(r, 2)
                                 ? p->baseline[i]
                                 : (uint16_t)rng_below(r, p->parameters[i].value_count);
            if (c == 0 && given)
                assert_ok(script_parse_configuration(s->script, given, indices, &error), error);
            print_c_configuration(source, &s->model, p, indices);
            fputs(",\n            ", source);
            expect_plan(expected, with, indices);
        }
        fprintf(
            source,
            "};\n        for (int i = 0; i < %d; i++)\n"
            "            show(autotune_%s_evaluate(&device, &p, &c[i], &plan), &plan, entries);\n"
            "    }\n",
            CONFIGURATIONS, p->name);
        script_free(with);
    }
    fputs("}\n\n", source);
}

/* A record of problems with few columns and many rows, for which kernels use clusters. */
static const char columns_record[] =
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"loop_order\", \"gpu\": "
    "\"NVIDIA H200\","
    " \"compute_capability\": \"9.0\", \"entries\": ["
    "{\"problem\": {\"rows\": 16384, \"cols\": 256, \"axis\": \"columns\", \"dtype\": \"float\"},"
    " \"configuration\": {\"algorithm\": \"tile\", \"block\": 256, \"lanes\": 32, \"share\": 16, "
    "\"waves\": 2,"
    " \"vec\": 4, \"unroll\": 2, \"accumulators\": 1, \"load_hint\": \"none\"},"
    " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}}]}";

TEST(launches_in_c_are_those_of_the_script)
{
    /* clang-format off */
    static const char *const files[] = {
        "tests/fixtures/scale", "tests/fixtures/separable", "tests/fixtures/two_pass_sum",
        "tests/fixtures/luma", "tests/fixtures/particles", "tests/fixtures/copied",
        "tests/fixtures/csr", "lua/aos_soa", "lua/bank_conflict", "lua/batched_transpose",
        "lua/conv2d", "lua/dot", "lua/gather", "lua/histogram", "lua/loop_order", "lua/matmul",
        "lua/misaligned", "lua/rgb", "lua/stencil1d", "lua/strided", "lua/transpose",
        "lua/vector_add", "tests/fixtures/clustered", "tests/fixtures/stepped"
    };
    /* clang-format on */
    enum { FILES = sizeof files / sizeof *files, PROBLEMS = 6 };
    char folder[TEMPORARY_BYTES], *source, *expected, *calls;
    size_t source_size, expected_size, calls_size;
    rng r = rng_seeded(3);
    const arch_limits limits = here();
    temporary_make(folder);
    FILE *to = open_memstream(&source, &source_size),
         *wanted = open_memstream(&expected, &expected_size),
         *last = open_memstream(&calls, &calls_size);
    fputs("#include <inttypes.h>\n#include <stdio.h>\n", to);
    for (size_t i = 0; i < FILES; i++)
        fprintf(to, "#include \"%s.h\"\n", strrchr(files[i], '/') + 1);
    fputs(shower, to);
    fputs("static const autotune_device device = ", to);
    print_c_device(to, &limits);
    fputs(";\n\n", to);
    fputs("int main(void)\n{\n", last);
    for (size_t i = 0; i < FILES; i++) {
        char name[80];
        subject s;
        const bool sums = strcmp(files[i], "lua/loop_order") == 0,
                   clustered = strcmp(files[i], "tests/fixtures/clustered") == 0;
        subject_open(&s, files[i], sums ? columns_record : NULL);
        const export_model *models[] = {&s.model};
        size_t size;
        char *header = exported_text("cuda", models, 1, 1, &size);
        snprintf(name, sizeof name, "%s.h", s.model.pattern);
        write_file(folder, name, header, size);
        free(header);
        /* The first configuration has clusters, because random configurations may have none. */
        ask_subject(&s,
                    sums        ? "algorithm=tile,lanes=32,cluster=8,vec=4"
                    : clustered ? "size=4,balanced=true"
                                : NULL,
                    &r, PROBLEMS, to, wanted);
        fprintf(last, "    ask_%s();\n", s.model.pattern);
        subject_close(&s);
    }
    fputs("    return 0;\n}\n", last);
    fclose(last);
    fputs(calls, to);
    fclose(to);
    fclose(wanted);
    write_file(folder, "main.c", source, source_size);
    char *out = run(folder, "cc -std=c11 -Wall -Wextra -Werror -Wno-missing-field-initializers "
                            "-DAUTOTUNE_WITHOUT_CUDA main.c -o main && ./main >out");
    assert_non_null(strstr(expected, " 8,1,1 0 0 0"));
    assert_non_null(strstr(expected, " 4,1,1 0 2 "));
    compare_lines(out, expected, FILES * PROBLEMS);
    free(out);
    free(source);
    free(expected);
    free(calls);
    temporary_remove(folder);
}

/* ---- a program of nvcc ---- */

/* Returns the index of the source that has the configuration's kernels, or -1. */
static int source_of(const subject *s, script *with, const uint16_t *indices)
{
    emitted variant;
    at_error error = {0};
    int found = -1;
    /* The template fails for a radius of thousands, so no source has such a configuration. */
    if (emit_variant(with, PROBLEM_TUNED, indices, false, &variant, &error))
        return -1;
    for (size_t i = 0; i < s->model.kernels.source_count; i++)
        if (strcmp(s->model.kernels.sources[i].text, variant.source) == 0)
            found = (int)i;
    emitted_deinit(&variant);
    return found;
}

static bool has_kernel(void *context, const record_values *configuration)
{
    const struct {
        const subject *s;
        library_check check;
    } *c = context;
    uint16_t indices[RECORD_MAX_VALUES];
    library_check check = c->check;
    return library_fits(&check, configuration) &&
           record_indices(script_pattern(check.script), configuration, indices) &&
           source_of(c->s, check.script, indices) >= 0;
}

/* Prints the library's pick and its launches, if the exported file has the kernel of the pick. */
static void expect_launches(FILE *to, const subject *s, script *with)
{
    uint16_t indices[RECORD_MAX_VALUES];
    record_pair pairs[RECORD_MAX_VALUES];
    const record_values problem = library_script_problem(script_pattern(with), pairs);
    struct {
        const subject *s;
        library_check check;
    } check = {s, {.script = with}};
    const pick_target target = {.gpu = "NVIDIA H200",
                                .major = 9,
                                .minor = 0,
                                .problem = &problem,
                                .fits = has_kernel,
                                .context = &check,
                                .fallback = &s->model.defaults};
    pick_candidate found;
    launch_plan plan;
    problem_plan buffers;
    at_error error = {0};
    if (pick(&s->records, &target, &found) == PICK_NONE) {
        fputs("none\n", to);
        return;
    }
    assert_true(record_indices(script_pattern(with), found.configuration, indices));
    int source = source_of(s, with, indices);
    assert_ok(script_launch_plan(with, PROBLEM_TUNED, indices, &plan, &error), error);
    assert_ok(script_problem_plan(with, PROBLEM_TUNED, indices, 1, &buffers, &error), error);
    for (uint32_t i = 0; i < plan.launch_count; i++)
        if (plan.launches[i].dynamic_shared_bytes > 48 * 1024)
            fprintf(to, "allow autotune_%s_kernel_%d::%s shared %u\n", s->model.pattern, source,
                    plan_entry(&plan, i), plan.launches[i].dynamic_shared_bytes);
    for (uint32_t i = 0; i < plan.constant_count; i++)
        fprintf(to, "fill autotune_%s_kernel_%d::%s %" PRIu64 " bytes at 0 from %x\n",
                s->model.pattern, source, plan.constants[i].name,
                plan_buffer_bytes(&buffers.buffers[plan.constants[i].buffer]),
                BUFFER_ADDRESS * (plan.constants[i].buffer + 1));
    launch_walk walk = {0};
    while (plan_walk(&plan, &walk)) {
        const kernel_launch *launch = &plan.launches[walk.place];
        fprintf(to, "launch autotune_%s_kernel_%d::%s", s->model.pattern, source,
                plan_entry(&plan, walk.place));
        print_shapes(to, launch);
        print_arguments(to, &plan, launch);
        fputs("\n", to);
    }
}

/* Writes code that calls plan and run, and that passes the arguments' sizes to the runtime. */
static void write_caller(FILE *to, const subject *s)
{
    const char *name = s->model.pattern;
    fprintf(to,
            "static void call_%s(autotune_%s_problem problem)\n{\n"
            "    autotune_%s_buffers buffers;\n"
            "    autotune_plan plan;\n"
            "    fake_size_count = 0;\n",
            name, name, name);
    for (size_t i = 0; i < s->model.launch.buffer_count; i++)
        fprintf(to, "    buffers.%s = (void *)0x%zx;\n", s->model.launch.buffers[i],
                BUFFER_ADDRESS * (i + 1));
    fprintf(to,
            "    cudaError_t status = autotune_%s_plan(NULL, &problem, NULL, &plan);\n"
            "    if (status == cudaErrorNotSupported) {\n"
            "        puts(\"none\");\n"
            "        return;\n"
            "    }\n"
            "    int place = -1;\n"
            "    unsigned round = 0;\n"
            "    while (autotune_launch_next(&plan, &place, &round)) {\n"
            "        const autotune_launch *l = &plan.launches[place];\n"
            "        for (int j = 0; j < l->argument_count; j++)\n"
            "            fake_sizes[fake_size_count++] = plan.arguments[l->first_argument + "
            "j].size_bytes;\n"
            "        fake_sizes[fake_size_count++] = 0;\n"
            "    }\n"
            "    if (autotune_%s_run(&plan, &buffers, NULL) != cudaSuccess)\n"
            "        puts(\"refused\");\n"
            "}\n\n",
            name, name);
}

static const char scale_record[] =
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"scale\", \"gpu\": \"NVIDIA "
    "H200\","
    " \"compute_capability\": \"9.0\", \"entries\": ["
    "{\"problem\": {\"n\": 4096, \"scale\": 3.0, \"dtype\": \"float\"},"
    " \"configuration\": {\"block\": 128, \"vec\": 4, \"cached\": false},"
    " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}},"
    "{\"problem\": {\"n\": 1000001, \"scale\": 3.0, \"dtype\": \"float\"},"
    " \"configuration\": {\"block\": 512, \"vec\": 1, \"cached\": true},"
    " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}},"
    "{\"problem\": {\"n\": 65536, \"scale\": 3.0, \"dtype\": \"half\"},"
    " \"configuration\": {\"block\": 64, \"vec\": 2, \"cached\": true},"
    " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}}]}";

static const char clustered_record[] =
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"clustered\", \"gpu\": "
    "\"NVIDIA H200\","
    " \"compute_capability\": \"9.0\", \"entries\": ["
    "{\"problem\": {\"n\": 4096},"
    " \"configuration\": {\"size\": 4, \"balanced\": true, \"waits\": false},"
    " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}},"
    "{\"problem\": {\"n\": 100},"
    " \"configuration\": {\"size\": 1, \"balanced\": true, \"waits\": true},"
    " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}}]}";

static const char copied_record[] =
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"copied\", \"gpu\": \"NVIDIA "
    "H200\","
    " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"n\": 4096},"
    " \"configuration\": {\"block\": 128, \"vec\": 4, \"shared\": 65536},"
    " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}}]}";

/* Loads the script for the first recorded problem, or for its own problem without a record. */
static script *own_problem(const subject *s, const arch_limits *limits)
{
    char texts[SETTINGS_MAX_VARIABLES][VALUE_BYTES];
    settings with = s->run;
    script *out;
    at_error error = {0};
    const record_values *recorded = s->records.count ? &s->record.entries[0].problem : NULL;
    for (size_t i = 0; recorded && i < recorded->count; i++) {
        value_format(recorded->pairs[i].value, texts[i], VALUE_BYTES);
        with.pattern.variables[with.pattern.variable_count++] =
            (script_setting){recorded->pairs[i].name, texts[i]};
    }
    assert_ok(target_load_script(&with, limits, &out, &error), error);
    return out;
}

/* The argument is a line that sets two shell variables. `compiler` is a command that compiles a
 * .cu file, and `include` is the folder of its CUDA headers. */
static void a_program_launches_what_the_library_would(const char *set_compiler_and_include)
{
    static const struct {
        const char *file, *record;
        int problems; /* number of random problems besides the recorded problem */
    } from[] = {{"tests/fixtures/scale", scale_record, 200},
                {"tests/fixtures/copied", copied_record, 20},
                {"tests/fixtures/clustered", clustered_record, 20},
                {"tests/fixtures/separable", NULL, 2},
                {"tests/fixtures/luma", NULL, 2},
                {"tests/fixtures/two_pass_sum", NULL, 2},
                {"tests/fixtures/stepped", NULL, 2},
                {"tests/fixtures/particles", NULL, 2},
                {"lua/loop_order", columns_record, 0}};
    enum { COUNT = sizeof from / sizeof *from };
    static subject subjects[COUNT];
    const export_model *models[COUNT];
    char folder[TEMPORARY_BYTES], build[1024], *source, *expected, *calls;
    size_t source_size, expected_size, calls_size, size;
    rng r = rng_seeded(5);
    temporary_make(folder);
    for (size_t i = 0; i < COUNT; i++) {
        subject_open(&subjects[i], from[i].file, from[i].record);
        models[i] = &subjects[i].model;
    }
    for (size_t i = 0; i < 2; i++) {
        char *text = exported_text("cuda", models, COUNT, i, &size);
        write_file(folder, i ? "exported.h" : "exported.cu", text, size);
        free(text);
    }
    FILE *to = open_memstream(&source, &source_size),
         *wanted = open_memstream(&expected, &expected_size),
         *last = open_memstream(&calls, &calls_size);
    fputs("#include <stdio.h>\n#include \"exported.h\"\n"
          "extern unsigned fake_sizes[], fake_size_count;\n\n",
          to);
    fputs("int main(void)\n{\n", last);
    for (size_t i = 0; i < COUNT; i++) {
        subject *s = &subjects[i];
        write_caller(to, s);
        for (int n = 0; n <= from[i].problems; n++) {
            const arch_limits limits = here();
            script *with = NULL;
            if (n == 0)
                with = own_problem(s, &limits);
            else
                with = random_problem(s, &r);
            if (!with)
                continue;
            fprintf(last, "    {\n        autotune_%s_problem p = ", s->model.pattern);
            print_c_problem(last, &s->model, script_pattern(with));
            fprintf(last, ";\n        call_%s(p);\n    }\n", s->model.pattern);
            expect_launches(wanted, s, with);
            script_free(with);
        }
    }
    fputs("    return 0;\n}\n", last);
    fclose(last);
    fputs(calls, to);
    fclose(to);
    fclose(wanted);
    write_file(folder, "main.c", source, source_size);
    snprintf(build, sizeof build,
             "%s && $compiler -c exported.cu && cc -std=c11 -Wall -Wextra -Werror -isystem "
             "\"$include\" -c main.c "
             "&& cc -std=c11 -Wall -Wextra -Werror -fPIC -shared -isystem \"$include\" "
             "%s/tests/fake/fake_cudart.c -o libcudart.so "
             "&& c++ main.o exported.o ./libcudart.so -o main && ./main >out",
             set_compiler_and_include, TEST_SOURCE_DIR);
    char *out = run(folder, build);
    /* Every pattern must launch kernels of several sources. Other GPUs use only the default. */
    size_t launched = 0;
    for (size_t i = 0; i < COUNT; i++) {
        size_t before = launched;
        for (size_t k = 0; k < models[i]->kernels.source_count; k++) {
            char name[160];
            snprintf(name, sizeof name, "launch autotune_%s_kernel_%zu::", models[i]->pattern, k);
            launched += strstr(out, name) != NULL;
        }
        assert_true(launched > before);
    }
    assert_true(launched > COUNT);
    assert_non_null(strstr(out, " 4,1,1 0 2 0 "));
    compare_lines(out, expected, 200);
    free(out);
    free(source);
    free(expected);
    free(calls);
    for (size_t i = 0; i < COUNT; i++)
        subject_close(&subjects[i]);
    temporary_remove(folder);
}

TEST(a_program_of_nvcc_launches_what_the_library_would)
{
    if (AUTOTUNE_NVCC[0] == '\0')
        skip();
    a_program_launches_what_the_library_would(
        "compiler='" AUTOTUNE_NVCC
        " -std=c++17 -arch=sm_90 -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror' "
        "include='" AUTOTUNE_CUDA_INCLUDE "'");
}

TEST(a_program_of_clang_launches_what_the_library_would)
{
    if (system(TEST_SOURCE_DIR "/tests/cuda_clang.sh >&2") != 0)
        skip();
    a_program_launches_what_the_library_would(
        "compiler=$(" TEST_SOURCE_DIR "/tests/cuda_clang.sh) "
        "&& include=${compiler#*-isystem } && include=${include%% *}");
}
