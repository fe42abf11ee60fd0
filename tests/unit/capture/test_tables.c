/* Processes of a captured program write tables. Tests that they are read as one description. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "capture/capture.h"
#include "capture/layout.h"
#include "check.h"
#include "temporary.h"

static struct {
    char folder[TEMPORARY_BYTES];
    capture_table *table; /* the table that is written next */
    json_t *read;
    at_error error;
} f;

static int set_up(void **state)
{
    (void)state;
    temporary_make(f.folder);
    f.table = calloc(1, sizeof *f.table);
    f.table->magic = CAPTURE_MAGIC;
    f.error = (at_error){0};
    return f.table == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    json_decref(f.read);
    f.read = NULL;
    free(f.table);
    temporary_remove(f.folder);
    return 0;
}

static void write_table(const char *process)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f.folder, process);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", f.folder, process, CAPTURE_TABLE);
    assert_ok(file_replace(path, (const char *)f.table, sizeof *f.table, &f.error), f.error);
}

/* Adds a launch of a kernel that ran `count` times, in `time_ns` in total. */
static capture_row *add_row(const char *kernel, uint32_t blocks, uint64_t count, uint64_t time_ns)
{
    capture_row *row = &f.table->rows[f.table->row_count++];
    *row = (capture_row){.name = f.table->names_bytes,
                         .grid = {blocks, 1, 1},
                         .block = {128, 1, 1},
                         .cluster = {1, 1, 1},
                         .count = count,
                         .timed = time_ns ? count : 0,
                         .time_ns = time_ns,
                         .fastest_ns = time_ns};
    strcpy(f.table->names + f.table->names_bytes, kernel);
    f.table->names_bytes += (uint32_t)strlen(kernel) + 1;
    return row;
}

static json_t *read_all(void)
{
    assert_ok(capture_read_tables(f.folder, &f.read, &f.error), f.error);
    return f.read;
}

static json_int_t number_in(json_t *of, const char *name)
{
    return json_integer_value(json_object_get(of, name));
}

TEST_IN(launches_of_several_processes_are_added_up, set_up, tear_down)
{
    add_row("add", 10, 3, 700);
    add_row("add", 20, 1, 900);
    write_table("1.0");
    f.table->row_count = 0;
    add_row("add", 10, 4, 500);
    write_table("2.0");
    json_t *all = read_all(), *launches = json_object_get(all, "launches");
    assert_int_equal(number_in(all, "processes"), 2);
    assert_int_equal(json_array_size(launches), 2);
    json_t *first = json_array_get(launches, 0), *time = json_object_get(first, "time");
    assert_int_equal(number_in(first, "count"), 7);
    assert_int_equal(number_in(time, "total_ns"), 1200);
    assert_int_equal(number_in(time, "fastest_ns"), 500);
}

TEST_IN(names_of_kernels_are_demangled, set_up, tear_down)
{
    add_row("_Z5scalePfi", 1, 1, 0);
    write_table("1.0");
    json_t *first = json_array_get(json_object_get(read_all(), "launches"), 0);
    assert_string_equal(json_string_value(json_object_get(first, "kernel")), "scale(float*, int)");
    assert_string_equal(json_string_value(json_object_get(first, "mangled")), "_Z5scalePfi");
    assert_true(json_is_null(json_object_get(first, "time")));
}

