/* Tables for picking, as they are made of records and as they are read from bytes: both give the
 * same candidates, and bytes that are none are refused. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "record/pick.h"
#include "record/pick_index.h"

enum { PROBLEMS = 60, MOST_STEPS = 40 };

static const char *const patterns[] = {"transpose", "dot", "conv2d", "transfer", "aos_soa"};

static void load(const char *pattern, record_set *set, pick_table *made)
{
    at_error error = {0};
    assert_ok(record_load_all(TEST_SOURCE_DIR "/results", pattern, set, &error), error);
    assert_true(set->count > 0);
    assert_ok(pick_table_make(set, made, &error), error);
}

static at_status read_copy(const pack *bytes, size_t size_bytes, pick_table *out)
{
    pack copy = {0};
    at_error error = {0};
    pack_append(&copy, bytes->bytes, size_bytes);
    at_status status = pick_index_get(&copy, out, &error);
    pack_deinit(&copy);
    return status;
}

/* One of the records' problems, some of whose sizes are others. */
static record_values draw_problem(rng *r, const record_set *set, record_pair pairs[])
{
    const record *from = &set->records[rng_below(r, set->count)];
    const record_values *like = &from->entries[rng_below(r, from->entry_count)].problem;
    memcpy(pairs, like->pairs, like->count * sizeof *pairs);
    for (size_t i = 0; i < like->count; i++)
        if (pairs[i].value.kind == VALUE_INTEGER && rng_below(r, 2))
            pairs[i].value.integer = 1 + (int64_t)rng_below(r, 20000);
    return (record_values){like->count - rng_below(r, 2), pairs};
}

static void compare_walks(const pick_table *a, const pick_table *b, const pick_target *target)
{
    pick_walk x, y;
    pick_candidate p, q;
    pick_walk_begin(&x, a, target);
    pick_walk_begin(&y, b, target);
    for (int i = 0; i < MOST_STEPS; i++) {
        const bool more = pick_walk_next(&x, &p);
        assert_int_equal(pick_walk_next(&y, &q), more);
        if (!more)
            break;
        assert_int_equal(p.rule, q.rule);
        assert_true(p.distance == q.distance);
        assert_int_equal(p.place, q.place);
        assert_int_equal(p.portfolio_place, q.portfolio_place);
        assert_int_equal(p.ahead, q.ahead);
        assert_int_equal(p.time_ns, q.time_ns);
        assert_true(record_same_values(p.configuration, q.configuration));
        assert_int_equal(p.from != NULL, q.from != NULL);
        if (p.from)
            assert_string_equal(p.from->gpu, q.from->gpu);
        assert_int_equal(pick_judge(&x, &p, NULL), pick_judge(&y, &q, NULL));
    }
    pick_walk_end(&x);
    pick_walk_end(&y);
}

static bool ask(void *context, const record_feature *feature, const record_values *configuration,
                double *out)
{
    (void)context;
    *out = (double)(strlen(feature->definition) + configuration->count);
    return true;
}

TEST(a_table_that_was_read_gives_the_candidates_of_the_one_that_was_made)
{
    static const char *const gpus[] = {"NVIDIA H200", "NVIDIA H100 80GB HBM3", "NVIDIA L4", "?"};
    rng r = rng_seeded(3);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        record_set set;
        pick_table made, read;
        pack bytes = {0};
        load(patterns[i], &set, &made);
        pick_index_put(&bytes, &made);
        assert_int_equal(read_copy(&bytes, bytes.size_bytes, &read), AT_OK);
        for (int n = 0; n < PROBLEMS; n++) {
            record_pair pairs[RECORD_MAX_VALUES];
            const record_values problem = draw_problem(&r, &set, pairs);
            const pick_target target = {.gpu = gpus[n % 4],
                                        .major = n % 4 == 2 ? 8 : 9 - n % 3 / 2,
                                        .minor = n % 4 == 2 ? 9 : 0,
                                        .problem = &problem,
                                        .ask = ask};
            compare_walks(&made, &read, &target);
        }
        pick_table_deinit(&read);
        pick_table_deinit(&made);
        record_set_deinit(&set);
        pack_deinit(&bytes);
    }
}

/* The walk against every candidate, sorted. */
TEST(candidates_come_by_rule_then_distance)
{
    record_set set;
    pick_table made;
    rng r = rng_seeded(5);
    load("conv2d", &set, &made);
    for (int n = 0; n < PROBLEMS; n++) {
        record_pair pairs[RECORD_MAX_VALUES];
        const record_values problem = draw_problem(&r, &set, pairs);
        const pick_target target = {
            .gpu = n % 2 ? "NVIDIA H200" : "?", .major = 9, .problem = &problem};
        pick_walk w;
        pick_candidate last = {0}, next;
        size_t entries = 0, all = 0;
        pick_walk_begin(&w, &made, &target);
        while (pick_walk_next(&w, &next)) {
            assert_true(next.rule > last.rule ||
                        (next.rule == last.rule && next.distance >= last.distance));
            if (next.entry) {
                entries++;
                double distance = 0;
                for (size_t i = 0; i < next.entry->problem.count; i++) {
                    const value *v = record_get(&problem, next.entry->problem.pairs[i].name);
                    distance += v ? pick_value_distance(next.entry->problem.pairs[i].value, *v)
                                  : PICK_UNLIKE;
                }
                assert_true(next.distance > distance - 1e-9 && next.distance < distance + 1e-9);
            }
            last = next;
        }
        pick_walk_end(&w);
        for (size_t i = 0; i < set.count; i++)
            all += set.records[i].entry_count;
        assert_int_equal(entries, all);
    }
    pick_table_deinit(&made);
    record_set_deinit(&set);
}

TEST(bytes_that_are_no_index_are_refused)
{
    record_set set;
    pick_table made, read;
    pack bytes = {0};
    load("dot", &set, &made);
    pick_index_put(&bytes, &made);
    for (size_t cut = 0; cut < bytes.size_bytes; cut += 1 + cut / 64) {
        assert_int_equal(read_copy(&bytes, cut, &read), AT_FORMAT);
        pick_table_deinit(&read);
    }
    /* One byte that is another: refused, or a table that can be asked without harm. */
    const record_values *problem = &set.records[0].entries[0].problem;
    const pick_target target = {.gpu = "NVIDIA H200", .major = 9, .problem = problem, .ask = ask};
    for (size_t at = 0; at < bytes.size_bytes; at += 1 + at / 256) {
        pick_candidate found;
        bytes.bytes[at] ^= 0x21;
        if (read_copy(&bytes, bytes.size_bytes, &read) == AT_OK)
            (void)pick_from(&read, &target, &found);
        pick_table_deinit(&read);
        bytes.bytes[at] ^= 0x21;
    }
    pick_table_deinit(&made);
    record_set_deinit(&set);
    pack_deinit(&bytes);
}

TEST_GROUP(NULL, NULL)
