#include "capture/capture.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/paths.h"
#include "record/json_pointer.h"
#include "record/json_schema.h"

static const size_t file_limit_bytes = 64u << 20;

/* ---- the file ---- */

typedef struct validation {
    const char *path, *text;
    at_error *error;
} validation;

/* The first violation is told. */
static at_status note(void *context, const char *pointer, const char *message)
{
    const validation *v = context;
    return error_set_at(v->error, AT_FORMAT, v->path, json_pointer_line(v->text, pointer),
                        "%s: %s; capture the program again", *pointer ? pointer : "the file",
                        message);
}

static at_status check_schema(const char *path, const char *text, const json_t *root,
                              at_error *error)
{
    paths where;
    char file[PATHS_BYTES], *schema_text = NULL;
    size_t size_bytes;
    json_t *schema = NULL;
    at_status status = paths_find(&where, error);
    if (status)
        return status;
    paths_share(&where, "schemas/capture.json", file, sizeof file);
    status = file_read(file, file_limit_bytes, &schema_text, &size_bytes, error);
    if (!status)
        status = json_text_parse(schema_text, size_bytes, file, &schema, error);
    if (!status)
        status = json_schema_validate(schema, root, note, &(validation){path, text, error}, error);
    json_decref(schema);
    free(schema_text);
    return status;
}

/* "DIR:2" is the folder DIR, unless there is a folder of that name. */
static at_status split(const char *name, char dir[PATH_MAX], size_t *number, at_error *error)
{
    struct stat s;
    char *end;
    const char *colon = strrchr(name, ':');
    *number = 0;
    snprintf(dir, PATH_MAX, "%s", name);
    if (stat(name, &s) == 0 || !colon)
        return AT_OK;
    *number = strtoul(colon + 1, &end, 10);
    if (colon[1] < '1' || colon[1] > '9' || *end)
        return error_set(error, AT_USAGE, "'%s' names no captured launch: write DIR or DIR:2",
                         name);
    dir[colon - name] = '\0';
    return AT_OK;
}

static at_status find_launch(const char *path, const json_t *root, size_t number, json_t **out,
                             at_error *error)
{
    const json_t *captured = json_object_get(root, "captured");
    const size_t count = json_array_size(captured);
    if (count == 0)
        return error_set_at(error, AT_NOT_FOUND, path, 0,
                            "it has a table, but no captured launch: name a kernel by 'autotune "
                            "capture --kernel NAME'");
    if (number == 0 && count > 1)
        return error_set_at(error, AT_USAGE, path, 0,
                            "it has %zu captured launches: say which by DIR:1 to DIR:%zu", count,
                            count);
    if (number > count)
        return error_set_at(error, AT_NOT_FOUND, path, 0,
                            "it has %zu captured launch%s: there is no number %zu", count,
                            count == 1 ? "" : "es", number);
    *out = json_array_get(captured, number ? number - 1 : 0);
    if (json_is_true(json_object_get(*out, "whole")))
        return AT_OK;
    const char *why = json_string_value(json_object_get(*out, "trouble"));
    return error_set_at(error, AT_FORMAT, path, 0, "that launch is not whole: %s",
                        why ? why : "the program ended in it");
}

/* ---- its members, which the schema allows ---- */

static uint64_t whole(const json_t *object, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(object, name));
}

static void read_sides(const json_t *object, const char *name, uint32_t out[3])
{
    for (size_t i = 0; i < 3; i++)
        out[i] = (uint32_t)json_integer_value(json_array_get(json_object_get(object, name), i));
}

static char *text_of(const json_t *object, const char *name)
{
    return memory_text(json_string_value(json_object_get(object, name)));
}

/* The path of a file in the folder; NULL for null. */
static char *file_of(const char *dir, const json_t *object, const char *name)
{
    const char *file = json_string_value(json_object_get(object, name));
    if (!file)
        return NULL;
    const size_t bytes = strlen(dir) + strlen(file) + 2;
    char *out = memory_new(bytes, 1);
    snprintf(out, bytes, "%s/%s", dir, file);
    return out;
}

static at_status damaged(const captured_launch *c, at_error *error, const char *what, size_t i)
{
    return error_set_at(error, AT_FORMAT, c->path, 0,
                        "%s %zu contradicts the others: capture the program again", what, i + 1);
}

