#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/rng.h"
#include "check.h"
#include "device/arch.h"
#include "device/field.h"
#include "export_fixture.h"
#include "record/pick.h"
#include "temporary.h"

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
    record_set set;
    record records[4];
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    f.set.records = f.records;
    temporary_make(f.folder);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < f->set.count; i++)
        record_deinit(&f->records[i]);
    temporary_remove(f->folder);
    return 0;
}

static void add_record(fixture *f, const char *text)
{
    record *r = &f->records[f->set.count];
    assert_ok(record_parse(text, strlen(text), "r.json", NULL, r, &f->error), f->error);
    f->set.count++;
}

/* Adds a record with one entry. `problem` and `configuration` are JSON objects. */
static void add_simple(fixture *f, const char *gpu, const char *problem, const char *configuration)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": %s,"
             " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": %s,"
             " \"configuration\": %s, \"baseline\": {\"configuration\": %s},"
             " \"time\": {\"median_ns\": 131400, \"low_ns\": 1, \"high_ns\": 1}}]}",
             gpu, problem, configuration, configuration);
    add_record(f, text);
}

static char *write_export(fixture *f, const char *pattern_name, const pattern *p)
{
    export_model m;
    char *text, path[TEMPORARY_BYTES + 16];
    size_t size;
    assert_ok(export_model_init(&m, pattern_name, &f->set, p, &f->error), f->error);
    const export_model *models[] = {&m};
    text = exported_text("header", models, 1, 0, &size);
    export_model_deinit(&m);
    snprintf(path, sizeof path, "%s/exported.h", f->folder);
    assert_ok(file_replace(path, text, size, &f->error), f->error);
    return text;
}

/* Compiles a program with the statements `body` and the header, with all warnings as errors.
 * Runs the program and returns its output. */
static char *run_consumer(fixture *f, const char *compiler, const char *globals, const char *body)
{
    char command[1024], path[TEMPORARY_BYTES + 16], *text;
    size_t size;
    FILE *source = open_memstream(&text, &size);
    /* Two files include the header twice each. This tests its include guard and its linkage. */
    fprintf(source,
            "#include \"exported.h\"\n#include \"exported.h\"\n#include <stdio.h>\n%s\n"
            "int main(void)\n{\n%s\n    return 0;\n}\n",
            globals, body);
    fclose(source);
    snprintf(path, sizeof path, "%s/main.src", f->folder);
    assert_ok(file_replace(path, text, size, &f->error), f->error);
    free(text);
    snprintf(path, sizeof path, "%s/other.src", f->folder);
    const char other[] = "#include \"exported.h\"\nint other(void);\nint other(void)\n{\n"
                         "    return AUTOTUNE_RULE_EXACT;\n}\n";
    assert_ok(file_replace(path, other, strlen(other), &f->error), f->error);
    snprintf(command, sizeof command,
             "cd %s && %s -Wall -Wextra -Werror -pedantic -Wshadow -Wconversion -trigraphs "
             "main.src other.src -o consumer > log 2>&1 && ./consumer > out 2>&1",
             f->folder, compiler);
    int status = system(command);
    snprintf(path, sizeof path, "%s/%s", f->folder, status ? "log" : "out");
    assert_ok(file_read(path, 1 << 24, &text, NULL, &f->error), f->error);
    if (status)
        fail_msg("%s: status %d:\n%s", compiler, status, text);
    return text;
}

static const char *const compilers[] = {"cc -std=c11 -x c", "c++ -std=c++17 -x c++"};

