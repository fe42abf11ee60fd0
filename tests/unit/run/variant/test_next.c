/* Tests the rule for the next step of a candidate, as a table. */
#include "run/variant/course.h"

#include "check.h"

typedef struct row {
    const char *when;
    next_facts facts;
    next_step next;
} row;

static void expect_rows(const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const next_step found = candidate_next(&rows[i].facts);
        if (found != rows[i].next)
            fail_msg("%s: step %d, not %d", rows[i].when, (int)found, (int)rows[i].next);
    }
}

#define EXPECT(rows) expect_rows(rows, sizeof(rows) / sizeof *(rows))

TEST(a_new_candidate_is_compiled_unless_it_is_likely_to_hang)
{
    static const row rows[] = {
        {"nothing is known", {.stage = CANDIDATE_NEW}, NEXT_COMPILE},
        {"three hung", {.stage = CANDIDATE_NEW, .likely_hangs = true}, NEXT_REJECT_HANGING},
    };
    EXPECT(rows);
}

#define WAITING .stage = CANDIDATE_WAITING
TEST(a_waiting_candidate_is_tried_unless_it_is_likely_to_hang)
{
    static const row rows[] = {
        {"nothing is known", {WAITING}, NEXT_TRY},
        {"three hung meanwhile", {WAITING, .likely_hangs = true}, NEXT_REJECT_HANGING},
    };
    EXPECT(rows);
}

#define DONE .stage = CANDIDATE_FINISHED
#define WORKS DONE, .works = true, .has_code = true, .racing = 1.3, .ratio = 1
TEST(machine_code_is_kept_for_candidates_that_may_race)
{
    static const row rows[] = {
        {"it failed", {DONE, .has_code = true, .racing = 1.3}, NEXT_DROP_CODE},
        {"it failed, and has none", {DONE, .leads = true, .checks = true}, NEXT_WAIT},
        {"near", {DONE, .works = true, .has_code = true, .racing = 1.3, .ratio = 1.3}, NEXT_WAIT},
        {"far",
         {DONE, .works = true, .has_code = true, .racing = 1.3, .ratio = 1.4},
         NEXT_DROP_CODE},
        {"kept anyway", {DONE, .works = true, .has_code = true, .racing = 1.3}, NEXT_WAIT},
        {"no race", {DONE, .works = true, .has_code = true, .ratio = 1}, NEXT_DROP_CODE},
    };
    EXPECT(rows);
}

#define LEADS WORKS, .leads = true, .checks = true
TEST(the_leader_is_checked_and_then_proven)
{
    static const row rows[] = {
        {"deferred", {LEADS, .gains = true, .ragged = RAGGED_DEFERRED}, NEXT_CHECK},
        {"prepared", {LEADS, .gains = true, .ragged = RAGGED_UNCHECKED}, NEXT_CHECK},
        {"within noise", {LEADS, .ragged = RAGGED_DEFERRED, .proof_pays = true}, NEXT_WAIT},
        {"not wanted", {WORKS, .leads = true, .gains = true, .ragged = RAGGED_DEFERRED}, NEXT_WAIT},
        {"not the leader", {WORKS, .checks = true, .ragged = RAGGED_DEFERRED}, NEXT_WAIT},
        {"passed", {LEADS, .ragged = RAGGED_PASSED, .proof_pays = true}, NEXT_PROVE},
        {"nothing to pass", {LEADS, .proof_pays = true}, NEXT_PROVE},
        {"busy", {LEADS, .ragged = RAGGED_PASSED}, NEXT_WAIT},
        {"proven", {LEADS, .proof_pays = true, .has_proof = true}, NEXT_WAIT},
    };
    EXPECT(rows);
}

#define NEAR WORKS, .ragged = RAGGED_DEFERRED, .compilers_idle = true
TEST(likely_entrants_are_compiled_for_ragged_problems)
{
    static const row rows[] = {
        {"the third of three", {NEAR, .entrants = 3, .faster = 2}, NEXT_PREPARE},
        {"the fourth", {NEAR, .entrants = 3, .faster = 3}, NEXT_WAIT},
        {"no race is near", {NEAR}, NEXT_WAIT},
        {"busy", {WORKS, .ragged = RAGGED_DEFERRED, .entrants = 3}, NEXT_WAIT},
        {"compiled",
         {WORKS, .ragged = RAGGED_UNCHECKED, .compilers_idle = true, .entrants = 3},
         NEXT_WAIT},
    };
    EXPECT(rows);
}

TEST(a_candidate_that_waits_for_an_answer_waits)
{
    static const candidate_stage stages[] = {
        CANDIDATE_COMPILING, CANDIDATE_TRYING,      CANDIDATE_FOLLOWING, CANDIDATE_ABANDONED,
        CANDIDATE_CHECKING,  CANDIDATE_RECOMPILING, CANDIDATE_CHECK_DUE};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        assert_int_equal(candidate_next(&(next_facts){.stage = stages[i], .likely_hangs = true}),
                         NEXT_WAIT);
}

TEST(a_first_launch_is_too_slow_at_four_times_the_best_and_two_milliseconds)
{
    assert_int_equal(next_limit_ns(0), 0);
    assert_int_equal(next_limit_ns(1000), 2000000);
    assert_int_equal(next_limit_ns(1000000), 4000000);
}
