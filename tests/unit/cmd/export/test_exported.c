/* Tests the exported headers of all shipped patterns against the patterns' scripts. The headers
 * are compiled without CUDA. The problems are random, and two of the six GPUs have records.
 * Header and script must agree on the constraints, and picked configurations must be valid. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "check.h"
#include "cmd/export/exported.h"
#include "export_fixture.h"
#include "temporary.h"

static const struct {
    const char *name, *arch;
} gpus[] = {{"NVIDIA H200", "sm_90"}, {"NVIDIA A10", "sm_86"}, {"NVIDIA A100", "sm_80"},
            {"Tesla T4", "sm_75"},    {"NVIDIA L4", "sm_89"},  {"NVIDIA H100", "sm_90"}};
enum { GPUS = sizeof gpus / sizeof *gpus, TRIALS = 16, MOST_NAMES = 64, VALUE_BYTES = 64 };

typedef struct work {
    char folder[TEMPORARY_BYTES];
    FILE *source, *expected;
    rng random;
    long problems; /* number of problems for each pattern */
} work;

/* Returns the number of problems of all patterns together: $AUTOTUNE_EXPORT_PROBLEMS, or 80. */
static long problems_wanted(void)
{
    const char *wish = getenv("AUTOTUNE_EXPORT_PROBLEMS");
    return wish ? strtol(wish, NULL, 10) : 80;
}

static arch_limits limits_of(size_t gpu)
{
    arch_limits limits;
    at_error error = {0};
    assert_ok(arch_find(gpus[gpu].arch, &limits, &error), error);
    snprintf(limits.name, sizeof limits.name, "%s", gpus[gpu].name);
    return limits;
}

static at_status load(const char *name, size_t gpu, const script_setting *settings, size_t count,
                      script **out, at_error *error)
{
    char path[512];
    snprintf(path, sizeof path, "%s/lua/%s.lua", TEST_SOURCE_DIR, name);
    return script_load(path,
                       &(script_options){.lua_dir = TEST_SOURCE_DIR "/lua",
                                         .template_dir = TEST_SOURCE_DIR "/templates",
                                         .settings = settings,
                                         .setting_count = count,
                                         .instruction_limit = 20000000,
                                         .device = limits_of(gpu)},
                       out, error);
}

/* Returns a random small number, power of two, prime or other number. */
static int64_t random_size(rng *r)
{
    int64_t power = (int64_t)1 << rng_below(r, 14);
    switch (rng_below(r, 4)) {
    case 0:
        return power;
    case 1:
        return power * (int64_t)(1 + rng_below(r, 16));
    case 2:
        return 1 + (int64_t)rng_below(r, 40);
    default:
        return 1 + (int64_t)rng_below(r, 20000);
    }
}

static void random_configuration(rng *r, const pattern *p, uint16_t *indices)
{
    for (size_t i = 0; i < p->parameter_count; i++)
        indices[i] =
            rng_below(r, 3) ? p->baseline[i] : (uint16_t)rng_below(r, p->parameters[i].value_count);
}

static void print_json_values(FILE *to, const char *name, const value *v)
{
    char text[VALUE_BYTES * 4];
    const char *quote = v->kind == VALUE_STRING ? "\"" : "";
    value_format(*v, text, sizeof text);
    fprintf(to, "\"%s\": %s%s%s", name, quote, text, quote);
}

static void print_problem(FILE *to, const pattern *p)
{
    fputs("{", to);
    for (size_t i = 0; i < p->problem_count; i++) {
        fputs(i ? ", " : "", to);
        print_json_values(to, p->problems[PROBLEM_TUNED][i].name,
                          &p->problems[PROBLEM_TUNED][i].value);
    }
    fputs("}", to);
}