TEST_IN(a_consumer_in_c_and_cpp_finds_the_configuration, set_up, tear_down)
{
    fixture *f = *state;
    add_simple(f, "\"NVIDIA H200\"", "{\"rows\": 8192, \"cols\": 8192, \"dtype\": \"float\"}",
               "{\"algorithm\": \"tile\", \"tile\": 64, \"scale\": 0.5, \"fast\": true}");
    free(write_export(f, "transpose", NULL));
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(
            f, compilers[c], "",
            "    autotune_transpose_problem p = {8192, 8192, AUTOTUNE_TRANSPOSE_DTYPE_FLOAT};\n"
            "    autotune_device d = autotune_device_named(\"NVIDIA H200\", 9, 0);\n"
            "    autotune_transpose_choice c;\n"
            "    c = autotune_transpose_find(&d, &p);\n"
            "    printf(\"%s %d %g %d %s %s %d\\n\", autotune_rule_name(c.rule), c.config.tile,\n"
            "           c.config.scale, (int)c.config.fast,\n"
            "           autotune_transpose_algorithm_kind_name(c.config.algorithm),\n"
            "           autotune_transpose_at(c.entry).gpu,\n"
            "           (int)autotune_transpose_at(c.entry).time_ns);\n"
            "    p.rows = 100000000000;\n"
            "    c = autotune_transpose_find(&d, &p);\n"
            "    puts(autotune_rule_name(c.rule));\n"
            "    d = autotune_device_named(\"NVIDIA H100\", 9, 0);\n"
            "    c = autotune_transpose_find(&d, &p);\n"
            "    puts(autotune_rule_name(c.rule));\n"
            "    d = autotune_device_named(\"NVIDIA B\", 9, 1);\n"
            "    c = autotune_transpose_find(&d, &p);\n"
            "    puts(autotune_rule_name(c.rule));\n"
            "    d = autotune_device_named(\"NVIDIA A100\", 8, 0);\n"
            "    c = autotune_transpose_find(&d, &p);\n"
            "    puts(autotune_rule_name(c.rule));\n");
        assert_string_equal(out, "exact 64 0.5 1 tile NVIDIA H200 131400\nnearest_problem\n"
                                 "same_capability\nsame_major\ndefault\n");
        free(out);
    }
}

/* Ends the list of entries and appends a portfolio for floats, with three configurations and a tree
 * over n. On some of its problems no configuration was faster than the default. */
static int write_portfolio(rng *r, char *text, size_t size)
{
    int used = snprintf(
        text, size,
        "], \"portfolios\": [{\"fixed\": {\"dtype\": \"float\"},"
        " \"configurations\": [{\"id\": 100}, {\"id\": 101}, {\"id\": 102}],"
        " \"tree\": [{\"variable\": \"n\", \"below\": %d, \"then\": 1, \"else\": 2},"
        " {\"variable\": \"n\", \"multiple_of\": %d, \"then\": 4, \"else\": 5},"
        " {\"variable\": \"m\", \"below\": 2.25, \"then\": 4, \"else\": 3},"
        " {\"variable\": \"n\", \"times\": \"m\", \"below\": %d, \"then\": 5, \"else\": 6},"
        " {\"order\": [1, 2, 0]}, {\"order\": [2, 0, 1]%s},"
        " {\"order\": [0, 1, 2], \"default_at\": %d}], \"problems\": [",
        1 << rng_below(r, 14), 2 + (int)rng_below(r, 7), 1 << rng_below(r, 16),
        rng_below(r, 2) ? ", \"default_at\": 1" : "", (int)rng_below(r, 4));
    for (int i = 0; i < 6; i++)
        used += snprintf(text + used, size - (size_t)used,
                         "%s{\"problem\": {\"n\": %d, \"m\": 1.5, \"dtype\": \"float\"},"
                         " \"baseline_ns\": 100, \"times_ns\": [%d, %d, null]}",
                         i ? "," : "", 1 << rng_below(r, 14), 90 + (int)rng_below(r, 3) * 10,
                         90 + (int)rng_below(r, 3) * 10);
    return used + snprintf(text + used, size - (size_t)used, "]}]");
}

/* Only the problems from which the portfolio was made have this word. */
TEST_IN(a_portfolio_can_be_used_for_the_problems_it_was_made_from, set_up, tear_down)
{
    fixture *f = *state;
    value type = {.kind = VALUE_STRING, .string = "float"},
          id = {.kind = VALUE_INTEGER, .integer = 0};
    pattern_variable variables[] = {{"n", {.kind = VALUE_INTEGER, .integer = 1}}, {"dtype", type}};
    space_parameter parameters[] = {{"id", &id, 1}};
    uint16_t baseline[] = {0};
    pattern p = {.name = "p",
                 .problem_count = 2,
                 .problems = {variables, variables, variables},
                 .parameter_count = 1,
                 .parameters = parameters,
                 .baseline = baseline};
    add_record(
        f, "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"A\","
           " \"compute_capability\": \"9.0\", \"entries\": [], \"portfolios\": [{\"fixed\": {},"
           " \"configurations\": [{\"id\": 7}], \"tree\": [{\"order\": [0]}], \"problems\": ["
           "{\"problem\": {\"n\": 5000000000, \"dtype\": \"half\"}, \"baseline_ns\": 9, "
           "\"times_ns\": [5]}]}]}");
    free(write_export(f, "p", &p));
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(
            f, compilers[c], "",
            "    const autotune_p_problem problem = {5000000000, AUTOTUNE_P_DTYPE_HALF};\n"
            "    autotune_device d = autotune_device_named(\"A\", 9, 0);\n"
            "    autotune_p_choice c = autotune_p_find(&d, &problem);\n"
            "    printf(\"%s %d\\n\", autotune_rule_name(c.rule), c.config.id);\n");
        assert_string_equal(out, "portfolio 7\n");
        free(out);
    }
}

