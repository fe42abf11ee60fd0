/* Compares random expressions with Lua: in exported C, and evaluated for many configurations at
 * once without Lua. The expressions are chains of cases ("a and 1 or b and 2 or 3") of every
 * type, nested and with operators and functions. An expression must fail if it fails in Lua. */
#include "base/rng.h"
#include "check.h"
#include "header_fixture.h"
#include "script/state.h"

/* Parameters of the script. `chain` selects a chain, or 0 for none. The value of the chain is
 * compared with `probe` or `text`. Chains read the other parameters. */
enum { CHAINS = 96, PROBES = 4, SIZES = 3, QUESTIONS = PROBES * SIZES * SIZES * 2, NAMES = 7 };

static const char space_text[] =
    "space = { chain = at.range(0, 96), probe = { 0, 1, 2, 3 }, text = { 'no', 'a', 'bc', 'd' }, x "
    "= { 0, 1, 2 },"
    " y = { 0, 1, 2 }, flag = { false, true }, word = { 'a', 'bc' } },";
static const char one_record[] =
    "{\"schema\": \"autotune-record\", \"version\": 1, \"pattern\": \"p\", \"gpu\": \"G\","
    " \"compute_capability\": \"9.0\", \"entries\": [{\"problem\": {\"n\": 1}, \"configuration\": "
    "{\"chain\": 0,"
    " \"probe\": 0, \"text\": \"no\", \"x\": 0, \"y\": 0, \"flag\": false, \"word\": \"a\"},"
    " \"time\": {\"median_ns\": 5, \"low_ns\": 4, \"high_ns\": 6}}]}";
static const char main_c[] =
    "#include \"p.h\"\n#include <stdio.h>\n"
    "int main(void)\n{\n    autotune_device d = autotune_device_named(\"G\", 9, 0);\n"
    "    autotune_p_problem p = {1};\n    autotune_p_config c = autotune_p_default();\n"
    "    for (c.chain = 1; c.chain <= 96; c.chain++)\n        for (int i = 0; i < 72; i++) {\n"
    "            c.probe = i % 4;\n            c.text = (autotune_p_text_kind)(i % 4);\n"
    "            c.x = i / 4 % 3;\n            c.y = i / 12 % 3;\n            c.flag = i >= 36;\n"
    "            c.word = (c.x + c.y) % 2 ? AUTOTUNE_P_WORD_BC : AUTOTUNE_P_WORD_A;\n"
    "            putchar('0' + autotune_p_fits(&d, &p, &c));\n        }\n    return 0;\n}\n";

/* Sets the configuration of question `i` of a chain, as main.c of the exported program does. */
static void question(uint16_t chain, int i, uint16_t indices[NAMES])
{
    const uint16_t probe = (uint16_t)(i % 4), x = (uint16_t)(i / 4 % 3), y = (uint16_t)(i / 12 % 3);
    memcpy(indices, (uint16_t[NAMES]){chain, probe, probe, x, y, i >= 36, (x + y) % 2},
           NAMES * sizeof *indices);
}

/* ---- random chains ---- */

typedef enum kind { WHOLE, NUMBER, WORD, TRUTH, KINDS } kind;

static void append_cases(rng *r, int depth, kind k, char *text);
static void append_chain(rng *r, int depth, kind k, char *text);

/* Appends operators, some without brackets, so that precedence is tested. */
static void append_arithmetic(rng *r, int depth, char *text)
{
    static const char *const leaves[] = {"x", "y", "-x", "probe", "device.major"};
    static const char *const forms[] = {
        "@ + @",          "@ - @",          "@ * @",
        "@ // (@ + 1)",   "@ % 3",          "@ & @",
        "@ | @",          "@ ~ @",          "@ << 2",
        "@ >> (@ % 4)",   "(@ * @)",        "-(@)",
        "min(@, @, 7)",   "max(@, @)",      "math.abs(@)",
        "ceil_div(@, 3)", "round_up(@, 4)", "log2(@)",
        "floor((@) / 3)", "ceil((@) / 2)",  "cluster_load(132, 1 + (@) % 300, 2, 1)",
    };
    if (depth == 0) {
        const uint64_t leaf = rng_below(r, 8);
        if (leaf == 5)
            append(text, "sizeof('half')");
        else if (leaf < 5)
            append(text, "%s", leaves[leaf]);
        else
            append(text, "%d", (int)rng_below(r, 9));
        return;
    }
    for (const char *c = forms[rng_below(r, sizeof forms / sizeof *forms)]; *c; c++)
        if (*c == '@')
            append_arithmetic(r, depth - 1, text);
        else
            append(text, "%c", *c);
}

