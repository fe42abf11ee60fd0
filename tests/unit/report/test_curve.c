#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report/curve.h"
#include "sample_run.h"

typedef struct fixture {
    curve *curve;
    at_error error;
    char *text; /* what was written last */
} fixture;

static void add(fixture *f, const char *rows, const char *type, int64_t median_ns)
{
    pattern_variable variables[3];
    pattern p = sample_pattern(atoi(rows), variables);
    run_summary s;
    sample_run(&s, &p, median_ns);
    assert_ok(curve_add(f->curve, (const char *const[]){rows, type}, &s, NULL, &f->error),
              f->error);
    run_summary_deinit(&s);
}

static int set_up(void **state)
{
    static const char *const names[] = {"rows", "dtype"};
    static fixture f;
    f = (fixture){0};
    assert_ok(curve_new(names, 2, &f.curve, &f.error), f.error);
    add(&f, "1024", "float", 20000);
    assert_ok(curve_add(f.curve, (const char *const[]){"1024", "half"}, NULL, "no memory for it",
                        &f.error),
              f.error);
    add(&f, "65536", "float", 140000);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    curve_free(f->curve);
    free(f->text);
    return 0;
}

typedef at_status (*writer)(const curve *c, FILE *to, at_error *error);

static const char *written(fixture *f, writer write)
{
    size_t size;
    FILE *to = open_memstream(&f->text, &size);
    assert_ok(write(f->curve, to, &f->error), f->error);
    fclose(to);
    return f->text;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void a_table_has_a_line_a_point_and_says_why_one_has_no_winner(void **state)
{
    const char *text = written(*state, curve_print);
    assert_has(text, "transpose on ");
    assert_has(text, "GB/s   of copy");
    assert_has(text, "   1024  float      20.00");
    assert_has(text, "   1024   half  no memory for it");
    assert_has(text, "  65536  float     140.00");
    assert_has(text, "in all: algorithm=tile");
}

static void json_has_every_point_with_its_problem(void **state)
{
    json_t *root = json_loads(written(*state, curve_print_json), 0, NULL);
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

static at_status plot(const curve *c, FILE *to, at_error *error)
{
    return curve_plot(c, "it's.svg", to, error);
}

static void a_picture_has_a_line_for_each_other_value_on_a_scale_that_fits(void **state)
{
    const char *text = written(*state, plot);
    assert_has(text, "set terminal svg");
    assert_has(text, "set logscale x 2");
    assert_has(text, "'best, dtype=float'");
    assert_has(text, "'baseline, dtype=half'");
}

static void a_picture_of_another_kind_is_refused(void **state)
{
    fixture *f = *state;
    assert_int_equal(curve_plot(f->curve, "a.gif", stdout, &f->error), AT_USAGE);
    assert_has(f->error.message, ".png or .svg");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_table_has_a_line_a_point_and_says_why_one_has_no_winner,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(json_has_every_point_with_its_problem, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_picture_has_a_line_for_each_other_value_on_a_scale_that_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_picture_of_another_kind_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