/* The records and problems are random. */
TEST_IN(the_header_picks_as_the_function_pick_does, set_up, tear_down)
{
    fixture *f = *state;
    enum { ENTRIES = 12, QUERIES = 400 };
    static const char *const gpus[][2] = {{"A", "8.0"}, {"B", "8.6"}, {"C", "9.0"}, {"D", "9.0"}};
    static const char *const types[] = {"float", "double", "half"};
    /* The default has no time; then the entry is faster than the default, as fast, and slower. */
    static const char *const baselines[] = {
        "", ", \"time\": {\"median_ns\": 2000, \"low_ns\": 1990, \"high_ns\": 2010}",
        ", \"time\": {\"median_ns\": 1005, \"low_ns\": 995, \"high_ns\": 1015}",
        ", \"time\": {\"median_ns\": 500, \"low_ns\": 490, \"high_ns\": 510}"};
    rng r = rng_seeded(7);
    int unique = 0;
    for (size_t g = 0; g < 3; g++) {
        char text[8192];
        int used = snprintf(text, sizeof text,
                            "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\","
                            " \"gpu\": \"%s\", \"compute_capability\": \"%s\", \"entries\": [",
                            gpus[g][0], gpus[g][1]);
        for (int e = 0; e < ENTRIES; e++)
            used += snprintf(
                text + used, sizeof text - (size_t)used,
                "%s{\"problem\": {\"n\": %d, \"m\": %d.5, \"dtype\": \"%s\"},"
                " \"configuration\": {\"id\": %d}, \"measured\": {\"cache\": \"%s\"},"
                " \"baseline\": {\"configuration\": {\"id\": 0}%s},"
                " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}}",
                e ? "," : "", 1 << rng_below(&r, 14), (int)rng_below(&r, 4),
                types[rng_below(&r, 2)], rng_below(&r, 4) ? ++unique : 1 + (int)rng_below(&r, 9),
                rng_below(&r, 4) ? "cold" : "warm", baselines[rng_below(&r, 4)]);
        if (g != 1)
            used += write_portfolio(&r, text + used, sizeof text - (size_t)used);
        else
            used += snprintf(text + used, sizeof text - (size_t)used, "]");
        snprintf(text + used, sizeof text - (size_t)used, "}");
        add_record(f, text);
    }
    /* The header must know the word "half", although no record has this type. */
    value dtype_values[] = {{.kind = VALUE_STRING, .string = "half"}};
    value ids[] = {{.kind = VALUE_INTEGER, .integer = 0}};
    pattern_variable variables[] = {{"n", {.kind = VALUE_INTEGER, .integer = 1}},
                                    {"m", {.kind = VALUE_NUMBER, .number = 0.5}},
                                    {"dtype", dtype_values[0]}};
    space_parameter parameters[] = {{"id", ids, 1}};
    uint16_t baseline[] = {0};
    pattern p = {.name = "p",
                 .problem_count = 3,
                 .problems = {variables, variables, variables},
                 .parameter_count = 1,
                 .parameters = parameters,
                 .baseline = baseline};
    free(write_export(f, "p", &p));

    char *queries, *expected;
    size_t queries_size, expected_size;
    FILE *q = open_memstream(&queries, &queries_size);
    FILE *x = open_memstream(&expected, &expected_size);
    fputs("static const struct {\n    const char *gpu;\n    int major, minor;\n"
          "    autotune_p_problem problem;\n} queries[] = {\n",
          q);
    for (int i = 0; i < QUERIES; i++) {
        size_t g = (size_t)rng_below(&r, 4), t = (size_t)rng_below(&r, 3);
        bool exact_gpu = rng_below(&r, 2) == 0;
        int major = exact_gpu ? gpus[g][1][0] - '0' : 7 + (int)rng_below(&r, 3);
        int minor = exact_gpu ? gpus[g][1][2] - '0' : (int)rng_below(&r, 2) * 6;
        int64_t n =
            rng_below(&r, 2) ? (int64_t)1 << rng_below(&r, 14) : (int64_t)rng_below(&r, 20000);
        int m = (int)rng_below(&r, 4);
        record_pair pairs[] = {{"n", {.kind = VALUE_INTEGER, .integer = n}},
                               {"m", {.kind = VALUE_NUMBER, .number = m + 0.5}},
                               {"dtype", {.kind = VALUE_STRING, .string = types[t]}}};
        record_values problem = {3, pairs};
        pick_target target = {.gpu = exact_gpu ? gpus[g][0] : "other",
                              .major = major,
                              .minor = minor,
                              .problem = &problem};
        pick_candidate found;
        pick_rule rule = pick(&f->set, &target, &found);
        fprintf(x, "%s %d\n", pick_rule_name(rule),
                (int)record_get(found.configuration, "id")->integer);
        static const char *const words[] = {"FLOAT", "DOUBLE", "HALF"};
        /* Numbers such as 0.5 are the last members. */
        fprintf(q, "    {\"%s\", %d, %d, {%" PRId64 ", AUTOTUNE_P_DTYPE_%s, %d.5}},\n", target.gpu,
                major, minor, n, words[t], m);
    }
    fputs("};\n", q);
    fclose(q);
    fclose(x);
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(
            f, compilers[c], queries,
            "    size_t i;\n"
            "    for (i = 0; i < sizeof queries / sizeof *queries; i++) {\n"
            "        autotune_device d = autotune_device_named(queries[i].gpu, queries[i].major,\n"
            "                                                  queries[i].minor);\n"
            "        autotune_p_choice c = autotune_p_find(&d, &queries[i].problem);\n"
            "        printf(\"%s %d\\n\", autotune_rule_name(c.rule), c.config.id);\n"
            "    }\n");
        assert_string_equal(out, expected);
        free(out);
    }
    free(queries);
    free(expected);
}