TEST_IN(a_captured_launch_names_its_files, set_up, tear_down)
{
    add_row("add", 10, 1, 0);
    capture_launch *l = &f.table->launches[f.table->launch_count++];
    *l = (capture_launch){
        .state = CAPTURE_DONE,
        .number = 5,
        .argument_count = 2,
        .arguments = {{0, 8}, {8, 4}},
        .parameters = {0, 16, 0, 0, 0, 0, 0, 0, 7},
        .pointer_count = 1,
        .pointers = {{0, 1, 64}},
        .allocation_count = 2,
        .allocations = {{4096, 256, 0, CAPTURE_UNCHANGED}, {8192, 256, 0, CAPTURE_CHANGED}},
        .major = 9,
        .module_bytes = 1};
    write_table("1.0");
    json_t *captured = json_array_get(json_object_get(read_all(), "captured"), 0);
    json_t *arguments = json_object_get(captured, "arguments");
    json_t *allocations = json_object_get(captured, "allocations");
    json_t *pointer = json_array_get(json_object_get(json_array_get(arguments, 0), "pointers"), 0);
    assert_string_equal(json_string_value(json_object_get(captured, "module")), "1.0/0-module");
    assert_string_equal(json_string_value(json_object_get(captured, "arch")), "sm_90");
    assert_string_equal(json_string_value(json_object_get(json_array_get(arguments, 1), "bytes")),
                        "07000000");
    assert_int_equal(number_in(pointer, "allocation"), 1);
    assert_int_equal(number_in(pointer, "offset"), 64);
    assert_true(json_is_null(json_object_get(json_array_get(allocations, 0), "after")));
    assert_string_equal(json_string_value(json_object_get(json_array_get(allocations, 1), "after")),
                        "1.0/0-1-after");
}

TEST_IN(a_program_that_ends_during_a_launch_is_reported, set_up, tear_down)
{
    f.table->launches[f.table->launch_count++].row = 3; /* the table has no row 3 */
    write_table("1.0");
    json_t *all = read_all();
    assert_int_equal(json_array_size(json_object_get(all, "captured")), 0);
    assert_int_equal(json_array_size(json_object_get(all, "trouble")), 1);
}

TEST_IN(a_folder_without_a_table_is_no_process, set_up, tear_down)
{
    char path[512];
    snprintf(path, sizeof path, "%s/3.0", f.folder);
    mkdir(path, 0700);
    assert_int_equal(number_in(read_all(), "processes"), 0);
}

static void spoil_magic(capture_table *t)
{
    t->magic++;
}

static void spoil_rows(capture_table *t)
{
    t->row_count = CAPTURE_MOST_ROWS + 1;
}

static void spoil_name(capture_table *t)
{
    t->rows[0].name = CAPTURE_NAMES_BYTES;
}

static void spoil_names(capture_table *t)
{
    t->names[CAPTURE_NAMES_BYTES - 1] = 'x';
}

static void spoil_argument(capture_table *t)
{
    t->launches[0].arguments[0] = (capture_argument){CAPTURE_PARAMETER_BYTES - 4, 8};
}

static void spoil_pointers(capture_table *t)
{
    t->launches[0].pointer_count = CAPTURE_MOST_POINTERS + 1;
}

static void spoil_device(capture_table *t)
{
    memset(t->launches[0].device, 'x', sizeof t->launches[0].device);
}

static void spoil_variable(capture_table *t)
{
    t->launches[0].variable_count = 1;
    memset(t->launches[0].variables[0].name, 'x', CAPTURE_NAME_BYTES);
}

static void spoil_trouble(capture_table *t)
{
    memset(t->trouble, 'x', sizeof t->trouble);
}

TEST_IN(a_table_that_contradicts_itself_is_refused, set_up, tear_down)
{
    static void (*const spoil[])(capture_table *) = {spoil_magic,  spoil_rows,     spoil_name,
                                                     spoil_names,  spoil_argument, spoil_pointers,
                                                     spoil_device, spoil_variable, spoil_trouble};
    for (size_t i = 0; i < sizeof spoil / sizeof *spoil; i++) {
        memset(f.table, 0, sizeof *f.table);
        f.table->magic = CAPTURE_MAGIC;
        add_row("add", 1, 1, 0);
        f.table->launch_count = 1;
        f.table->launches[0].argument_count = 1;
        spoil[i](f.table);
        write_table("1.0");
        if (capture_read_tables(f.folder, &f.read, &f.error) != AT_FORMAT)
            fail_msg("table %zu was read", i);
        assert_null(f.read);
    }
}