static void print_configuration(FILE *to, const pattern *p, const uint16_t *indices)
{
    fputs("{", to);
    for (size_t i = 0; i < p->parameter_count; i++) {
        fputs(i ? ", " : "", to);
        print_json_values(to, p->parameters[i].name, &p->parameters[i].values[indices[i]]);
    }
    fputs("}", to);
}

/* Makes a record with random configurations, some of which are invalid. */
static void invent_record(work *w, const pattern *p, size_t gpu, record *out)
{
    char *text;
    size_t size;
    at_error error = {0};
    uint16_t indices[MOST_NAMES];
    arch_limits limits = limits_of(gpu);
    FILE *to = open_memstream(&text, &size);
    fprintf(
        to,
        "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"%s\", \"gpu\": \"%s\","
        " \"compute_capability\": \"%d.%d\", \"entries\": [{\"problem\": ",
        p->name, gpus[gpu].name, limits.major, limits.minor);
    print_problem(to, p);
    fputs(", \"configuration\": ", to);
    random_configuration(&w->random, p, indices);
    print_configuration(to, p, indices);
    fputs(", \"time\": {\"median_ns\": 5, \"low_ns\": 4, \"high_ns\": 6}}], \"portfolios\":"
          " [{\"fixed\": {}, \"configurations\": [",
          to);
    for (int i = 0; i < 4; i++) {
        random_configuration(&w->random, p, indices);
        fputs(i ? ", " : "", to);
        print_configuration(to, p, indices);
    }
    fputs("], \"tree\": [{\"order\": [3, 1, 0, 2]}], \"problems\": []}]}", to);
    fclose(to);
    assert_ok(record_parse(text, size, "invented", NULL, out, &error), error);
    free(text);
}

/* Writes a C function print_<pattern>(choice), which prints the configuration as for --config. */
static void write_printer(FILE *to, const export_model *m)
{
    fprintf(to, "static void print_%s(autotune_%s_choice c)\n{\n", m->pattern, m->pattern);
    for (size_t i = 0; i < m->parameter_count; i++) {
        const export_column *c = &m->parameters[i];
        fprintf(to, "    printf(\"%s%s=\");\n", i ? "," : "", c->name);
        if (c->type == EXPORT_WORD)
            fprintf(to, "    printf(\"%%s\", autotune_%s_%s_kind_name(c.config.%s));\n", m->pattern,
                    c->identifier, c->identifier);
        else if (c->type == EXPORT_BOOLEAN)
            fprintf(to, "    printf(\"%%s\", c.config.%s ? \"true\" : \"false\");\n",
                    c->identifier);
        else if (c->type == EXPORT_NUMBER)
            fprintf(to, "    printf(\"%%.17g\", c.config.%s);\n", c->identifier);
        else
            fprintf(to, "    printf(\"%%lld\", (long long)c.config.%s);\n", c->identifier);
    }
    fputs("    printf(\" %s\\n\", autotune_rule_name(c.rule));\n}\n\n", to);
}

/* Loads a script for a random problem. Returns NULL if the script refuses the problem. */
static script *random_problem(work *w, const char *name, const pattern *p, size_t gpu)
{
    static const char *const types[] = {"float", "double", "half", "int32", "uint8"};
    char texts[MOST_NAMES][VALUE_BYTES];
    script_setting settings[MOST_NAMES];
    script *s = NULL;
    at_error error = {0};
    size_t count = 0;
    for (size_t i = 0; i < p->problem_count; i++) {
        const pattern_variable *v = &p->problems[PROBLEM_TUNED][i];
        if (v->value.kind == VALUE_INTEGER)
            snprintf(texts[count], VALUE_BYTES, "%lld", (long long)random_size(&w->random));
        else if (strcmp(v->name, "dtype") == 0)
            snprintf(texts[count], VALUE_BYTES, "%s", types[rng_below(&w->random, 5)]);
        else
            continue;
        settings[count] = (script_setting){v->name, texts[count]};
        count++;
    }
    return load(name, gpu, settings, count, &s, &error) ? NULL : s;
}