/* Vectors of 4 took half the time of the default at n = 8, and the same time at n = 64. */
TEST_IN(a_configuration_no_faster_than_the_default_nearby_is_not_picked, set_up, tear_down)
{
    fixture *f = *state;
    static const char entry[] =
        "{\"problem\": {\"n\": %d}, \"configuration\": {\"vec\": 4}, \"baseline\": "
        "{\"configuration\":"
        " {\"vec\": 1}, \"time\": {\"median_ns\": %d, \"low_ns\": %d, \"high_ns\": %d}},"
        " \"time\": {\"median_ns\": 1000, \"low_ns\": 990, \"high_ns\": 1010}}";
    char text[2048];
    int used = snprintf(
        text, sizeof text,
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
        " \"compute_capability\": \"9.0\", \"entries\": [");
    used += snprintf(text + used, sizeof text - (size_t)used, entry, 8, 2000, 1990, 2010);
    used += snprintf(text + used, sizeof text - (size_t)used, ", ");
    used += snprintf(text + used, sizeof text - (size_t)used, entry, 64, 1000, 990, 1010);
    snprintf(text + used, sizeof text - (size_t)used, "]}");
    add_record(f, text);
    free(write_export(f, "p", NULL));
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(
            f, compilers[c],
            "#ifdef __cplusplus\n"
            "constexpr autotune_p_problem large = {32};\n"
            "constexpr autotune_device device = autotune_device_named(\"G\", 9, 0);\n"
            "static_assert(autotune_p_find(&device, &large).rule == AUTOTUNE_RULE_DEFAULT, \"\");\n"
            "#endif\n",
            "    const int sizes[] = {8, 9, 32, 64};\n"
            "    size_t i;\n"
            "    for (i = 0; i < 8; i++) {\n"
            "        autotune_device d = autotune_device_named(i < 4 ? \"G\" : \"H\", 9, 0);\n"
            "        autotune_p_problem p = {sizes[i % 4]};\n"
            "        autotune_p_choice c = autotune_p_find(&d, &p);\n"
            "        printf(\"%s %d\\n\", autotune_rule_name(c.rule), c.config.vec);\n"
            "    }\n");
        assert_string_equal(out, "exact 4\nnearest_problem 4\ndefault 1\nexact 4\n"
                                 "same_capability 4\nsame_capability 4\ndefault 1\ndefault 1\n");
        free(out);
    }
}

