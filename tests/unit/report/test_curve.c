#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rendered.h"
#include "report/report.h"
#include "sample_run.h"

static void add(curve *c, const char *rows, const char *type, int64_t median_ns)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(atoi(rows), variables);
    run_summary s;
    sample_run(&s, &p, median_ns);
    curve_add(c, (const char *const[]){rows, type}, &s, NULL);
    run_summary_deinit(&s);
}

static int set_up(void **state)
{
    static const char *const names[] = {"rows", "dtype"};
    static curve c;
    curve_init(&c, names, 2);
    add(&c, "1024", "float", 20000);
    curve_add(&c, (const char *const[]){"1024", "half"}, NULL, "no memory for it");
    add(&c, "65536", "float", 140000);
    *state = &c;
    return 0;
}

static int tear_down(void **state)
{
    curve_deinit(*state);
    return 0;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

TEST_IN(a_table_has_a_line_for_each_point_and_reasons_for_missing_winners, set_up, tear_down)
{
    const curve *c = *state;
    char *text = render_page("curve", json_pack("{s[o]}", "curves", curve_pack(c)),
                             json_pack("{s[o]}", "words", curve_pack_figures(c)), 80, false);
    assert_has(text, "transpose on ");
    assert_has(text, "GB/s  of copy");
    assert_has(text, "   1024  float    20.00");
    assert_has(text,
               "   1024   half                                               no memory for it");
    assert_has(text, "  65536  float   140.00");
    assert_has(text, "all of the best have algorithm=tile");
    free(text);
}

TEST_IN(winners_without_a_common_value_have_no_line_for_it, set_up, tear_down)
{
    const curve *c = *state;
    json_t *curves = curve_pack(c);
    json_t *points = json_object_get(curves, "points");
    json_t *config = json_object_get(json_array_get(points, 0), "config"), *v;
    const char *name;
    json_object_foreach(config, name, v) json_object_set_new(config, name, json_string("other"));
    char *text = render_page("curve", json_pack("{s[o]}", "curves", curves),
                             json_pack("{s[o]}", "words", curve_pack_figures(c)), 80, false);
    if (strstr(text, "all of the best") || strstr(text, "in all"))
        fail_msg("%s", text);
    free(text);
}

TEST_IN(json_has_every_point_with_its_problem, set_up, tear_down)
{
    json_t *root = curve_pack(*state);
    json_t *points = json_object_get(root, "points");
    assert_int_equal(json_array_size(points), 3);
    json_t *last = json_array_get(points, 2);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(last, "problem"), "rows")),
                     65536);
    assert_int_equal(json_integer_value(json_object_get(last, "time_ns")), 140000);
    assert_string_equal(json_string_value(json_object_get(json_array_get(points, 1), "message")),
                        "no memory for it");
    json_decref(root);
}

TEST_IN(a_picture_has_a_line_for_each_other_value_on_a_scale_that_fits, set_up, tear_down)
{
    const curve *c = *state;
    char *text =
        render_page("curve_plot", curve_pack(c),
                    json_pack("{sb so}", "png", 0, "words", curve_pack_figures(c)), 80, false);
    assert_has(text, "set terminal svg");
    assert_has(text, "set logscale x 2");
    assert_has(text, "'best, dtype=float'");
    assert_has(text, "'baseline, dtype=half'");
    free(text);
}
