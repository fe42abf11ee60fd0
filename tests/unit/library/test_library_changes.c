/* Tests when libautotune reads changed records and scripts again, and that it evaluates a script
 * for other problems and devices. */
#include <unistd.h>

#include "library/library.h"
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

/* Opens the results again, after the test has changed the scripts. */
static void open_again(const changing *c)
{
    setenv("AUTOTUNE_SHARE", c->share, 1);
    open_folder(c->f, c->f->folder);
    unsetenv("AUTOTUNE_SHARE");
}

TEST_IN(a_script_is_read_once_for_each_device, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    copy(script_path, c.lua, "where = {", "where = { \"block ~= 256\",");
    pick_size(f, &h200, 4096);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    pick_size(f, &(at_gpu){"NVIDIA A100", 8, 0}, 4096);
    assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    open_again(&c);
    pick_size(f, &h200, 4096);
    assert_int_equal(at_choice_checked(f->choice), 1);
    assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
}

TEST_IN(a_script_that_does_not_load_checks_nothing, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    copy(script_path, c.lua, "where = {", "where = ");
    for (int round = 0; round < 2; round++) {
        pick_size(f, &h200, 4096);
        assert_int_equal(at_choice_checked(f->choice), 0);
        assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    }
}

TEST_IN(records_are_read_once_and_after_a_tuning_again, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    at_choice *earlier;
    set_up_changing(&c, f);
    pick_size(f, &h200, 4096);
    copy(c.record, c.record, "\"block\": 256", "\"block\": 512");
    pick_size(f, &h200, 4096);
    assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    earlier = f->choice;
    f->choice = NULL;
    patterns_read_again(&f->results->known);
    pick_size(f, &h200, 4096);
    assert_string_equal(at_choice_text(f->choice), "block=512,vec=4,shared=65536");
    assert_int_equal(unlink(c.record), 0);
    patterns_read_again(&f->results->known);
    const at_variable problem[] = {at_integer("n", 4096)};
    at_choice *none;
    assert_int_equal(at_pick(f->results, "copied", &h200, problem, 1, &none, &f->error),
                     AT_NOT_FOUND);
    at_close(f->results);
    f->results = NULL;
    assert_string_equal(at_choice_text(earlier), "block=256,vec=4,shared=65536");
    assert_string_equal(at_choice_at(earlier, 1).name, "vec");
    assert_string_equal(at_choice_gpu(earlier), "NVIDIA H200");
    at_choice_free(earlier);
}

TEST_IN(what_only_lua_evaluates_is_checked_all_the_same, set_up, tear_down)
{
    changing c;
    fixture *f = *state;
    set_up_changing(&c, f);
    copy(script_path, c.lua, "where = {", "where = { \"block ^ 2 < 256 * 256\",");
    open_again(&c);
    for (int round = 0; round < 2; round++) {
        pick_size(f, &h200, 4096);
        assert_int_equal(at_choice_checked(f->choice), 1);
        assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    }
    /* For each device and each problem, the script is evaluated again. */
    copy(script_path, c.lua, "where = {",
         "where = { \"block ^ 2 < device.major * 32 * 32 * 7 * 7 or n ~= 4096\",");
    open_again(&c);
    for (int round = 0; round < 2; round++) {
        pick_size(f, &h200, 4096);
        assert_string_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
        pick_size(f, &(at_gpu){"NVIDIA A", 1, 0}, 4096);
        assert_int_equal(at_choice_checked(f->choice), 0); /* capability 1.0 is unknown */
        pick_size(f, &(at_gpu){"NVIDIA A100", 8, 0}, 4098);
        assert_int_equal(at_choice_checked(f->choice), 1);
        assert_string_not_equal(at_choice_text(f->choice), "block=256,vec=4,shared=65536");
    }
    const at_variable unknown[] = {at_integer("n", 4096), at_integer("m", 1)};
    at_choice *other;
    assert_int_equal(at_pick(f->results, "copied", &h200, unknown, 2, &other, &f->error), AT_USAGE);
}

/* library_parse_setting() must accept the texts that script_load() accepts for --set. */
TEST_IN(settings_are_read_as_the_script_reads_them, set_up, tear_down)
{
    fixture *f = *state;
    char path[TEMPORARY_BYTES + 16];
    static const char *const texts[] = {
        "1",    "0",   "-5",   "2K",   "3M",    "1G",   "12345678901K", "4.0",
        "4.5",  "1e3", "0x10", "true", "false", "half", "float",        "none",
        "1e30", "",    "K",    "7 ",   "a\tb",  "16"};
    static const char *const names[] = {"n", "r", "s", "bool", "within", "one", "word", "share"};
    static const char text[] =
        "local at = require 'autotune'\n"
        "return at.pattern { name = 'p', space = { a = { 1, 2 } }, baseline = { a = 1 },\n"
        "  problem = { n = 100, r = 1.25, s = 'int8', bool = true,\n"
        "    within = at.within(8, 1, 64), one = at.one_of { 16, 32 },\n"
        "    word = at.one_of { 'half', 'float' }, share = at.within(0.5, 0, 4.25) },\n"
        "  buffers = { y = at.output { dtype = 'float', count = '16' } },\n"
        "  kernel = { template = 'none.tmpl', entry = 'k', args = { 'y' } },\n"
        "  launch = { grid = '1', block = '1' } }\n";
    snprintf(path, sizeof path, "%s/none.tmpl", f->folder);
    assert_ok(file_replace(path, "\n", 1, &f->error), f->error);
    snprintf(path, sizeof path, "%s/p.lua", f->folder);
    assert_ok(file_replace(path, text, strlen(text), &f->error), f->error);
    script_options options = {.lua_dir = TEST_SOURCE_DIR "/lua",
                              .template_dir = TEST_SOURCE_DIR "/templates",
                              .without_templates = true};
    script *s;
    assert_ok(arch_find("sm_90", &options.device, &f->error), f->error);
    assert_ok(script_load(path, &options, &s, &f->error), f->error);
    const pattern *p = script_pattern(s);
    for (size_t v = 0; v < sizeof names / sizeof *names; v++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            size_t place = 0;
            script *set = NULL;
            value out;
            at_error error = {0};
            const script_setting setting = {names[v], texts[t]};
            while (strcmp(p->problems[PROBLEM_TUNED][place].name, names[v]) != 0)
                place++;
            options.settings = &setting;
            options.setting_count = 1;
            const bool loads = script_load(path, &options, &set, &error) == AT_OK;
            const bool reads = library_parse_setting(p, place, texts[t], &out);
            if (loads != reads)
                fail_msg("%s=%s: the script %s", names[v], texts[t],
                         loads ? "takes it" : error.message);
            if (loads) {
                const value is = script_pattern(set)->problems[PROBLEM_TUNED][place].value;
                assert_int_equal(is.kind, out.kind);
                assert_true(value_equal(is, out));
            }
            script_free(set);
        }
    script_free(s);
}

TEST_GROUP(library_use_fake_driver, NULL)