TEST_IN(in_cpp_a_choice_can_be_a_template_argument, set_up, tear_down)
{
    fixture *f = *state;
    add_simple(f, "\"G\"", "{\"n\": 8, \"dtype\": \"float\"}",
               "{\"tile\": 64, \"order\": \"xor\"}");
    free(write_export(f, "p", NULL));
    char *out = run_consumer(
        f, compilers[1],
        "template <int tile, autotune_p_order_kind order> int made() { return tile + (int)order; }",
        "    constexpr autotune_device d = autotune_device_named(\"G\", 9, 0);\n"
        "    constexpr autotune_p_problem p = {9, AUTOTUNE_P_DTYPE_FLOAT};\n"
        "    constexpr autotune_p_choice c = autotune_p_find(&d, &p);\n"
        "    static_assert(c.rule == AUTOTUNE_RULE_NEAREST, \"by the nearest problem\");\n"
        "    printf(\"%d\\n\", made<c.config.tile, c.config.order>());\n");
    assert_string_equal(out, "64\n");
    free(out);
}

static void print_field(FILE *out, const arch_limits *limits, const device_field *f)
{
    const char *at = (const char *)limits + f->offset;
    fprintf(out, "%s=", f->name);
    if (f->kind == DEVICE_FIELD_INT)
        fprintf(out, "%d\n", *(const int *)(const void *)at);
    else if (f->kind == DEVICE_FIELD_SIZE)
        fprintf(out, "%zu\n", *(const size_t *)(const void *)at);
    else if (f->kind == DEVICE_FIELD_DOUBLE)
        fprintf(out, "%.0f\n", *(const double *)(const void *)at);
    else
        fprintf(out, "%s\n", at);
}

TEST_IN(a_device_that_is_named_has_the_limits_that_the_library_knows, set_up, tear_down)
{
    fixture *f = *state;
    size_t arch_count, field_count, size_bytes;
    const arch_limits *known = arch_table(&arch_count);
    const device_field *fields = device_fields(&field_count);
    char *main_c = NULL, *expected = NULL;
    FILE *body = open_memstream(&main_c, &size_bytes);
    fputs("    autotune_device d;\n", body);
    for (size_t i = 0; i < arch_count; i++) {
        fprintf(body, "    d = autotune_device_named(\"G\", %d, %d);\n", known[i].major,
                known[i].minor);
        for (size_t k = 0; k < field_count; k++)
            fprintf(body, "    printf(\"%s=%s\\n\", %sd.%s);\n", fields[k].name,
                    fields[k].kind == DEVICE_FIELD_TEXT     ? "%s"
                    : fields[k].kind == DEVICE_FIELD_DOUBLE ? "%.0f"
                                                            : "%lld",
                    fields[k].kind == DEVICE_FIELD_TEXT || fields[k].kind == DEVICE_FIELD_DOUBLE
                        ? ""
                        : "(long long)",
                    fields[k].name);
    }
    fclose(body);
    FILE *text = open_memstream(&expected, &size_bytes);
    for (size_t i = 0; i < arch_count; i++) {
        arch_limits limits;
        assert_ok(arch_of_gpu("G", known[i].major, known[i].minor, &limits, &f->error), f->error);
        for (size_t k = 0; k < field_count; k++)
            print_field(text, &limits, &fields[k]);
    }
    fclose(text);
    add_simple(f, "\"G\"", "{\"n\": 8}", "{\"tile\": 64}");
    free(write_export(f, "p", NULL));
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(f, compilers[c], "", main_c);
        assert_string_equal(out, expected);
        free(out);
    }
    free(main_c);
    free(expected);
}

