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

static const size_t file_limit_bytes = 64u << 20;

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
        return error_set(error, AT_USAGE,
                         "'%s' does not name a captured launch: write DIR or DIR:2", name);
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
                            "this capture has a table of launches, but no captured launch: name a "
                            "kernel by 'autotune capture --kernel NAME'");
    if (number == 0 && count > 1)
        return error_set_at(
            error, AT_USAGE, path, 0,
            "this capture has %zu captured launches: choose one by DIR:1 to DIR:%zu", count, count);
    if (number > count)
        return error_set_at(error, AT_NOT_FOUND, path, 0,
                            "this capture has %zu captured launch%s: there is no number %zu", count,
                            count == 1 ? "" : "es", number);
    *out = json_array_get(captured, number ? number - 1 : 0);
    if (json_is_true(json_object_get(*out, "whole")))
        return AT_OK;
    const char *why = json_string_value(json_object_get(*out, "trouble"));
    return error_set_at(error, AT_FORMAT, path, 0, "the launch was not captured completely: %s",
                        why ? why : "the program ended during the launch");
}

/* These limits are also in tuner/schemas/capture.json. */
enum {
    MOST_ARGUMENTS = 1024,
    MOST_ALLOCATIONS = 256,
    MOST_VARIABLES = 64,
    MOST_PARAMETER_BYTES = 32768,
    MOST_SIDE = INT32_MAX
};

/* The state of reading. The first failure is kept, and later reads are ignored. */
typedef struct reading {
    captured_launch *c;
    const char *dir;
    const char *what; /* name of the part being read, for messages: "argument" and its index */
    size_t place;
    at_status status;
    at_error *error;
} reading;

static void damaged(reading *r, const char *why)
{
    if (!r->status)
        r->status =
            error_set_at(r->error, AT_FORMAT, r->c->path, 0, "%s %zu %s: capture the program again",
                         r->what, r->place + 1, why);
}

static void damaged_member(reading *r, const char *name)
{
    char why[128];
    snprintf(why, sizeof why, "has no \"%s\", or a damaged one", name);
    damaged(r, why);
}

static uint64_t whole(reading *r, const json_t *object, const char *name, uint64_t most)
{
    const json_t *v = json_object_get(object, name);
    if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > most)
        damaged_member(r, name);
    return (uint64_t)json_integer_value(v);
}

static void read_sides(reading *r, const json_t *object, const char *name, uint32_t least,
                       uint32_t out[3])
{
    const json_t *list = json_object_get(object, name);
    for (size_t i = 0; i < 3; i++) {
        const json_t *v = json_array_get(list, i);
        const json_int_t side = json_integer_value(v);
        if (!json_is_integer(v) || side < least || side > MOST_SIDE || json_array_size(list) != 3)
            damaged_member(r, name);
        else
            out[i] = (uint32_t)side;
    }
}

/* Returns a text member, borrowed. Returns "" after a failure. */
static const char *text(reading *r, const json_t *object, const char *name)
{
    const char *found = json_string_value(json_object_get(object, name));
    if (!found)
        damaged_member(r, name);
    return found ? found : "";
}

static const json_t *list(reading *r, const json_t *object, const char *name, size_t most)
{
    const json_t *found = json_object_get(object, name);
    if (!json_is_array(found) || json_array_size(found) > most)
        damaged_member(r, name);
    return r->status ? NULL : found;
}

/* Returns the path of a file in the folder, such as "3.1/name", which the caller frees; NULL if the
 * member is null. Refuses names that lead out of the folder. */
static char *file_of(reading *r, const json_t *object, const char *name)
{
    const json_t *v = json_object_get(object, name);
    const char *file = json_string_value(v), *slash = file ? strchr(file, '/') : NULL;
    if (!file && json_is_null(v))
        return NULL;
    const size_t folder = slash ? (size_t)(slash - file) : 0,
                 digits = slash ? strspn(file, "0123456789") : 0;
    if (!slash || digits == 0 || file[digits] != '.' || folder < digits + 2 ||
        digits + 1 + strspn(file + digits + 1, "0123456789") != folder || !slash[1] ||
        slash[1 + strspn(slash + 1, "0123456789abcdefghijklmnopqrstuvwxyz-")]) {
        damaged_member(r, name);
        return NULL;
    }
    const size_t bytes = strlen(r->dir) + strlen(file) + 2;
    char *out = memory_new(bytes, 1);
    snprintf(out, bytes, "%s/%s", r->dir, file);
    return out;
}

static void read_pointer(reading *r, const json_t *p, const captured_argument *of)
{
    captured_launch *c = r->c;
    const uint64_t at = whole(r, p, "at", MOST_PARAMETER_BYTES);
    const captured_pointer pointer = {of->offset + (uint32_t)at,
                                      (uint32_t)whole(r, p, "allocation", MOST_ALLOCATIONS - 1),
                                      whole(r, p, "offset", INT64_MAX)};
    if (!r->status && (at + 8 > of->size_bytes || pointer.allocation >= c->allocation_count ||
                       pointer.allocation_offset > c->allocations[pointer.allocation].size_bytes))
        damaged(r, "has a pointer that is not in its allocation");
    if (!r->status)
        memory_add(&c->pointers, &c->pointer_count, &pointer, sizeof pointer);
}

