/* Facts of a pattern against its script: which configurations are valid, and what features are, for
 * problems and devices that the script was not loaded for. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "script/facts.h"
#include "temporary.h"

enum { SAMPLES = 400 };

static script_options options_for(const char *arch)
{
    script_options o = {.lua_dir = TEST_SOURCE_DIR "/lua",
                        .template_dir = TEST_SOURCE_DIR "/templates",
                        .without_templates = true};
    at_error error = {0};
    assert_ok(arch_find(arch, &o.device, &error), error);
    return o;
}

static script *load(const char *path, const script_options *options)
{
    script *s;
    at_error error = {0};
    assert_ok(script_load(path, options, &s, &error), error);
    return s;
}

static script_facts *facts_of(script *s)
{
    pack bytes = {0};
    at_error error = {0};
    script_facts *f;
    assert_ok(script_facts_put(s, &bytes, &error), error);
    assert_ok(script_facts_read(bytes.bytes, bytes.size_bytes, &f, &error), error);
    pack_deinit(&bytes);
    return f;
}

static void set_problem(script_facts_case *c)
{
    const pattern *p = script_facts_pattern(c->facts);
    for (size_t i = 0; i < p->problem_count; i++)
        c->problem[i] = p->problems[PROBLEM_TUNED][i].value;
}

/* The facts were made for another device, and before the problem was set. */
static void compare(const char *path, const char *arch, uint64_t seed)
{
    const script_options there = options_for("sm_80"), here = options_for(arch);
    script *made_from = load(path, &there), *s = load(path, &here);
    script_facts *f = facts_of(made_from);
    const pattern *p = script_facts_pattern(f), *own = script_pattern(s);
    script_facts_case c = {.facts = f, .device = &here.device};
    rng random = rng_seeded(seed);
    set_problem(&c);
    for (size_t n = 0; n < SAMPLES; n++) {
        uint16_t indices[PATTERN_MAX_PARAMETERS];
        bool valid, facts_valid;
        size_t broken = 0, facts_broken = 0;
        for (size_t i = 0; i < p->problem_count; i++) {
            pattern_variable v = p->problems[PROBLEM_TUNED][i];
            if (v.value.kind != VALUE_INTEGER || p->domains[i].value_count || n % 2)
                continue;
            v.value.integer = 1 + (int64_t)(rng_next(&random) % 10000);
            c.problem[i] = v.value;
            at_error error = {0};
            assert_ok(script_set_problem(s, PROBLEM_TUNED, &v, 1, &error), error);
        }
        for (size_t i = 0; i < p->parameter_count; i++)
            indices[i] = (uint16_t)(n == 0 ? p->baseline[i]
                                           : rng_next(&random) % p->parameters[i].value_count);
        at_status status = script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, NULL);
        facts_valid = script_facts_valid(&c, indices, &facts_broken);
        if (facts_valid != (!status && valid))
            fail_msg("%s, sample %zu: %d by the script: %s", path, n, !status && valid,
                     own->constraints[status || !valid ? broken : facts_broken].text);
        if (!status && !valid)
            assert_int_equal(facts_broken, broken);
        for (size_t i = 0; i < p->feature_count; i++) {
            double asked;
            if (script_feature(s, PROBLEM_TUNED, i, indices, &asked, NULL))
                asked = INFINITY;
            assert_true(script_facts_feature(&c, i, indices) == asked);
            assert_string_equal(p->features[i].definition, own->features[i].definition);
        }
    }
    script_facts_free(f);
    script_free(s);
    script_free(made_from);
}

TEST(facts_of_patterns_say_what_their_scripts_say)
{
    static const char *const paths[] = {"lua/aos_soa.lua",
                                        "lua/conv2d.lua",
                                        "lua/dot.lua",
                                        "lua/gather.lua",
                                        "lua/histogram.lua",
                                        "lua/matmul.lua",
                                        "lua/stencil1d.lua",
                                        "lua/transfer.lua",
                                        "lua/transpose.lua",
                                        "lua/vector_add.lua",
                                        "lua/strided.lua",
                                        "tests/fixtures/copied.lua",
                                        "tests/fixtures/clustered.lua"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", TEST_SOURCE_DIR, paths[i]);
        compare(path, i % 2 ? "sm_90" : "sm_75", i);
    }
}