TEST_IN(no_record_can_put_code_into_the_header, set_up, tear_down)
{
    fixture *f = *state;
    add_simple(f, "\"*/ #error \\\" \\\\ ?\?/ \\u00e9 %s\"",
               "{\"__LINE__\": 1, \"int\": 2, \"class\": 3, \"NULL\": 4, \"x\": true}",
               "{\"w\": \"\\\"; abort(); \\\"\", \"W\": \"*/ abort(); /*\", \"unix\": \"\","
               " \"config\": \"a-b\", \"kind\": \"?\?/\", \"_\": 1}");
    char *text = write_export(f, "p", NULL);
    assert_null(strstr(text, "*/ #error"));
    assert_null(strstr(text, "*/ abort"));
    assert_null(strstr(text, "\"; abort"));
    free(text);
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(f, compilers[c], "",
                                 "    const autotune_p_entry one = autotune_p_at(0), *e = &one;\n"
                                 "    puts(e->gpu);\n"
                                 "    puts(autotune_p_w_kind_name(e->config.w));\n"
                                 "    puts(autotune_p_W_kind_name(e->config.W));\n"
                                 "    puts(autotune_p_kind_kind_name(e->config.kind));\n"
                                 "    printf(\"%d\\n\", (int)e->problem.int_);\n");
        assert_string_equal(out, "*/ #error \" \\ ?\?/ \xc3\xa9 %s\n\"; abort(); \"\n"
                                 "*/ abort(); /*\n?\?/\n2\n");
        free(out);
    }
}

TEST_IN(words_that_look_alike_stay_apart, set_up, tear_down)
{
    fixture *f = *state;
    add_simple(f, "\"G\"", "{\"n\": 1}", "{\"order\": \"a-b\"}");
    add_simple(f, "\"H\"", "{\"n\": 1}", "{\"order\": \"a_b\"}");
    add_simple(f, "\"I\"", "{\"n\": 1}", "{\"order\": 7}");
    free(write_export(f, "p", NULL));
    char *out =
        run_consumer(f, compilers[0], "",
                     "    int i;\n"
                     "    for (i = 0; i < autotune_p_count(); i++)\n"
                     "        puts(autotune_p_order_kind_name(autotune_p_at(i).config.order));\n"
                     "    printf(\"%d\\n\", (int)AUTOTUNE_P_ORDER_A_B_2);\n");
    assert_string_equal(out, "a-b\na_b\n7\n1\n");
    free(out);
}

TEST_IN(names_that_meet_in_a_constant_stay_apart, set_up, tear_down)
{
    fixture *f = *state;
    add_simple(f, "\"G\"", "{\"n\": 1, \"Tile\": \"x\"}",
               "{\"b_c\": \"d\", \"b\": \"c_d\", \"tile\": \"X\", \"B\": \"c-d\"}");
    free(write_export(f, "p", NULL));
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(
            f, compilers[c], "",
            "    const autotune_p_entry one = autotune_p_at(0), *e = &one;\n"
            "    printf(\"%s %s %s %s %s\\n\", autotune_p_b_c_kind_name(e->config.b_c),\n"
            "           autotune_p_b_kind_name(e->config.b), autotune_p_B_kind_name(e->config.B),\n"
            "           autotune_p_tile_kind_name(e->config.tile),\n"
            "           autotune_p_Tile_kind_name(e->problem.Tile));\n");
        assert_string_equal(out, "d c_d c-d X x\n");
        free(out);
    }
}

/* Names and texts that caused faults before. Parts of these make new names and texts. */
/* clang-format off */
static const char *const hostile[] = {
    "INT32_MAX", "UINT8_C", "SIZE_MAX", "int64_t", "size_t", "bool", "true", "NULL", "linux",
    "unix", "class", "template", "typeof", "autotune_p_b_kind", "AUTOTUNE_UNLIKE",
    "AUTOTUNE_RULE_DEFINED", "autotune_rule", "_Bool", "__LINE__", "_", "Tile", "tile", "TILE", "b",
    "b_c", "c", "c_d", "d", "B", "C", "b_kind", "kind", "name", "H", "h", "config", "problem",
    "entry", "rule", "gpu", "I", "offsetof", "strdupa", "a__b", "int", "int_", "int_2", "int__2",
    "EOF", "strcmp", "exported", "EXPORTED", "CHAR_BIT", "errno", "main", "i", "e", "a", "x_2", "x",
    "X"
};
/* clang-format on */
static const char *const hostile_texts[] = {"\\\"",    "*/", "?\?/", "a-b",  "a_b", "%s",  "", " ",
                                            "\\u00e9", "//", "\\\\", "${x}", "1",   "true"};

