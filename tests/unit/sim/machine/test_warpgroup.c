/* Compares matrix products of warpgroups with the host's, for each type, shape and layout. */
#include "sim_fixture.h"
#include "warpgroup_forms.h"

static void assert_product(const warpgroup_form *f)
{
    static warpgroup_data d;
    static char text[32768];
    int row, column;
    sim_test t;
    warpgroup_fill(f, &d);
    warpgroup_kernel(f, text, sizeof text);
    sim_test_init(&t, text, "sm_90a", "k");
    sim_test_u64(&t, sim_test_buffer(&t, "image", d.image, sizeof d.image, true));
    sim_test_u64(&t, sim_test_buffer(&t, "A", d.a_registers, sizeof d.a_registers, true));
    sim_test_u64(&t, sim_test_buffer(&t, "D", d.d_registers, sizeof d.d_registers, true));
    sim_test_u64(&t, d.at_a);
    sim_test_u64(&t, d.at_b);
    sim_test_u64(&t, f->keeps);
    sim_test_u64(&t, sim_test_buffer(&t, "E", d.metadata, sizeof d.metadata, true));
    sim_test_run_well(&t, 1, 1, WARPGROUP_THREADS, 1, WARPGROUP_IMAGE_BYTES);
    const double distance = warpgroup_distance(f, &d, &row, &column);
    if (!(distance <= warpgroup_allowed(f)))
        fail_msg("%s%s, n %d, swizzle %d: row %d, column %d is off by %.3g",
                 f->sparse ? "sparse " : "", f->types, f->n, f->swizzle, row, column, distance);
    sim_test_deinit(&t);
}

TEST(products_equal_the_sums_over_rows_and_columns)
{
    for (const warpgroup_form *f = warpgroup_forms; f->types; f++)
        assert_product(f);
}
