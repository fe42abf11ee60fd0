/* Tests that stored decisions of sites are complete even if the writing process is killed. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "library/sites.h"
#include "temporary.h"

static const arch_limits h200 = {.name = "NVIDIA H200", .major = 9};
static const int64_t blocks[] = {128, 64, 256, 512, 1024};

typedef temporary_file fixture;

static int set_up(void **state)
{
    return temporary_file_set_up(state, "");
}

enum { MOST_PUT = 1500 };

static site_key key_of(const at_variable *n, const site_space *of)
{
    return (site_key){"axpy", n, 1, of};
}

/* Stores decisions for one problem after the other. Writes the number of each decision to `to`. */
static void put_until_killed(const char *folder, const site_space *of, int64_t from, int to)
{
    site_store *store = NULL;
    at_error error;
    const site_decision decision = {.configuration = 1,
                                    .time = {.count = 1,
                                             .min_ns = 1,
                                             .q1_ns = 1,
                                             .median_ns = 1,
                                             .q3_ns = 1,
                                             .low_ns = 1,
                                             .high_ns = 1}};
    if (site_store_open(folder, &h200, "580", "1", &store, &error))
        _exit(1);
    for (int64_t i = from; i < MOST_PUT; i++) {
        const at_variable n = at_integer("n", i);
        const site_key key = key_of(&n, of);
        if (site_store_put(store, &key, &decision, &error) || write(to, &i, sizeof i) != sizeof i)
            _exit(1);
    }
    _exit(0);
}

static void ignore(void *context, const char *text)
{
    (void)context;
    fail_msg("%s", text);
}

TEST_IN(a_kill_while_it_is_written_loses_nothing, set_up, temporary_file_tear_down)
{
    const fixture *f = *state;
    const char *asked = getenv("AUTOTUNE_KILLS");
    int kills = asked ? atoi(asked) : 20;
    const at_parameter block = at_integers("block", blocks, 5);
    site_space few;
    at_error error = {0};
    rng random = rng_seeded(17);
    int64_t put = 0;
    assert_ok(site_space_init(&few, &block, 1, &error), error);
    for (int k = 0; k < kills; k++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        if (put > MOST_PUT / 2)
            put = 0;
        pid_t child = fork();
        if (child == 0)
            put_until_killed(f->folder, &few, put, ends[1]);
        close(ends[1]);
        int64_t told;
        if (read(ends[0], &told, sizeof told) == sizeof told)
            put = told + 1;
        usleep((useconds_t)rng_below(&random, 6000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(ends[0], &told, sizeof told) == sizeof told)
            put = told + 1;
        close(ends[0]);
        site_store *store = NULL;
        assert_ok(site_store_open(f->folder, &h200, "580", "1", &store, &error), error);
        for (int64_t i = 0; i < put; i++) {
            const at_variable n = at_integer("n", i);
            const site_key key = key_of(&n, &few);
            uint32_t found = 0;
            if (!site_store_find(store, &key, ignore, NULL, &found) || found != 1)
                fail_msg("kill %d lost problem %d of %d", k, (int)i, (int)put);
        }
        site_store_close(store);
    }
    site_space_deinit(&few);
    assert_true(put > 0);
}