enum {
    HOSTILE = sizeof hostile / sizeof *hostile,
    TEXTS = sizeof hostile_texts / sizeof *hostile_texts
};

/* Writes {"name": value, ...} with names that are not in `used`. */
static void hostile_object(rng *random, bool used[HOSTILE], char *out, size_t out_bytes)
{
    size_t at = (size_t)snprintf(out, out_bytes, "{");
    uint64_t count = rng_below(random, 7);
    for (uint64_t i = 0; i < count; i++) {
        size_t name = rng_below(random, HOSTILE);
        if (used[name])
            continue;
        used[name] = true;
        const char *comma = at > 1 ? ", " : "";
        static const char *const numbers[] = {
            "1", "-2147483648", "9223372036854775807", "1e300", "-0.0", "0.1", "true", "false"};
        uint64_t kind = rng_below(random, 3);
        const char *quote = kind == 0 ? "" : "\"";
        const char *text = kind == 0   ? numbers[rng_below(random, 8)]
                           : kind == 1 ? hostile[rng_below(random, HOSTILE)]
                                       : hostile_texts[rng_below(random, TEXTS)];
        at += (size_t)snprintf(out + at, out_bytes - at, "%s\"%s\": %s%s%s", comma, hostile[name],
                               quote, text, quote);
    }
    snprintf(out + at, out_bytes - at, "}");
}

/* Compiles the header alone, with the strictest options of each standard. */
static void expect_header_compiles(fixture *f, const char *record_text)
{
    static const char *const strict[] = {"cc -std=c11 -x c", "c++ -std=c++17 -x c++",
                                         "cc -std=gnu11 -x c", "c++ -std=gnu++20 -x c++"};
    char command[512], path[TEMPORARY_BYTES + 16], *log;
    for (size_t c = 0; c < sizeof strict / sizeof *strict; c++) {
        snprintf(command, sizeof command,
                 "cd %s && %s -Wall -Wextra -Werror -pedantic -fsyntax-only exported.h > log 2>&1",
                 f->folder, strict[c]);
        if (system(command) == 0)
            continue;
        snprintf(path, sizeof path, "%s/log", f->folder);
        assert_ok(file_read(path, 1 << 24, &log, NULL, &f->error), f->error);
        fail_msg("%s:\n%s\nof %s", strict[c], log, record_text);
    }
}

/* $AUTOTUNE_EXPORT_TRIALS is the number of records; the default is 6. */
TEST_IN(headers_of_hostile_records_compile, set_up, tear_down)
{
    fixture *f = *state;
    const char *wish = getenv("AUTOTUNE_EXPORT_TRIALS");
    long trials = wish ? strtol(wish, NULL, 10) : 6;
    for (long t = 0; t < trials; t++) {
        rng random = rng_seeded((uint64_t)t);
        bool used[HOSTILE] = {false};
        char problem[2048], configuration[2048], text[5000];
        hostile_object(&random, used, problem, sizeof problem);
        hostile_object(&random, used, configuration, sizeof configuration);
        add_simple(f, "\"G\"", problem, configuration);
        static const char *const patterns[] = {"p", "exported", "EXPORTED", "rule", "class", "b_c"};
        snprintf(text, sizeof text, "%s %s", problem, configuration);
        free(write_export(f, patterns[rng_below(&random, 6)], NULL));
        expect_header_compiles(f, text);
        record_deinit(&f->records[0]);
        f->set.count = 0;
    }
}

TEST_IN(extreme_numbers_keep_their_values, set_up, tear_down)
{
    fixture *f = *state;
    add_simple(f, "\"G\"", "{\"n\": -9223372036854775808, \"x\": 1e300}",
               "{\"big\": 9223372036854775807, \"small\": -2147483648, \"y\": 0.1}");
    free(write_export(f, "p", NULL));
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(
            f, compilers[c], "",
            "    const autotune_p_entry one = autotune_p_at(0), *e = &one;\n"
            "    printf(\"%lld %g %lld %d %.17g\\n\", (long long)e->problem.n, e->problem.x,\n"
            "           (long long)e->config.big, (int)e->config.small, e->config.y);\n");
        assert_string_equal(out, "-9223372036854775808 1e+300 9223372036854775807 -2147483648 "
                                 "0.10000000000000001\n");
        free(out);
    }
}

