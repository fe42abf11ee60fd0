#include <string.h>

#include "check.h"
#include "run/variant/variant.h"

TEST(pointers_to_candidates_stay_valid_as_the_table_grows)
{
    candidates table = {0};
    candidate *all[300];
    for (uint64_t i = 0; i < 300; i++)
        all[i] = candidates_add(&table, 7 * i);
    for (uint64_t i = 0; i < 300; i++) {
        assert_ptr_equal(table.items[i], all[i]);
        assert_int_equal(all[i]->id, i);
        assert_int_equal(all[i]->configuration, 7 * i);
        assert_int_equal(all[i]->stage, CANDIDATE_NEW);
    }
    candidates_deinit(&table);
}

TEST(results_are_copied_and_a_rejection_keeps_the_samples)
{
    candidates table = {0};
    int64_t samples[] = {900, 700, 800};
    char message[] = "";
    candidate *c = candidates_add(&table, 0);
    c->found.compile_ns = 5;
    candidate_found(c, OUTCOME_OK, message, samples, 3);
    samples[1] = 1;
    assert_null(c->found.message);
    assert_int_equal(measurement_fastest_ns(&c->found), 700);
    assert_int_equal(candidate_median_ns(c), 800);
    candidate_reject(c, OUTCOME_WRONG_RESULT, "on fresh data");
    assert_int_equal(c->found.outcome, OUTCOME_WRONG_RESULT);
    assert_string_equal(c->found.message, "on fresh data");
    assert_int_equal(c->found.sample_count, 3);
    assert_int_equal(c->found.compile_ns, 5);
    candidates_deinit(&table);
}

TEST(a_variant_that_a_proof_rejected_stays_wrong_on_every_device)
{
    candidates table = {0};
    const int64_t samples[] = {900};
    candidate *c = candidates_add(&table, 0);
    candidate_judge(
        c, &(proof){.verdict = PROOF_WRONG, .message = strdup("it reads what nobody wrote")});
    candidate_found(c, OUTCOME_OK, NULL, samples, 1);
    assert_int_equal(c->found.outcome, OUTCOME_WRONG_RESULT);
    assert_string_equal(c->found.message, "on the simulated device, it reads what nobody wrote");
    assert_int_equal(c->found.sample_count, 1);
    candidates_deinit(&table);
}

TEST(a_variant_lends_its_images_and_their_resources)
{
    candidates table = {0};
    device_variant lent;
    candidate *c = candidates_add(&table, 0);
    c->present[0] = true;
    c->images[0] = strdup("cubin");
    c->image_bytes[0] = 6;
    c->found.resources = (kernel_resources){.registers = 40, .static_shared_bytes = 128};
    candidate_variant(c, &lent);
    assert_true(lent.present[0]);
    assert_ptr_equal(lent.images[0].bytes, c->images[0]);
    assert_int_equal(lent.images[0].registers, 40);
    assert_int_equal(lent.images[0].static_shared_bytes, 128);
    candidate_drop_images(c);
    candidate_variant(c, &lent);
    assert_int_equal(lent.images[0].size_bytes, 0);
    candidates_deinit(&table);
}
