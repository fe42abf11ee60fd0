#include "base/data_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check.h"
#include "temporary.h"

typedef temporary_file fixture;

static int set_up(void **state)
{
    return temporary_file_set_up(state, "x.npy");
}

static void put(fixture *f, const void *bytes, size_t size_bytes)
{
    assert_ok(file_replace(f->path, bytes, size_bytes, &f->error), f->error);
}

/* Writes elements into the existing file, so that an open descriptor sees them. */
static void put_numbers(fixture *f, size_t count, int32_t first, const char *mode)
{
    FILE *file = fopen(f->path, mode);
    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        int32_t n = first + (int32_t)i;
        assert_int_equal(fwrite(&n, sizeof n, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

static data_file *open_numbers(fixture *f)
{
    const dtype raw = DTYPE_INT32;
    data_file *d;
    assert_ok(data_file_open(f->path, &raw, &d, &f->error), f->error);
    return d;
}

TEST(a_list_in_memory_is_read_over_and_over)
{
    const int32_t values[] = {7, -1, 5};
    unsigned char key[DATA_KEY_BYTES], other[DATA_KEY_BYTES];
    const uint64_t count = DATA_CHUNK_BYTES / 4 + 10; /* more than one chunk */
    data_file *d, *shorter;
    at_error error = {0};
    void *bytes;
    assert_ok(data_file_repeat("x", DTYPE_INT32, values, 3, count, &d, &error), error);
    assert_ok(data_file_repeat("x", DTYPE_INT32, values, 2, count, &shorter, &error), error);
    assert_int_equal(data_file_describe(d)->count, count);
    assert_ok(data_file_key(d, key, &error), error);
    assert_ok(data_file_key(shorter, other, &error), error);
    assert_memory_not_equal(key, other, sizeof key);
    assert_ok(data_file_head(d, count * 4, &bytes, &error), error);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(((int32_t *)bytes)[i], values[i % 3]);
    free(bytes);
    data_file_free(d);
    data_file_free(shorter);
}

TEST_IN(an_array_is_described_by_its_header, set_up, temporary_file_tear_down)
{
    static const char header[] =
        "\x93NUMPY\x01\x00\x35\x00{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3)}";
    char bytes[sizeof header - 1 + 6];
    data_file *d;
    fixture *f = *state;
    memcpy(bytes, header, sizeof header - 1);
    bytes[8] = (char)(sizeof header - 1 - 10);
    memcpy(bytes + sizeof header - 1, "\1\0\2\0\3\0", 6);
    put(f, bytes, sizeof bytes);
    assert_ok(data_file_open(f->path, NULL, &d, &f->error), f->error);
    const data_description *about = data_file_describe(d);
    assert_int_equal(about->type, DTYPE_INT16);
    assert_int_equal(about->count, 3);
    assert_int_equal(about->shape[1], 3);
    void *head;
    assert_ok(data_file_head(d, 4, &head, &f->error), f->error);
    assert_memory_equal(head, "\1\0\2\0", 4);
    free(head);
    data_file_free(d);
    put(f, bytes, sizeof bytes - 1);
    assert_int_equal(data_file_open(f->path, NULL, &d, &f->error), AT_FORMAT);
    assert_non_null(strstr(f->error.message, "5 bytes of elements, but its shape needs 6"));
    const dtype other = DTYPE_FLOAT;
    put(f, bytes, sizeof bytes);
    assert_int_equal(data_file_open(f->path, &other, &d, &f->error), AT_FORMAT);
    assert_non_null(strstr(f->error.message, "int16, but the script says 'float'"));
}

TEST_IN(elements_alone_need_a_type, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    data_file *d;
    const dtype raw = DTYPE_INT32;
    put(f, "123", 3);
    assert_int_equal(data_file_open(f->path, NULL, &d, &f->error), AT_FORMAT);
    assert_non_null(strstr(f->error.message, "give their type"));
    assert_int_equal(data_file_open(f->path, &raw, &d, &f->error), AT_FORMAT);
    assert_non_null(strstr(f->error.message, "not a whole number of elements"));
    put(f, "", 0);
    assert_int_equal(data_file_open(f->path, &raw, &d, &f->error), AT_FORMAT);
    assert_non_null(strstr(f->error.message, "it is empty"));
}

TEST_IN(large_files_are_sent_in_chunks_and_identified_by_contents, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    enum { COUNT = DATA_CHUNK_BYTES / 4 + 100 };
    unsigned char one[DATA_KEY_BYTES], other[DATA_KEY_BYTES];
    put_numbers(f, COUNT, 0, "wb");
    data_file *d = open_numbers(f);
    assert_int_equal(data_file_describe(d)->size_bytes, DATA_CHUNK_BYTES + 400);
    assert_ok(data_file_key(d, one, &f->error), f->error);
    size_t size;
    int32_t *bytes = malloc(DATA_CHUNK_BYTES);
    assert_ok(data_file_read(d, 1, bytes, &size, &f->error), f->error);
    assert_int_equal(size, 400);
    assert_int_equal(bytes[99], COUNT - 1);
    free(bytes);
    data_file_free(d);
    d = open_numbers(f);
    assert_ok(data_file_key(d, other, &f->error), f->error);
    assert_memory_equal(one, other, sizeof one);
    data_file_free(d);
    put_numbers(f, COUNT, 1, "wb");
    d = open_numbers(f);
    assert_ok(data_file_key(d, other, &f->error), f->error);
    assert_memory_not_equal(one, other, sizeof one);
    data_file_free(d);
}

TEST_IN(a_file_that_changes_while_it_is_in_use_is_refused, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    unsigned char key[DATA_KEY_BYTES];
    int32_t bytes[DATA_CHUNK_BYTES / 4];
    size_t size;
    put_numbers(f, 100, 0, "wb");
    data_file *d = open_numbers(f);
    assert_ok(data_file_key(d, key, &f->error), f->error);
    put_numbers(f, 100, 1, "r+b");
    assert_int_equal(data_file_read(d, 0, bytes, &size, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "changed while it was in use"));
    put_numbers(f, 50, 0, "wb");
    assert_int_equal(data_file_read(d, 0, bytes, &size, &f->error), AT_IO);
    assert_non_null(strstr(f->error.message, "became shorter"));
    data_file_free(d);
}

TEST_IN(a_part_of_a_file_has_its_elements_and_no_others, set_up, temporary_file_tear_down)
{
    fixture *f = *state;
    int32_t bytes[DATA_CHUNK_BYTES / 4];
    unsigned char key[DATA_KEY_BYTES];
    size_t size;
    data_file *d;
    put_numbers(f, 100, 0, "wb");
    assert_ok(data_file_open_part(f->path, DTYPE_INT32, 4 * 30, 20, &d, &f->error), f->error);
    assert_ok(data_file_key(d, key, &f->error), f->error);
    assert_ok(data_file_read(d, 0, bytes, &size, &f->error), f->error);
    assert_int_equal(size, 80);
    assert_int_equal(bytes[0], 30);
    assert_int_equal(bytes[19], 49);
    data_file_free(d);
    assert_int_equal(data_file_open_part(f->path, DTYPE_INT32, 4 * 81, 20, &d, &f->error),
                     AT_FORMAT);
    assert_non_null(strstr(f->error.message, "fewer than 20 elements from byte 324"));
    assert_int_equal(data_file_open_part(f->path, DTYPE_INT32, 404, 1, &d, &f->error), AT_FORMAT);
}
