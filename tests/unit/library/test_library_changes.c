/* libautotune follows records and scripts while these change, and keeps what it found for other
 * processes. */
#include <sys/stat.h>
#include <unistd.h>

#include "library/library.h"
#include "library/results.h"
#include "library/source.h"
#include "library_fixture.h"

TEST_IN(for_a_gpu_of_which_nothing_is_known_nothing_is_checked, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    for (int round = 0; round < 2; round++) {
        pick_size(f, &(at_gpu){"NVIDIA A", 1, 0}, 4096);
        assert_int_equal(at_choice_checked(f->choice), 0);
        pick_size(f, &h200, 4096);
        assert_int_equal(at_choice_checked(f->choice), 1);
    }
}

TEST_IN(a_script_that_changes_is_not_read_for_a_gpu_of_which_nothing_is_known, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    copy(script_path, c.lua, "where = {", "where = { \"block ~= 256\",");
    pick_size(f, &(at_gpu){"NVIDIA A", 1, 0}, 4096);
    assert_int_equal(at_choice_checked(f->choice), 0);
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_checked(f->choice), 1);
    assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
}

TEST_IN(a_script_that_changes_is_seen_by_the_next_pick, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    assert_int_equal(at_choice_checked(f->choice), 1);
    copy(script_path, c.lua, "where = {", "where = { \"block ~= 256\",");
    pick_size(f, &h200, 4096);
    assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    /* One that does not load is of no use, until it does. */
    copy(script_path, c.lua, "where = {", "where = ");
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_checked(f->choice), 0);
    copy(script_path, c.lua, NULL, NULL);
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_checked(f->choice), 1);
}

TEST_IN(records_that_change_are_seen_and_earlier_choices_stay, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    at_choice *earlier;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    earlier = f->choice;
    f->choice = NULL;
    copy(c.record, c.record, "\"block\": 256", "\"block\": 512");
    knowledge_look_again(&f->results->known);
    pick_size(f, &h200, 4096);
    assert_string_equal(at_choice_text(f->choice), "block=512,vec=4,shared=65536");
    assert_int_equal(unlink(c.record), 0);
    knowledge_look_again(&f->results->known);
    const at_variable problem[] = {at_integer("n", 4096)};
    at_choice *none;
    assert_int_equal(at_pick(f->results, "copied", &h200, problem, 1, &none, &f->error),
                     AT_NOT_FOUND);
    at_close(f->results);
    f->results = NULL;
    assert_string_equal(at_choice_at(earlier, 1).name, "vec");
    assert_string_equal(at_choice_gpu(earlier), "NVIDIA H200");
    at_choice_free(earlier);
}

/* ---- what is kept for other processes ---- */

/* Opens shipped records with a cache of one's own, and picks; the view is the caller's. */
static void pick_shipped(fixture *f, knowledge_view *view)
{
    const at_variable problem[] = {at_integer("n", 1 << 20), at_text("dtype", "float")};
    arch_limits limits;
    at_choice_free(f->choice);
    f->choice = NULL;
    open_folder(f, TEST_SOURCE_DIR "/results");
    assert_ok(at_pick(f->results, "vector_add", &h200, problem, 2, &f->choice, &f->error),
              f->error);
    assert_int_equal(at_choice_checked(f->choice), 1);
    assert_ok(arch_find("sm_90", &limits, &f->error), f->error);
    assert_ok(knowledge_get(&f->results->known, "vector_add", &limits, view, &f->error), f->error);
}

/* Changes each file of the cache; how many there are. */
static int damage_cache(const char *folder, bool cut)
{
    char path[4096];
    int damaged = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *bytes;
        size_t size;
        struct stat s;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || stat(path, &s))
            continue;
        if (S_ISDIR(s.st_mode)) {
            damaged += damage_cache(path, cut);
            continue;
        }
        assert_int_equal(file_read(path, 1 << 24, &bytes, &size, NULL), AT_OK);
        if (size > 0) {
            bytes[size / 2] ^= 1;
            assert_int_equal(file_replace(path, bytes, cut ? size / 2 : size, NULL), AT_OK);
            damaged++;
        }
        free(bytes);
    }
    if (d)
        closedir(d);
    return damaged;
}

TEST_IN(what_a_process_worked_out_is_there_for_the_next, set_up, tear_down)
{
    fixture *f = *state;
    knowledge_view view;
    char before[LIBRARY_TEXT_BYTES];
    char *cache = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
    setenv("XDG_CACHE_HOME", f->folder, 1);
    setenv("AUTOTUNE_SHARE", TEST_BINARY_DIR "/share/autotune", 1);
    pick_shipped(f, &view);
    snprintf(before, sizeof before, "%s", at_choice_text(f->choice));
    knowledge_release(&view);
    pick_shipped(f, &view);
    assert_string_equal(at_choice_text(f->choice), before);
    knowledge_release(&view);
    /* What is damaged is worked out anew. */
    for (int cut = 0; cut < 2; cut++) {
        (void)damage_cache(f->folder, cut);
        pick_shipped(f, &view);
        assert_non_null(view.script->facts);
        assert_string_equal(at_choice_text(f->choice), before);
        knowledge_release(&view);
    }
    /* So it is without a cache. */
    setenv("XDG_CACHE_HOME", "/proc/nothing", 1);
    pick_shipped(f, &view);
    assert_string_equal(at_choice_text(f->choice), before);
    knowledge_release(&view);
    unsetenv("AUTOTUNE_SHARE");
    if (cache)
        setenv("XDG_CACHE_HOME", cache, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(cache);
}

TEST_IN(what_only_lua_evaluates_is_checked_all_the_same, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    copy(script_path, c.lua, "where = {", "where = { \"block ^ 2 < 256 * 256\",");
    for (int round = 0; round < 2; round++) {
        pick_size(f, &h200, 4096);
        assert_int_equal(at_choice_checked(f->choice), 1);
        assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    }
    /* It is asked for each device and problem, and not for the last. */
    copy(script_path, c.lua, "where = {",
         "where = { \"block ^ 2 < device.major * 32 * 32 * 7 * 7 or n ~= 4096\",");
    for (int round = 0; round < 2; round++) {
        pick_size(f, &h200, 4096);
        assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
        pick_size(f, &(at_gpu){"NVIDIA A", 1, 0}, 4096);
        assert_int_equal(at_choice_checked(f->choice), 0); /* no such device is known */
        pick_size(f, &(at_gpu){"NVIDIA A100", 8, 0}, 4098);
        assert_int_equal(at_choice_checked(f->choice), 1);
        assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    }
    const at_variable unknown[] = {at_integer("n", 4096), at_integer("m", 1)};
    at_choice *other;
    assert_ok(at_pick(f->results, "copied", &h200, unknown, 2, &other, &f->error), f->error);
    assert_int_equal(at_choice_checked(other), 0);
    at_choice_free(other);
}

TEST_GROUP(library_use_fake_driver, NULL)
