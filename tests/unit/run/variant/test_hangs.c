/* If variants hang, others with the same values are likely to hang. Tests which. */
#include <string.h>

#include "run/tables.h"
#include "run/variant/hangs.h"
#include "script_fixture.h"

/* The parameters of tests/fixtures/scale.lua are block, vec and cached. */
typedef struct fixture {
    session session;
    pipeline *pipeline;
    hangs hangs;
    at_error error;
} fixture;

static int open_session(void **state)
{
    static fixture f;
    f = (fixture){0};
    tables_open(&f.session);
    hangs_init(&f.hangs, script_pattern(f.session.script));
    *state = &f;
    return 0;
}

static int close_session(void **state)
{
    fixture *f = *state;
    pipeline_free(f->pipeline);
    hangs_deinit(&f->hangs);
    tables_close(&f->session);
    return 0;
}

static void note(fixture *f, const char *text, bool hung)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    assert_ok(script_parse_configuration(f->session.script, text, indices, &f->error), f->error);
    hangs_note(&f->hangs, indices, hung);
}

/* Returns the likely cause of hangs as a text, or NULL if no cause is known. */
static const char *cause(fixture *f, const char *text)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    assert_ok(script_parse_configuration(f->session.script, text, indices, &f->error), f->error);
    const hang_cause *found = hangs_find(&f->hangs, indices);
    return found ? found->text : NULL;
}

TEST_IN(three_hanging_variants_suggest_their_common_value, open_session, close_session)
{
    fixture *f = *state;
    note(f, "block=64,vec=1,cached=true", false);
    note(f, "block=64,vec=2,cached=true", true);
    note(f, "block=128,vec=2,cached=true", true);
    assert_null(cause(f, "block=256,vec=2,cached=true"));
    note(f, "block=32,vec=2,cached=false", true);
    assert_string_equal(cause(f, "block=256,vec=2,cached=true"), "vec=2");
    assert_string_equal(cause(f, "block=256,vec=2,cached=false"), "vec=2");
    assert_null(cause(f, "block=256,vec=4,cached=true"));
}

TEST_IN(of_several_common_values_each_may_be_the_cause, open_session, close_session)
{
    fixture *f = *state;
    note(f, "block=64,vec=2,cached=false", true);
    note(f, "block=128,vec=2,cached=false", true);
    note(f, "block=32,vec=2,cached=false", true);
    assert_string_equal(cause(f, "block=256,vec=2,cached=false"), "vec=2, cached=false");
    assert_null(cause(f, "block=256,vec=2,cached=true"));
    assert_null(cause(f, "block=256,vec=4,cached=false"));
    note(f, "block=256,vec=4,cached=false", true);
    assert_string_equal(cause(f, "block=512,vec=4,cached=false"), "cached=false");
}

TEST_IN(a_variant_that_ends_clears_its_values, open_session, close_session)
{
    fixture *f = *state;
    note(f, "block=64,vec=2,cached=true", true);
    note(f, "block=128,vec=2,cached=true", true);
    note(f, "block=32,vec=2,cached=false", true);
    note(f, "block=1024,vec=2,cached=false", false);
    assert_null(cause(f, "block=256,vec=2,cached=true"));
    /* A value of a variant that ends can no longer be the cause. */
    note(f, "block=512,vec=2,cached=false", true);
    assert_null(cause(f, "block=256,vec=2,cached=true"));
}

TEST_IN(without_a_common_value_all_variants_are_likely_to_hang, open_session, close_session)
{
    fixture *f = *state;
    note(f, "block=64,vec=1,cached=true", true);
    note(f, "block=128,vec=2,cached=true", true);
    note(f, "block=32,vec=4,cached=false", true);
    assert_string_equal(cause(f, "block=1024,vec=1,cached=true"), "");
}

static bool has_vec_4(fixture *f, const candidate *c)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS], wanted[PATTERN_MAX_PARAMETERS];
    space_at(f->session.space, c->configuration, indices);
    assert_ok(script_parse_configuration(f->session.script, "vec=4", wanted, &f->error), f->error);
    return indices[1] == wanted[1];
}

TEST_IN(a_run_leaves_out_only_variants_that_are_likely_to_hang, open_session, close_session)
{
    fixture *f = *state;
    size_t hang = 0, hung = 0;
    for (uint64_t i = 0; i < space_count(f->session.space); i++)
        if (has_vec_4(f, &(candidate){.configuration = i})) {
            the_tables.works[i] = OUTCOME_TIMEOUT;
            hang++;
        }
    /* A variant that does not compile says nothing about hangs. */
    the_tables.compiles[0] = COMPILE_ERROR;
    assert_false(has_vec_4(f, &(candidate){.configuration = 0}));
    f->pipeline = pipeline_new(&f->session, &(pipeline_options){.samples = 3, .racing = 1.3});
    assert_ok(tables_try_all(f->pipeline, &f->session, &f->error), f->error);
    const candidates *all = pipeline_candidates(f->pipeline);
    for (size_t i = 0; i < all->count; i++) {
        const candidate *c = all->items[i];
        assert_true(candidate_is_finished(c));
        hung += c->found.outcome == OUTCOME_TIMEOUT;
        if (has_vec_4(f, c))
            assert_true(c->found.outcome == OUTCOME_TIMEOUT ||
                        c->found.outcome == OUTCOME_REJECTED);
        else
            assert_int_equal(c->found.outcome, i == 0 ? OUTCOME_COMPILE_ERROR : OUTCOME_OK);
        if (c->found.outcome == OUTCOME_REJECTED)
            assert_contains(c->found.message,
                            "not tried, because all 3 variants with vec=4 that were");
    }
    assert_in_range(hung, HANGS_OF_A_CAUSE, hang - 1);
    assert_int_equal(pipeline_get_state(f->pipeline)->left_out, hang - hung);
    assert_false(pipeline_get_state(f->pipeline)->all_hang);
}