static void append_plain_value(rng *r, kind k, char *text)
{
    static const char *const plain[KINDS][4] = {{"x", "y", "x + y", "y * 2 - 1"},
                                                {"x / 2", "y - 0.5", "0.5", "1e0"},
                                                {"word", "'bc'", "'d'", "'no'"},
                                                {"flag", "not flag", "true", "false"}};
    if (k == WHOLE && rng_below(r, 10) == 0)
        append(text, "6 // (x - y)");
    else if (k == WHOLE && rng_below(r, 3) == 0)
        append_arithmetic(r, 2, text);
    else if (k == WHOLE && rng_below(r, 2))
        append(text, "%d", (int)rng_below(r, PROBES));
    else
        append(text, "%s", plain[k][rng_below(r, 4)]);
}

static void append_value(rng *r, int depth, kind k, char *text)
{
    if (depth == 0 || rng_below(r, 3)) {
        append_plain_value(r, k, text);
        return;
    }
    append(text, "(");
    append_chain(r, depth - 1, k, text);
    append(text, ")");
}

static void append_condition(rng *r, int depth, char *text)
{
    static const char *const plain[] = {"flag",   "not flag",     "x == 1", "x > y",
                                        "y ~= 2", "word == 'a'",  "x <= 1", "x + y < 3",
                                        "true",   "word ~= 'bc'", "false"};
    enum { PLAIN = sizeof plain / sizeof *plain };
    const char *const bracket = rng_below(r, 2) ? "not (" : "(";
    switch (depth == 0 ? 0 : rng_below(r, 8)) {
    case 4: /* the condition is a chain of cases */
        append(text, "%s", bracket);
        append_cases(r, depth - 1, (kind)rng_below(r, TRUTH), text);
        append(text, ")");
        break;
    case 5:
        append(text, "%s", bracket);
        append_chain(r, depth - 1, TRUTH, text);
        append(text, ")");
        break;
    case 6:
        append(text, "(");
        append_chain(r, depth - 1, WHOLE, text);
        append(text, ") > 1");
        break;
    case 7:
        append_condition(r, depth - 1, text);
        append(text, " and ");
        append_condition(r, 0, text);
        break;
    default:
        if (rng_below(r, 25) == 0)
            append(text, "6 // (x + y - 2) > 2");
        else
            append(text, "%s", plain[rng_below(r, PLAIN)]);
    }
}

/* Sometimes appends cases in brackets, if `depth` is not 0. Returns whether cases were appended. */
static bool append_cases_within(rng *r, int depth, kind k, char *text)
{
    if (depth == 0 || rng_below(r, 6))
        return false;
    append(text, "(");
    append_cases(r, depth - 1, k, text);
    append(text, ")");
    return true;
}

/* Appends a case, "a and 1". If its value is a chain that fails, the next case decides. */
static void append_case(rng *r, int depth, kind k, char *text)
{
    append_condition(r, depth, text);
    append(text, " and ");
    if (!append_cases_within(r, depth, k, text))
        append_value(r, depth, k, text);
}

/* Appends cases, "a and 1 or b and 2". Their value is false if all conditions are false. */
static void append_cases(rng *r, int depth, kind k, char *text)
{
    const uint64_t count = 1 + rng_below(r, 4);
    for (uint64_t i = 0; i < count; i++) {
        append(text, i ? " or " : "");
        if (!append_cases_within(r, depth, k, text))
            append_case(r, depth, k, text);
    }
}

/* Appends a whole chain, "a and 1 or b and 2 or 3". */
static void append_chain(rng *r, int depth, kind k, char *text)
{
    append_cases(r, depth, k, text);
    append(text, " or ");
    append_value(r, depth, k, text);
}

/* Appends a constraint that compares chain `number` with `probe` if the parameter `chain`
 * selects this chain. A chain without a last value gets a last value, or is compared with false. */