typedef struct fixture {
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    temporary_make(f.folder);
    snprintf(f.path, sizeof f.path, "%s/p.lua", f.folder);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    temporary_remove(((fixture *)*state)->folder);
    return 0;
}

static void write_script(const fixture *f, const char *rest)
{
    char text[4000];
    at_error error = {0};
    snprintf(
        text, sizeof text,
        "local at = require 'autotune'\n"
        "return at.pattern { name = 'p',\n"
        "  space = { a = { 1, 2, 3, 64 }, x = { 0.5, 2.0, -3.25 }, t = { 'half', 'int8', 'no' },"
        " b = { true, false } },\n"
        "  buffers = { y = at.output { dtype = 'float', count = '16' } },\n"
        "  kernel = { template = 'none.tmpl', entry = 'k', args = { 'y' } },\n"
        "  launch = { grid = '1', block = '1' },\n%s}\n",
        rest);
    assert_ok(file_replace(f->path, text, strlen(text), &error), error);
    snprintf(text, sizeof text, "%s/none.tmpl", f->folder);
    assert_ok(file_replace(text, "\n", 1, &error), error);
}

/* Each operator and function, where Lua evaluates it and where it fails. */
TEST_IN(facts_know_numbers_texts_and_what_fails, set_up, tear_down)
{
    const fixture *f = *state;
    static const char *const conditions[] = {
        "a // (a - 2) > 0",
        "a % (a - 3) == 0 or b",
        "b and a // (a - 1) > 1 or not b",
        "x * a + 1 < n / 3",
        "x // 0.75 ~= -2",
        "-x < r or math.abs(x) > 3",
        "math.floor(x * a) <= ceil(x) + 2",
        "math.min(x, r) < math.max(x, 1.5)",
        "sizeof(t) == 2",
        "is_float(t) or b",
        "t < 'int9' and t >= 'half'",
        "t > s or t <= s",
        "not (string.find(t, 'nt') and a ~= 1)",
        "not (string.find(t, 'h') and b)",
        "log2(a - 1) < 6 and is_pow2(a)",
        "round_up(n, a) - ceil_div(n, a) > (n >> 1) | 1",
        "(a > 2 and 2 or n) < 5",
        "(t == 'half' and 0.5 or x) > 0",
        "device.bandwidth > 1e11 * x and device.name ~= t",
        "a << 62 < 0",
        "b == (a > 2)",
    };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        char rest[1000];
        snprintf(rest, sizeof rest,
                 "  problem = { n = 100, r = 1.25, s = 'int8' }, baseline = { a = 1, x = 0.5, t = "
                 "'half', b = true },\n  where = { [[%s]] }, derived = { both = [[%s]] },\n",
                 conditions[i], conditions[i]);
        write_script(f, rest);
        compare(f->path, "sm_90", i);
    }
}

TEST_IN(features_are_numbers_or_infinite, set_up, tear_down)
{
    const fixture *f = *state;
    write_script(f,
                 "  problem = { n = 100 }, baseline = { a = 1, x = 0.5, t = 'half', b = true },\n"
                 "  derived = { waves = 'ceil_div(n, a) / device.sm_count' },\n"
                 "  choose_by = { w = 'waves * x', d = 'n // (a - 2)', z = 'x / 0' },\n");
    compare(f->path, "sm_90", 7);
}