static void read_argument(reading *r, const json_t *a)
{
    captured_launch *c = r->c;
    const captured_argument read = {(uint32_t)whole(r, a, "offset", MOST_PARAMETER_BYTES - 1),
                                    (uint32_t)whole(r, a, "size_bytes", MOST_PARAMETER_BYTES)};
    const char *hex = text(r, a, "bytes");
    const json_t *pointers = list(r, a, "pointers", SIZE_MAX);
    const size_t end = (size_t)read.offset + read.size_bytes;
    if (strlen(hex) != 2 * (size_t)read.size_bytes || hex[strspn(hex, "0123456789abcdef")] ||
        read.offset < c->parameter_bytes)
        damaged(r, "has damaged bytes, or overlaps the argument before");
    if (r->status)
        return;
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
    for (size_t k = 0; k < json_array_size(pointers) && !r->status; k++)
        read_pointer(r, json_array_get(pointers, k), &read);
}

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

static void check_file_of(reading *r, const char *path, uint64_t size_bytes)
{
    if (!r->status && path)
        r->status = check_file(path, size_bytes, r->error);
}

static void read_allocation(reading *r, const json_t *a)
{
    const char *address = text(r, a, "address");
    const captured_allocation read = {.address = strtoull(address, NULL, 16),
                                      .size_bytes = whole(r, a, "size_bytes", INT64_MAX),
                                      .before = file_of(r, a, "before"),
                                      .after = file_of(r, a, "after")};
    memory_add(&r->c->allocations, &r->c->allocation_count, &read, sizeof read);
    if (strncmp(address, "0x", 2) != 0 || strlen(address) > 18 ||
        address[2 + strspn(address + 2, "0123456789abcdef")])
        damaged_member(r, "address");
    if (read.size_bytes == 0 || !read.before ||
        (!read.after && !json_is_true(json_object_get(a, "unchanged"))))
        damaged(r, "has no bytes, or lacks a file");
    check_file_of(r, read.before, read.size_bytes);
    check_file_of(r, read.after, read.size_bytes);
}

static void read_variable(reading *r, const json_t *v)
{
    const captured_variable read = {.name = memory_text(text(r, v, "name")),
                                    .size_bytes = whole(r, v, "size_bytes", INT64_MAX),
                                    .before = file_of(r, v, "before")};
    memory_add(&r->c->variables, &r->c->variable_count, &read, sizeof read);
    if (!read.before)
        damaged_member(r, "before");
    check_file_of(r, read.before, read.size_bytes);
}

static void read_each(reading *r, const json_t *launch, const char *name, size_t most,
                      void (*read)(reading *, const json_t *), const char *what)
{
    const json_t *all = list(r, launch, name, most);
    for (r->place = 0; r->place < json_array_size(all) && !r->status; r->place++) {
        r->what = what;
        read(r, json_array_get(all, r->place));
    }
}

static at_status check_sides(const captured_launch *c, at_error *error)
{
    enum { MOST_THREADS = 1024, MOST_DEEP = 64, MOST_BLOCKS = 65535 };
    const uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    if (c->block[0] <= MOST_THREADS && c->block[1] <= MOST_THREADS && c->block[2] <= MOST_DEEP &&
        threads <= MOST_THREADS && c->grid[1] <= MOST_BLOCKS && c->grid[2] <= MOST_BLOCKS)
        return AT_OK;
    return error_set_at(
        error, AT_FORMAT, c->path, 0,
        "the file is damaged: its launch of %.200s has %u x %u x %u blocks of %u x %u x "
        "%u threads, which no GPU can launch. Capture the program again",
        c->kernel, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2]);
}

static at_status read_launch(captured_launch *c, const char *dir, size_t place,
                             const json_t *launch, at_error *error)
{
    reading r = {.c = c, .dir = dir, .what = "launch", .place = place, .error = error};
    const char *arch = text(&r, launch, "arch");
    c->kernel = memory_text(text(&r, launch, "kernel"));
    c->mangled = memory_text(text(&r, launch, "mangled"));
    snprintf(c->arch, sizeof c->arch, "%s", arch);
    if (strncmp(arch, "sm_", 3) != 0 || strlen(arch) >= sizeof c->arch)
        damaged_member(&r, "arch");
    read_sides(&r, launch, "grid", 1, c->grid);
    read_sides(&r, launch, "block", 1, c->block);
    read_sides(&r, launch, "cluster", 0, c->cluster);
    c->dynamic_shared_bytes = (uint32_t)whole(&r, launch, "dynamic_shared_bytes", UINT32_MAX);
    c->cooperative = json_is_true(json_object_get(launch, "cooperative"));
    c->count = whole(&r, launch, "count", INT64_MAX);
    c->variables_unread = whole(&r, launch, "variables_unread", INT64_MAX) > 0;
    c->module = file_of(&r, launch, "module");
    if (!r.status)
        r.status = check_sides(c, error);
    read_each(&r, launch, "allocations", MOST_ALLOCATIONS, read_allocation, "allocation");
    read_each(&r, launch, "arguments", MOST_ARGUMENTS, read_argument, "argument");
    read_each(&r, launch, "variables", MOST_VARIABLES, read_variable, "variable");
    return r.status;
}

static at_status check_head(const char *path, const json_t *root, at_error *error)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (schema && strcmp(schema, "autotune-capture") == 0 &&
        json_integer_value(json_object_get(root, "version")) == 1 &&
        json_is_array(json_object_get(root, "captured")))
        return AT_OK;
    return error_set_at(
        error, AT_FORMAT, path, 0,
        "this is not a capture, or one of another version of autotune: capture the program again");
}

enum { NAME_BYTES = PATH_MAX + sizeof CAPTURE_FILE + 1 };

/* Reads capture.json and writes its path to `path`. The caller frees `*root` in any case. */
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
        status = check_head(path, *root, error);
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
        status = read_launch(out, dir, number ? number - 1 : 0, launch, error);
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
