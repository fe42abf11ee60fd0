/* The index beside a folder's records: used as long as the files are what it was made of, and then
 * as good as they are. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/derived.h"
#include "base/file.h"
#include "record/index_file.h"
#include "record/pick.h"
#include "temporary.h"

static const char *const gpus[] = {"nvidia-h200", "nvidia-h100-80gb-hbm3"};

typedef struct fixture {
    char folder[TEMPORARY_BYTES], index[TEMPORARY_BYTES + 32];
    record_folders folders;
    at_error error;
} fixture;

static void copy_record(fixture *f, const char *folder, const char *gpu)
{
    char from[512], to[512], *text;
    size_t size_bytes;
    snprintf(from, sizeof from, "%s/results/%s/dot.json", TEST_SOURCE_DIR, gpu);
    snprintf(to, sizeof to, "%s/%s", folder, gpu);
    assert_ok(file_make_folder(to, &f->error), f->error);
    snprintf(to, sizeof to, "%s/%s/dot.json", folder, gpu);
    assert_ok(file_read(from, 16 << 20, &text, &size_bytes, &f->error), f->error);
    assert_ok(file_replace(to, text, size_bytes, &f->error), f->error);
    free(text);
}

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){0};
    temporary_make(f.folder);
    for (size_t i = 0; i < 2; i++)
        copy_record(&f, f.folder, gpus[i]);
    record_folders_find(f.folder, NULL, &f.folders);
    record_index_store(f.folder, "dot");
    snprintf(f.index, sizeof f.index, "%s/.index/dot", f.folder);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    temporary_remove(((fixture *)*state)->folder);
    return 0;
}

static bool fetch(fixture *f, const record_folders *folders, pick_table *out)
{
    stamped_files files;
    bool were_read;
    assert_ok(record_find_files(folders, "dot", &files, &f->error), f->error);
    const bool fetched = record_index_fetch(folders, "dot", &files, out, &were_read);
    stamped_files_deinit(&files);
    return fetched;
}

static bool is_used(fixture *f)
{
    pick_table t;
    const bool fetched = fetch(f, &f->folders, &t);
    pick_table_deinit(&t);
    return fetched;
}

TEST_IN(an_index_picks_what_the_records_do, set_up, tear_down)
{
    fixture *f = *state;
    record_set set;
    pick_table made, read;
    assert_ok(record_load_all(f->folder, "dot", &set, &f->error), f->error);
    assert_ok(pick_table_make(&set, &made, &f->error), f->error);
    assert_true(fetch(f, &f->folders, &read));
    for (size_t i = 0; i < set.records[0].entry_count; i++) {
        pick_candidate a, b;
        const pick_target target = {
            .gpu = "NVIDIA H200", .major = 9, .problem = &set.records[0].entries[i].problem};
        assert_int_equal(pick_from(&made, &target, &a), pick_from(&read, &target, &b));
        assert_true(record_same_values(a.configuration, b.configuration));
    }
    pick_table_deinit(&read);
    pick_table_deinit(&made);
    record_set_deinit(&set);
}

TEST_IN(an_index_goes_with_its_folder, set_up, tear_down)
{
    fixture *f = *state;
    char other[TEMPORARY_BYTES], path[512], *text;
    size_t size_bytes;
    record_folders folders;
    pick_table t;
    temporary_make(other);
    for (size_t i = 2; i-- > 0;)
        copy_record(f, other, gpus[i]);
    snprintf(path, sizeof path, "%s/.index", other);
    assert_ok(file_make_folder(path, &f->error), f->error);
    snprintf(path, sizeof path, "%s/.index/dot", other);
    assert_ok(file_read(f->index, 1 << 24, &text, &size_bytes, &f->error), f->error);
    assert_ok(file_replace(path, text, size_bytes, &f->error), f->error);
    record_folders_find(other, NULL, &folders);
    assert_true(fetch(f, &folders, &t));
    pick_table_deinit(&t);
    free(text);
    temporary_remove(other);
}

TEST_IN(other_contents_have_no_index, set_up, tear_down)
{
    fixture *f = *state;
    char path[512], *text;
    size_t size_bytes;
    assert_true(is_used(f));
    snprintf(path, sizeof path, "%s/nvidia-h200/dot.json", f->folder);
    assert_ok(file_read(path, 1 << 24, &text, &size_bytes, &f->error), f->error);
    /* The size stays as it is. */
    char *digit = strpbrk(text + size_bytes / 2, "123456789");
    *digit ^= 1;
    assert_ok(file_replace(path, text, size_bytes, &f->error), f->error);
    assert_false(is_used(f));
    *digit ^= 1;
    assert_ok(file_replace(path, text, size_bytes, &f->error), f->error);
    assert_true(is_used(f));
    free(text);
    /* One file is gone. */
    assert_int_equal(unlink(path), 0);
    assert_false(is_used(f));
    record_index_store(f->folder, "dot");
    assert_true(is_used(f));
    /* One is there again that the index does not have. */
    copy_record(f, f->folder, gpus[0]);
    assert_false(is_used(f));
}

TEST_IN(a_damaged_index_is_none, set_up, tear_down)
{
    fixture *f = *state;
    char *text;
    size_t size_bytes;
    assert_ok(file_read(f->index, 1 << 24, &text, &size_bytes, &f->error), f->error);
    for (size_t at = 0; at < size_bytes; at += 1 + at / 16) {
        text[at] ^= 0x10;
        assert_ok(file_replace(f->index, text, size_bytes, &f->error), f->error);
        assert_false(is_used(f));
        text[at] ^= 0x10;
        assert_ok(file_replace(f->index, text, at, &f->error), f->error);
        assert_false(is_used(f));
    }
    assert_ok(file_replace(f->index, text, size_bytes, &f->error), f->error);
    assert_true(is_used(f));
    free(text);
}

TEST_IN(what_changed_while_it_was_worked_out_is_not_kept, set_up, tear_down)
{
    fixture *f = *state;
    stamped_files files;
    pack bytes = {0}, read;
    XXH128_hash_t sum;
    bool were_read;
    char path[TEMPORARY_BYTES + 32];
    snprintf(path, sizeof path, "%s/kept", f->folder);
    assert_ok(record_find_files(&f->folders, "dot", &files, &f->error), f->error);
    assert_true(derived_sum(f->folder, &files, &sum));
    pack_put_string(&bytes, "what was worked out");
    derived_store(path, "words", f->folder, &files, sum, &bytes);
    assert_true(derived_fetch(path, "words", f->folder, &files, &read, &were_read));
    assert_string_equal(pack_get_string(&read), "what was worked out");
    pack_deinit(&read);
    assert_false(derived_fetch(path, "other words", f->folder, &files, &read, &were_read));
    assert_int_equal(unlink(path), 0);
    sum.low64 ^= 1;
    derived_store(path, "words", f->folder, &files, sum, &bytes);
    assert_int_not_equal(access(path, F_OK), 0);
    stamped_files_deinit(&files);
    pack_deinit(&bytes);
}

TEST_GROUP(NULL, NULL)