static void ask_pattern(work *w, const char *name)
{
    at_error error = {0};
    script *own;
    export_model m;
    record records[2] = {0};
    record_set set = {.count = 2, .records = records};
    assert_ok(load(name, 0, NULL, 0, &own, &error), error);
    const pattern *p = script_pattern(own);
    if (!p->measurable) {
        script_free(own);
        return;
    }
    invent_record(w, p, 0, &records[0]);
    invent_record(w, p, 1, &records[1]);
    assert_ok(exported_model(p->name, &set, own, &m, &error), error);
    for (size_t i = 0; i < m.constraint_count; i++)
        if (!m.constraints[i].c)
            fail_msg("%s: not said in C: %s", name, m.constraints[i].text);

    char path[TEMPORARY_BYTES + 80];
    snprintf(path, sizeof path, "%s/%s.h", w->folder, name);
    const export_model *models[] = {&m};
    size_t size;
    char *header = exported_text("header", models, 1, 0, &size);
    assert_ok(file_replace(path, header, size, &error), error);
    free(header);
    fprintf(w->source, "#include \"%s.h\"\n", name);
    write_printer(w->source, &m);
    fprintf(w->source, "static void ask_%s(void)\n{\n", name);
    for (long n = 0; n < w->problems; n++) {
        size_t gpu = (size_t)rng_below(&w->random, GPUS);
        script *s = random_problem(w, name, p, gpu);
        if (!s)
            continue;
        const pattern *with = script_pattern(s);
        fprintf(w->source, "    {\n        static const autotune_%s_problem p = ", name);
        print_c_problem(w->source, &m, with);
        fprintf(w->source, ";\n        static const autotune_%s_config c[] = {", name);
        for (int t = 0; t < TRIALS; t++) {
            uint16_t indices[MOST_NAMES];
            bool valid;
            size_t broken;
            random_configuration(&w->random, with, indices);
            print_c_configuration(w->source, &m, with, indices);
            fputs(",\n            ", w->source);
            /* A constraint that raises an error in Lua excludes the configuration. */
            if (script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, NULL))
                valid = false;
            fputc(valid ? '1' : '0', w->expected);
        }
        fprintf(w->source,
                "};\n        for (int i = 0; i < %d; i++)\n"
                "            putchar('0' + autotune_%s_fits(&devices[%zu], &p, &c[i]));\n"
                "        putchar(' ');\n"
                "        print_%s(autotune_%s_find(&devices[%zu], &p));\n    }\n",
                TRIALS, name, gpu, name, name, gpu);
        char text[512];
        int used = snprintf(text, sizeof text, " %s %zu", name, gpu);
        for (size_t i = 0; i < with->problem_count; i++) {
            char v[VALUE_BYTES * 4];
            value_format(with->problems[PROBLEM_TUNED][i].value, v, sizeof v);
            used += snprintf(text + used, sizeof text - (size_t)used, " %s=%s",
                             with->problems[PROBLEM_TUNED][i].name, v);
        }
        fprintf(w->expected, "%s\n", text);
        script_free(s);
    }
    fputs("}\n\n", w->source);
    export_model_deinit(&m);
    record_deinit(&records[0]);
    record_deinit(&records[1]);
    script_free(own);
}

static void write_devices(FILE *to)
{
    fputs("static const autotune_device devices[] = {\n", to);
    for (size_t g = 0; g < GPUS; g++) {
        arch_limits l = limits_of(g);
        snprintf(l.name, sizeof l.name, "%s", gpus[g].name);
        fputs("    ", to);
        print_c_device(to, &l);
        fputs(",\n", to);
    }
    fputs("};\n\n", to);
}

/* Reads a question "<pattern> <gpu> n=1 dtype=float" and checks that the picked configuration is
 * valid for this problem and GPU. */