TEST_IN(a_script_without_results_exports_its_default, set_up, tear_down)
{
    fixture *f = *state;
    value tiles[] = {{.kind = VALUE_INTEGER, .integer = 16},
                     {.kind = VALUE_INTEGER, .integer = 32}};
    space_parameter parameters[] = {{"tile", tiles, 2}};
    uint16_t baseline[] = {1};
    pattern p = {.name = "p", .parameter_count = 1, .parameters = parameters, .baseline = baseline};
    free(write_export(f, "p", &p));
    for (size_t c = 0; c < 2; c++) {
        char *out = run_consumer(f, compilers[c], "",
                                 "    autotune_p_problem p = {0};\n"
                                 "    autotune_device d = autotune_device_named(\"G\", 9, 0);\n"
                                 "    autotune_p_choice c = autotune_p_find(&d, &p);\n"
                                 "    printf(\"%s %d\\n\", autotune_rule_name(c.rule),\n"
                                 "           c.config.tile);\n");
        assert_string_equal(out, "default 32\n");
        free(out);
    }
}

TEST_IN(results_of_another_script_are_counted_not_exported, set_up, tear_down)
{
    fixture *f = *state;
    export_model m;
    value tiles[] = {{.kind = VALUE_INTEGER, .integer = 16}};
    pattern_variable variables[] = {{"n", {.kind = VALUE_INTEGER, .integer = 1}}};
    space_parameter parameters[] = {{"tile", tiles, 1}};
    uint16_t baseline[] = {0};
    pattern p = {.name = "p",
                 .problem_count = 1,
                 .problems = {variables, variables, variables},
                 .parameter_count = 1,
                 .parameters = parameters,
                 .baseline = baseline};
    add_simple(f, "\"G\"", "{\"n\": 1}", "{\"tile\": 1}");
    add_simple(f, "\"H\"", "{\"n\": 1}", "{\"tile\": 1, \"vec\": 1}");
    add_simple(f, "\"I\"", "{\"m\": 1}", "{\"tile\": 1}");
    assert_ok(export_model_init(&m, "p", &f->set, &p, &f->error), f->error);
    assert_int_equal(m.row_count, 1);
    assert_int_equal(m.skipped, 2);
    export_model_deinit(&m);
}

/* Tests the records in the folder results/. */
TEST_IN(shipped_records_are_whole_and_export, set_up, tear_down)
{
    fixture *f = *state;
    record_set all;
    assert_ok(record_load_all(TEST_SOURCE_DIR "/results", NULL, &all, &f->error), f->error);
    for (size_t i = 0; i < all.count; i++) {
        record_set one;
        export_model m;
        char path[4096], slug[RECORD_NAME_BYTES];
        const record *r = &all.records[i];
        paths_slug(r->gpu, slug);
        snprintf(path, sizeof path, "%s/results/%s/%s.json", TEST_SOURCE_DIR, slug, r->pattern);
        assert_string_equal(r->path, path);
        assert_ok(record_load_all(TEST_SOURCE_DIR "/results", r->pattern, &one, &f->error),
                  f->error);
        assert_ok(export_model_init(&m, r->pattern, &one, NULL, &f->error), f->error);
        assert_true(m.row_count > 0);
        assert_int_equal(m.skipped, 0);
        export_model_deinit(&m);
        record_set_deinit(&one);
    }
    record_set_deinit(&all);
}

TEST_IN(nothing_to_export_is_an_error, set_up, tear_down)
{
    fixture *f = *state;
    export_model m;
    const exporter *e;
    assert_int_equal(export_model_init(&m, "p", &f->set, NULL, &f->error), AT_NOT_FOUND);
    assert_int_equal(export_model_init(&m, "a b", &f->set, NULL, &f->error), AT_SCRIPT);
    assert_int_equal(exporter_find("xml", &e, &f->error), AT_USAGE);
    assert_non_null(strstr(f->error.message, "header"));
    assert_ok(exporter_find("header", &e, &f->error), f->error);
}