static at_status read_argument(captured_launch *c, const json_t *a, size_t i, at_error *error)
{
    const captured_argument read = {(uint32_t)whole(a, "offset"), (uint32_t)whole(a, "size_bytes")};
    const char *hex = json_string_value(json_object_get(a, "bytes"));
    const json_t *pointers = json_object_get(a, "pointers");
    const size_t end = (size_t)read.offset + read.size_bytes;
    if (strlen(hex) != 2 * (size_t)read.size_bytes || read.offset < c->parameter_bytes)
        return damaged(c, error, "argument", i);
    unsigned char *parameters = memory_new(end, 1);
    if (c->parameter_bytes)
        memcpy(parameters, c->parameters, c->parameter_bytes);
    free(c->parameters);
    c->parameters = parameters;
    c->parameter_bytes = end;
    for (uint32_t b = 0; b < read.size_bytes; b++) {
        const char digits[] = {hex[2 * b], hex[2 * b + 1], '\0'};
        parameters[read.offset + b] = (unsigned char)strtoul(digits, NULL, 16);
    }
    memory_add(&c->arguments, &c->argument_count, &read, sizeof read);
    for (size_t k = 0; k < json_array_size(pointers); k++) {
        const json_t *p = json_array_get(pointers, k);
        const uint64_t at = whole(p, "at");
        const captured_pointer pointer = {read.offset + (uint32_t)at,
                                          (uint32_t)whole(p, "allocation"), whole(p, "offset")};
        if (at + 8 > read.size_bytes || pointer.allocation >= c->allocation_count ||
            pointer.allocation_offset > c->allocations[pointer.allocation].size_bytes)
            return damaged(c, error, "a pointer of argument", i);
        memory_add(&c->pointers, &c->pointer_count, &pointer, sizeof pointer);
    }
    return AT_OK;
}

/* Is there a regular file of that size? */
static at_status check_file(const char *path, uint64_t size_bytes, at_error *error)
{
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return error_set_at(error, AT_FORMAT, path, 0,
                            "the file is missing: capture the program again");
    if ((uint64_t)s.st_size != size_bytes)
        return error_set_at(error, AT_FORMAT, path, 0,
                            "the file has %lld bytes, the memory had %llu: capture the program "
                            "again",
                            (long long)s.st_size, (unsigned long long)size_bytes);
    return AT_OK;
}

static at_status read_allocation(captured_launch *c, const char *dir, const json_t *a, size_t i,
                                 at_error *error)
{
    const char *address = json_string_value(json_object_get(a, "address"));
    const captured_allocation read = {.address = strtoull(address, NULL, 16),
                                      .size_bytes = whole(a, "size_bytes"),
                                      .before = file_of(dir, a, "before"),
                                      .after = file_of(dir, a, "after")};
    memory_add(&c->allocations, &c->allocation_count, &read, sizeof read);
    if (!read.before || (!read.after && !json_is_true(json_object_get(a, "unchanged"))))
        return damaged(c, error, "allocation", i);
    at_status status = check_file(read.before, read.size_bytes, error);
    return status || !read.after ? status : check_file(read.after, read.size_bytes, error);
}

static at_status read_variable(captured_launch *c, const char *dir, const json_t *v, size_t i,
                               at_error *error)
{
    const captured_variable read = {.name = text_of(v, "name"),
                                    .size_bytes = whole(v, "size_bytes"),
                                    .before = file_of(dir, v, "before")};
    memory_add(&c->variables, &c->variable_count, &read, sizeof read);
    return read.before ? check_file(read.before, read.size_bytes, error)
                       : damaged(c, error, "variable", i);
}

/* No GPU launches more, of whichever compute capability. */
static at_status check_sides(const captured_launch *c, at_error *error)
{
    enum { MOST_THREADS = 1024, MOST_DEEP = 64, MOST_BLOCKS = 65535 };
    const uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    if (c->block[0] <= MOST_THREADS && c->block[1] <= MOST_THREADS && c->block[2] <= MOST_DEEP &&
        threads <= MOST_THREADS && c->grid[1] <= MOST_BLOCKS && c->grid[2] <= MOST_BLOCKS)
        return AT_OK;
    return error_set_at(error, AT_FORMAT, c->path, 0,
                        "no GPU launches %u x %u x %u blocks of %u x %u x %u threads, as the file "
                        "has it of a launch of %.200s: capture the program again",
                        c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
                        c->kernel);
}

