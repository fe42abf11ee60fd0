/* autotune capture: lists the kernels that a program launches, and saves the arguments and memory
 * of chosen launches. */
#define _XOPEN_SOURCE 700 /* nftw */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <jansson.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cuda/cupti.h"

enum { PATH_BYTES = PATH_MAX + 64 };

static bool is_empty(const char *dir)
{
    struct dirent **list = NULL;
    int count = scandir(dir, &list, NULL, NULL), others = 0;
    for (int i = 0; i < count; i++) {
        others += strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0;
        free(list[i]);
    }
    free(list);
    return others == 0;
}

/* Makes the folder. Returns its absolute path, because the program may call chdir(). */
static at_status make_folder(const options *o, char path[PATH_MAX], at_error *error)
{
    if (!o->output)
        return error_set(
            error, AT_USAGE,
            "-o DIR is missing, the folder for the capture: autotune capture -o DIR -- PROGRAM");
    at_status status = file_make_private_folder(o->output, error);
    if (!status && !realpath(o->output, path))
        status = error_set_errno(error, errno, "cannot find the folder %s", o->output);
    if (!status && !is_empty(path))
        status =
            error_set(error, AT_USAGE,
                      "the folder %s is not empty: give a new folder for the capture", o->output);
    return status;
}

static json_t *ended_json(int ended)
{
    if (WIFSIGNALED(ended))
        return json_pack("{sn ss}", "code", "signal", strsignal(WTERMSIG(ended)));
    return json_pack("{si sn}", "code", WEXITSTATUS(ended), "signal");
}

static json_t *program_json(char *const *arguments)
{
    json_t *out = json_array();
    for (; *arguments; arguments++)
        json_append(&out, json_path(*arguments));
    return out;
}

static at_status check_found(const options *o, const json_t *capture, at_error *error)
{
    const json_t *trouble = json_array_get(json_object_get(capture, "trouble"), 0);
    const json_int_t matched = json_integer_value(json_object_get(capture, "matched"));
    const json_int_t recorded = json_integer_value(json_object_get(capture, "matched_recorded"));
    if (json_integer_value(json_object_get(capture, "processes")) == 0)
        return error_set(error, AT_NO_DEVICE,
                         "%s did not use CUDA, or not the driver of this machine", o->program[0]);
    if (trouble && json_array_size(json_object_get(capture, "launches")) == 0)
        return error_set(error, AT_NO_DEVICE,
                         "the launches of %s were not seen: %s. CUPTI comes with the CUDA Toolkit "
                         "(Debian package cuda-cupti-13-0, PyPI package nvidia-cuda-cupti); "
                         "AUTOTUNE_LIBCUPTI=/path/to/libcupti.so.13 says where it is",
                         o->program[0], json_string_value(trouble));
    if (!o->capture.kernel || json_array_size(json_object_get(capture, "captured")) > 0)
        return AT_OK;
    if (trouble)
        return error_set(error, AT_NO_DEVICE, "%s", json_string_value(trouble));
    if (matched == 0 && recorded == 0)
        return error_set(error, AT_NOT_FOUND,
                         "no launched kernel has '%s' in its name; without --kernel, this command "
                         "lists all kernels",
                         o->capture.kernel);
    if (matched == 0)
        return error_set(error, AT_NOT_FOUND,
                         "kernels with '%s' in their names were only recorded into graphs, %lld "
                         "times: the memory before such a launch cannot be read. Let the program "
                         "launch them without a graph",
                         o->capture.kernel, (long long)recorded);
    return error_set(error, AT_NOT_FOUND,
                     "kernels with '%s' in their names were launched %lld times: there is no "
                     "launch %llu",
                     o->capture.kernel, (long long)matched, (unsigned long long)o->capture.nth);
}

/* Writes DIR/capture.json, which only its owner may read. */
static at_status write_capture(const char *dir, const json_t *capture, at_error *error)
{
    char path[PATH_BYTES], *text = NULL;
    snprintf(path, sizeof path, "%s/%s", dir, CAPTURE_FILE);
    at_status status = json_text_format(capture, 2, &text, error);
    if (!status)
        status = file_replace(path, text, strlen(text), error);
    if (!status && chmod(path, 0600) != 0)
        status = error_set_errno(error, errno, "cannot close %s to others", path);
    free(text);
    return status;
}

static int remove_one(const char *path, const struct stat *of, int kind, struct FTW *place)
{
    (void)of;
    (void)kind;
    (void)place;
    return remove(path);
}

static at_status run(const options *o, at_error *error)
{
    char dir[PATH_MAX], library[PATH_MAX];
    json_t *capture = NULL;
    int ended = 0;
    at_status status = make_folder(o, dir, error);
    if (status)
        return status;
    const program_request request = {.arguments = o->program,
                                     .dir = dir,
                                     .kernel = o->capture.kernel,
                                     .nth = o->capture.nth,
                                     .shapes = o->capture.shapes,
                                     .limit_bytes = o->capture.limit_bytes,
                                     .timed = o->capture.timed,
                                     .cupti = cupti_find(library, sizeof library) ? library : NULL,
                                     .output_to_stderr = o->json};
    status = capture_program(&request, &ended, error);
    if (!status)
        status = capture_read_tables(dir, &capture, error);
    if (!status) {
        json_put(&capture, "schema", json_string(CAPTURE_SCHEMA));
        json_put(&capture, "version", json_integer(CAPTURE_VERSION));
        json_put(&capture, "program", program_json(o->program));
        json_put(&capture, "ended", ended_json(ended));
        status = write_capture(dir, memory_require(capture), error);
    }
    if (!status)
        status = check_found(o, capture, error);
    if (!status)
        status =
            page_show(o, "capture", 2, json_incref(capture),
                      json_pack("{ss sI}", "dir", o->output, "top", (json_int_t)o->top), error);
    json_decref(capture);
    if (status) /* an incomplete capture is useless */
        nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

const command cmd_capture = {
    .name = "capture",
    .operand = "-- PROGRAM [ARGUMENT]...",
    .summary = "Run a program, and write down what it launches",
    .options = "kernel nth shapes limit time top output json",
    .runs_program = true,
    .run = run,
};