static void append_question(rng *r, int number, char *where)
{
    static const char *const wanted[KINDS] = {"probe", "probe / 2", "text", "(probe > 1)"};
    static const char *const otherwise[KINDS] = {"3", "1.5", "'d'", "flag"};
    const kind k = (kind)(number % KINDS);
    append(where, "\"chain ~= %d or ", number);
    switch (rng_below(r, 4)) {
    case 0:
        append(where, "((");
        append_cases(r, 2, k, where);
        append(where, ") or %s) == %s", otherwise[k], wanted[k]);
        break;
    case 1:
        append(where, "not (");
        append_cases(r, 2, k, where);
        append(where, ") == (probe > 1)");
        break;
    default:
        append(where, "(");
        append_chain(r, 2, k, where);
        append(where, ") == %s", wanted[k]);
    }
    append(where, "\",\n");
}

static script *load_chains(void)
{
    static char where[HEADER_TEXT_BYTES];
    rng r = rng_seeded(5);
    where[0] = '\0';
    append(where, "where = {\n");
    for (int i = 1; i <= CHAINS; i++)
        append_question(&r, i, where);
    append(where, "},");
    return fixture_load_pattern(
        &(fixture_pattern){.problem = "problem = { n = 1 },",
                           .space = space_text,
                           .where = where,
                           .baseline = "baseline = { chain = 0, probe = 0, text = 'no', x = 0, y = "
                                       "0, flag = false, word = 'a' },"});
}

/* ---- the answers ---- */

/* Writes '1' or '0' for each question of each chain. A failure counts as '0'. */
static void ask_lua(script *s, char *answers, int *yes, int *failed)
{
    for (uint16_t chain = 1; chain <= CHAINS; chain++)
        for (int i = 0; i < QUESTIONS; i++) {
            uint16_t indices[NAMES];
            size_t broken;
            bool valid = false;
            question(chain, i, indices);
            const bool fails =
                script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, NULL) != AT_OK;
            *failed += fails;
            *yes += !fails && valid;
            *answers++ = !fails && valid ? '1' : '0';
        }
    *answers = '\0';
}

/* Chains that need no Lua are evaluated at once for all values of `probe` and `text`. */
TEST(chains_evaluated_at_once_have_the_values_of_lua)
{
    size_t without_lua = 0;
    script *s = load_chains();
    for (uint16_t chain = 1; chain <= CHAINS; chain++) {
        const expression *e = &s->space.constraint_tests[chain - 1];
        without_lua += e->step_count > 0;
        for (int i = 0; i < QUESTIONS; i++) {
            uint16_t indices[NAMES];
            bool alone = false, at_once = false;
            question(chain, i, indices);
            const space_question q = {chain - 1u, indices, 1, &(uint16_t){indices[1]}, 1};
            at_status wanted = expression_test(s, e, PROBLEM_TUNED, indices, &alone, NULL);
            assert_int_equal(
                expression_test_each(s, e, PROBLEM_TUNED, &q, &(work_budget){0}, &at_once, NULL),
                wanted);
            if (at_once != alone)
                fail_msg("question %d of %s: %d", i, e->text, at_once);
        }
    }
    /* Chains of fractional numbers and some other chains are evaluated by Lua only. */
    assert_in_range(without_lua, CHAINS / 3, CHAINS);
    script_free(s);
}

TEST(chains_in_c_have_the_values_of_lua)
{
    char wanted[CHAINS * QUESTIONS + 1];
    int yes = 0, failed = 0;
    script *s = load_chains();
    ask_lua(s, wanted, &yes, &failed);
    /* Enough questions must hold, enough must not hold, and enough must fail. */
    assert_in_range(yes, CHAINS * QUESTIONS / 5, CHAINS * QUESTIONS / 2);
    assert_in_range(failed, CHAINS * QUESTIONS / 50, CHAINS * QUESTIONS / 5);

    write_consumer(s, one_record, main_c);
    for (int c = 0; c < CONSUMER_COMPILERS; c++) {
        char *said = run_consumer(consumer_compilers[c]);
        assert_int_equal(strlen(said), CHAINS * QUESTIONS);
        for (int i = 0; i < CHAINS * QUESTIONS; i++)
            if (said[i] != wanted[i])
                fail_msg("%s: question %d of %s: %c instead of %c", consumer_compilers[c],
                         i % QUESTIONS, script_pattern(s)->constraints[i / QUESTIONS].text, said[i],
                         wanted[i]);
        free(said);
    }
    script_free(s);
}

TEST_GROUP(fixture_setup, fixture_teardown)