TEST_IN(what_only_lua_evaluates_has_no_facts, set_up, tear_down)
{
    const fixture *f = *state;
    const script_options options = options_for("sm_90");
    at_error error = {0};
    pack bytes = {0};
    write_script(f,
                 "  problem = { n = 100 }, baseline = { a = 1, x = 0.5, t = 'half', b = true },\n"
                 "  where = { 'a ^ 2 < n' },\n");
    script *s = load(f->path, &options);
    assert_int_equal(script_facts_put(s, &bytes, &error), AT_NOT_FOUND);
    pack_deinit(&bytes);
    script_free(s);
}

/* pattern_read_setting() takes and refuses what script_load() does of --set. */
TEST_IN(settings_are_read_as_the_script_reads_them, set_up, tear_down)
{
    const fixture *f = *state;
    static const char *const texts[] = {
        "1",    "0",   "-5",   "2K",   "3M",    "1G",   "12345678901K", "4.0",
        "4.5",  "1e3", "0x10", "true", "false", "half", "float",        "none",
        "1e30", "",    "K",    "7 ",   "a\tb",  "16"};
    static const char *const names[] = {"n", "r", "s", "bool", "within", "one", "word", "share"};
    write_script(f, "  problem = { n = 100, r = 1.25, s = 'int8', bool = true,\n"
                    "    within = at.within(8, 1, 64), one = at.one_of { 16, 32 },\n"
                    "    word = at.one_of { 'half', 'float' }, share = at.within(0.5, 0, 4.25) },\n"
                    "  baseline = { a = 1, x = 0.5, t = 'half', b = true },\n");
    script_options options = options_for("sm_90");
    script *s = load(f->path, &options);
    const pattern *p = script_pattern(s);
    for (size_t v = 0; v < sizeof names / sizeof *names; v++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            size_t place = 0;
            script *set = NULL;
            value out;
            at_error error = {0};
            const script_setting setting = {names[v], texts[t]};
            while (strcmp(p->problems[PROBLEM_TUNED][place].name, names[v]) != 0)
                place++;
            options.settings = &setting;
            options.setting_count = 1;
            const bool loads = script_load(f->path, &options, &set, &error) == AT_OK;
            const bool reads = pattern_read_setting(p, place, texts[t], &out);
            if (loads != reads)
                fail_msg("%s=%s: the script %s", names[v], texts[t],
                         loads ? "takes it" : error.message);
            if (loads) {
                const value is = script_pattern(set)->problems[PROBLEM_TUNED][place].value;
                assert_int_equal(is.kind, out.kind);
                assert_true(value_equal(is, out));
            }
            script_free(set);
        }
    script_free(s);
}

TEST_IN(bytes_that_are_no_facts_are_refused, set_up, tear_down)
{
    const fixture *f = *state;
    const script_options options = options_for("sm_90");
    at_error error = {0};
    pack bytes = {0};
    script_facts *facts;
    write_script(f,
                 "  problem = { n = 100 }, baseline = { a = 1, x = 0.5, t = 'half', b = true },\n"
                 "  where = { 'a * n > 3 or b', 'sizeof(t) < 9 and x < 3' },\n");
    script *s = load(f->path, &options);
    assert_ok(script_facts_put(s, &bytes, &error), error);
    for (size_t cut = 0; cut < bytes.size_bytes; cut++)
        assert_int_equal(script_facts_read(bytes.bytes, cut, &facts, &error), AT_FORMAT);
    /* One byte that is another: refused, or facts that can be asked without harm. */
    for (size_t at = 0; at < bytes.size_bytes; at++) {
        uint16_t indices[PATTERN_MAX_PARAMETERS] = {0};
        bytes.bytes[at] ^= 0x41;
        if (!script_facts_read(bytes.bytes, bytes.size_bytes, &facts, &error)) {
            script_facts_case c = {.facts = facts, .device = &options.device};
            set_problem(&c);
            (void)script_facts_valid(&c, indices, NULL);
            script_facts_free(facts);
        }
        bytes.bytes[at] ^= 0x41;
    }
    pack_deinit(&bytes);
    script_free(s);
}

TEST_GROUP(NULL, NULL)