static void expect_possible(char *asked, char *configuration)
{
    char *save, *name = strtok_r(asked, " ", &save);
    size_t gpu = (size_t)atoi(strtok_r(NULL, " ", &save)), count = 0, broken;
    script_setting settings[MOST_NAMES];
    for (char *v; (v = strtok_r(NULL, " ", &save));) {
        char *equals = strchr(v, '=');
        *equals = '\0';
        settings[count++] = (script_setting){v, equals + 1};
    }
    at_error error = {0};
    script *s;
    uint16_t indices[MOST_NAMES];
    bool valid;
    char *rule = strrchr(configuration, ' ');
    *rule++ = '\0';
    assert_ok(load(name, gpu, settings, count, &s, &error), error);
    assert_ok(script_parse_configuration(s, configuration, indices, &error), error);
    if (script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, NULL))
        valid = false;
    /* With the rule "none", the configuration is the default, and it must be invalid. */
    if (valid == (strcmp(rule, "none") == 0))
        fail_msg("%s on %s: %s by rule %s", name, gpus[gpu].name, configuration, rule);
    script_free(s);
}

TEST(headers_agree_with_scripts_and_pick_valid_configurations)
{
    work w = {.random = rng_seeded(11)};
    char *source, *expected, *out, path[TEMPORARY_BYTES + 16], command[1024];
    size_t source_size, expected_size;
    at_error error = {0};
    static const char *const names[] = {
        "aos_soa", "bank_conflict", "batched_transpose", "conv2d",    "dot",
        "gather",  "histogram",     "loop_order",        "matmul",    "misaligned",
        "rgb",     "stencil1d",     "strided",           "transpose", "vector_add"};
    enum { NAMES = sizeof names / sizeof *names };
    temporary_make(w.folder);
    w.problems = 1 + problems_wanted() / NAMES;
    w.source = open_memstream(&source, &source_size);
    w.expected = open_memstream(&expected, &expected_size);
    fputs("#include <stdio.h>\n#include \"aos_soa.h\"\n", w.source);
    write_devices(w.source);
    for (size_t i = 0; i < NAMES; i++)
        ask_pattern(&w, names[i]);
    fputs("int main(void)\n{\n", w.source);
    for (size_t i = 0; i < NAMES; i++)
        fprintf(w.source, "    ask_%s();\n", names[i]);
    fputs("    return 0;\n}\n", w.source);
    fclose(w.source);
    fclose(w.expected);
    snprintf(path, sizeof path, "%s/main.c", w.folder);
    assert_ok(file_replace(path, source, source_size, &error), error);
    snprintf(command, sizeof command,
             "cd %s && cc -std=c11 -Wall -Wextra -Werror -Wno-missing-field-initializers main.c -o "
             "main >log 2>&1 && ./main >out",
             w.folder);
    int status = system(command);
    snprintf(path, sizeof path, "%s/%s", w.folder, status ? "log" : "out");
    assert_ok(file_read(path, 1 << 28, &out, NULL, &error), error);
    if (status)
        fail_msg("%d: %.3000s", status, out);
    char *said_save, *wanted_save;
    char *said = strtok_r(out, "\n", &said_save), *wanted = strtok_r(expected, "\n", &wanted_save);
    long lines = 0, none = 0;
    for (; said && wanted; lines++) {
        if (strncmp(said, wanted, TRIALS) != 0)
            fail_msg("C says %.16s, Lua %s", said, wanted);
        none += strstr(said, " none") != NULL;
        expect_possible(wanted + TRIALS + 1, said + TRIALS + 1);
        said = strtok_r(NULL, "\n", &said_save);
        wanted = strtok_r(NULL, "\n", &wanted_save);
    }
    assert_null(said);
    assert_null(wanted);
    /* Most problems must have a valid configuration, or the test would show little. */
    assert_true(lines > problems_wanted() / 2 && none < lines / 2);
    free(out);
    free(source);
    free(expected);
    temporary_remove(w.folder);
}