static at_status read_launch(captured_launch *c, const char *dir, const json_t *launch,
                             at_error *error)
{
    const json_t *allocations = json_object_get(launch, "allocations");
    const json_t *arguments = json_object_get(launch, "arguments");
    const json_t *variables = json_object_get(launch, "variables");
    at_status status = AT_OK;
    c->kernel = text_of(launch, "kernel");
    c->mangled = text_of(launch, "mangled");
    snprintf(c->arch, sizeof c->arch, "%s", json_string_value(json_object_get(launch, "arch")));
    read_sides(launch, "grid", c->grid);
    read_sides(launch, "block", c->block);
    read_sides(launch, "cluster", c->cluster);
    c->dynamic_shared_bytes = (uint32_t)whole(launch, "dynamic_shared_bytes");
    c->cooperative = json_is_true(json_object_get(launch, "cooperative"));
    c->count = whole(launch, "count");
    c->variables_unread = whole(launch, "variables_unread") > 0;
    c->module = file_of(dir, launch, "module");
    status = check_sides(c, error);
    for (size_t i = 0; !status && i < json_array_size(allocations); i++)
        status = read_allocation(c, dir, json_array_get(allocations, i), i, error);
    for (size_t i = 0; !status && i < json_array_size(arguments); i++)
        status = read_argument(c, json_array_get(arguments, i), i, error);
    for (size_t i = 0; !status && i < json_array_size(variables); i++)
        status = read_variable(c, dir, json_array_get(variables, i), i, error);
    return status;
}

enum { NAME_BYTES = PATH_MAX + sizeof CAPTURE_FILE + 1 };

/* Reads capture.json, whose path is `path`; the caller owns *root. */
static at_status read_file(const char *dir, char path[NAME_BYTES], json_t **root, at_error *error)
{
    char *text = NULL;
    size_t size_bytes;
    snprintf(path, NAME_BYTES, "%s/%s", dir, CAPTURE_FILE);
    at_status status = file_read(path, file_limit_bytes, &text, &size_bytes, error);
    if (status == AT_NOT_FOUND)
        return error_set_at(
            error, status, path, 0,
            "there is no capture: 'autotune capture -o %s --kernel NAME -- PROGRAM' "
            "makes one",
            dir);
    if (!status)
        status = json_text_parse(text, size_bytes, path, root, error);
    if (!status)
        status = check_schema(path, text, *root, error);
    free(text);
    return status;
}

at_status captured_count(const char *dir, size_t *count, at_error *error)
{
    char path[NAME_BYTES];
    json_t *root = NULL;
    at_status status = read_file(dir, path, &root, error);
    *count = status ? 0 : json_array_size(json_object_get(root, "captured"));
    json_decref(root);
    return status;
}

at_status captured_read(const char *name, captured_launch *out, at_error *error)
{
    char dir[PATH_MAX], path[NAME_BYTES];
    size_t number;
    json_t *root = NULL, *launch = NULL;
    *out = (captured_launch){0};
    at_status status = split(name, dir, &number, error);
    if (!status)
        status = read_file(dir, path, &root, error);
    if (!status)
        status = find_launch(path, root, number, &launch, error);
    if (!status) {
        out->path = memory_text(path);
        status = read_launch(out, dir, launch, error);
    }
    if (status)
        captured_deinit(out);
    json_decref(root);
    return status;
}

void captured_deinit(captured_launch *c)
{
    for (size_t i = 0; i < c->allocation_count; i++) {
        free(c->allocations[i].before);
        free(c->allocations[i].after);
    }
    for (size_t i = 0; i < c->variable_count; i++) {
        free(c->variables[i].name);
        free(c->variables[i].before);
    }
    free(c->variables);
    free(c->allocations);
    free(c->arguments);
    free(c->pointers);
    free(c->parameters);
    free(c->path);
    free(c->kernel);
    free(c->mangled);
    free(c->module);
    *c = (captured_launch){0};
}
