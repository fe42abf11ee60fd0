#include "record/validate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/paths.h"
#include "record/json_pointer.h"

enum { MOST_FAULTS = 100 };

/* Readers take as many bytes. */
static const size_t file_limit_bytes = 16u << 20;

/* Figures are rounded when they are kept; a speed-up is of samples taken side by side, so that the
 * ratio of medians is only near it. */
static const double rounding = 2e-3, pairing = 5e-2;

typedef struct validation {
    const char *path, *text;
    record_faults *faults;
    size_t before;    /* faults of other files */
    at_status status; /* why no fault can be noted any more */
    at_error *error;
} validation;

__attribute__((format(printf, 3, 4))) static void fault(validation *v, const char *pointer,
                                                        const char *format, ...)
{
    at_error why = {.line = json_pointer_line(v->text, pointer)};
    char said[512];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    if (v->status || v->faults->count - v->before >= MOST_FAULTS)
        return;
    snprintf(why.message, sizeof why.message, "%s: %s", *pointer ? pointer : "the file", said);
    v->status = record_faults_add(v->faults, v->path, pointer, &why, v->error);
}

/* Has one of the file's faults this pointer, or one below it? */
static bool is_noted(const validation *v, const char *pointer)
{
    size_t length = strlen(pointer);
    for (size_t i = v->before; i < v->faults->count; i++) {
        const char *other = v->faults->items[i].pointer;
        if (strncmp(other, pointer, length) == 0 && (other[length] == '\0' || other[length] == '/'))
            return true;
    }
    return false;
}

/* ---- what readers do not see ---- */

static double number(const json_t *of, const char *name)
{
    return json_number_value(json_object_get(of, name));
}

static void check_order(validation *v, const json_t *time, const char *pointer)
{
    static const char *const names[] = {"low_ns", "median_ns", "high_ns"};
    static const char *const quarters[] = {"min_ns", "q1_ns", "median_ns", "q3_ns"};
    const struct {
        const char *const *names;
        size_t count;
    } orders[] = {{names, 3}, {quarters, 4}};
    for (size_t o = 0; o < 2; o++)
        for (size_t i = 0; i + 1 < orders[o].count; i++) {
            const json_t *a = json_object_get(time, orders[o].names[i]);
            const json_t *b = json_object_get(time, orders[o].names[i + 1]);
            if (a && b && json_number_value(a) > json_number_value(b))
                fault(v, pointer, "%s must not be above %s; measure it again", orders[o].names[i],
                      orders[o].names[i + 1]);
        }
}

/* Is a figure what others make it? Unknown where one of them is. */
static void check_figure(validation *v, const json_t *of, const char *name, double expected,
                         double tolerance, const char *pointer, const char *from)
{
    double kept = number(of, name);
    if (kept <= 0 || expected <= 0 || !isfinite(expected) ||
        fabs(kept - expected) <= tolerance * expected)
        return;
    char place[128];
    snprintf(place, sizeof place, "%s/%s", pointer, name);
    fault(v, place, "is %g, and %s make it %.5g; one of them was changed: measure it again", kept,
          from, expected);
}

/* How far the ratio of pairs may lie from that of the medians, of a time to that of the winner: as
 * far as the intervals of both let it. */
static double pairing_tolerance(const json_t *baseline, const json_t *winner)
{
    double of_medians = number(baseline, "median_ns") / number(winner, "median_ns");
    double most = number(baseline, "high_ns") / number(winner, "low_ns");
    double least = number(baseline, "low_ns") / number(winner, "high_ns");
    double off = fmax(most / of_medians - 1, 1 - least / of_medians);
    return isfinite(off) ? fmax(off, pairing) : pairing;
}

static void check_figures(validation *v, const json_t *entry, const char *pointer)
{
    const json_t *baseline = json_object_get(json_object_get(entry, "baseline"), "time");
    const json_t *winner = json_object_get(entry, "time");
    double median = number(winner, "median_ns");
    double bytes = number(entry, "traffic_bytes");
    double ceiling = number(entry, "ceiling_gbps");
    check_figure(v, entry, "gbps", bytes / median, rounding, pointer,
                 "traffic_bytes over the median");
    if (ceiling > 0)
        check_figure(v, entry, "ceiling_fraction", bytes / median / ceiling, rounding, pointer,
                     "its bandwidth over ceiling_gbps");
    check_figure(v, entry, "speedup", number(baseline, "median_ns") / median,
                 pairing_tolerance(baseline, winner), pointer,
                 "the medians of baseline and winner");
}

/* Same names as the winner's configuration? */
static void check_names(validation *v, const json_t *entry, const json_t *other,
                        const char *pointer)
{
    const json_t *winner = json_object_get(entry, "configuration");
    const char *name;
    json_t *member;
    if (!json_is_object(other) || !json_is_object(winner))
        return;
    json_object_foreach((json_t *)(uintptr_t)other, name, member)
    {
        if (!json_object_get(winner, name)) {
            fault(v, pointer,
                  "has '%.63s', which the winner's configuration has not; both are of one space",
                  name);
            return;
        }
    }
    if (json_object_size(other) != json_object_size(winner))
        fault(v, pointer,
              "lacks parameters that the winner's configuration has; both are of one space");
}

/* The clear winner is not slower than another. */
static void check_verdict(validation *v, const json_t *entry, const json_t *contender,
                          const char *pointer)
{
    const char *verdict = json_string_value(json_object_get(entry, "verdict"));
    double low = json_number_value(json_object_get(json_object_get(entry, "time"), "low_ns"));
    double high = json_number_value(json_object_get(json_object_get(contender, "time"), "high_ns"));
    if (verdict && strcmp(verdict, "clear") == 0 && low > high && high > 0)
        fault(
            v, pointer,
            "is faster than the winner, whose verdict is \"clear\": configurations were exchanged? "
            "'autotune verify' races them");
}

/* A part of the entry that has a time, and other configurations than the winner's. */
static void check_part(validation *v, const json_t *entry, const json_t *part, const char *pointer)
{
    char place[128];
    snprintf(place, sizeof place, "%s/configuration", pointer);
    if (part != entry)
        check_names(v, entry, json_object_get(part, "configuration"), place);
    snprintf(place, sizeof place, "%s/time", pointer);
    check_order(v, json_object_get(part, "time"), place);
}

static void check_entry(validation *v, const json_t *entry, size_t place)
{
    char pointer[64];
    const json_t *contenders = json_object_get(entry, "contenders");
    snprintf(pointer, sizeof pointer, "/entries/%zu", place);
    check_figures(v, entry, pointer);
    check_part(v, entry, entry, pointer);
    snprintf(pointer, sizeof pointer, "/entries/%zu/baseline", place);
    check_part(v, entry, json_object_get(entry, "baseline"), pointer);
    for (size_t i = 0; i < json_array_size(contenders); i++) {
        const json_t *c = json_array_get(contenders, i);
        snprintf(pointer, sizeof pointer, "/entries/%zu/contenders/%zu", place, i);
        check_verdict(v, entry, c, pointer);
        check_part(v, entry, c, pointer);
    }
}

static void check_repeats(validation *v, const record *r)
{
    for (size_t i = 0; i < r->entry_count; i++) {
        const record_entry *e = &r->entries[i], *first = record_find_question(r, r, e);
        char pointer[64];
        if (first == e)
            continue;
        snprintf(pointer, sizeof pointer, "/entries/%zu", e->place);
        fault(v, pointer,
              "repeats the problem of /entries/%zu, which comes first and is taken; take the older "
              "one out",
              first->place);
    }
}

/* The last part of the path, or the one before it. */
static void path_part(const char *path, bool folder, char *out, size_t size_bytes)
{
    const char *end = strrchr(path, '/'), *begin = end;
    if (!folder) {
        snprintf(out, size_bytes, "%s", end ? end + 1 : path);
        return;
    }
    while (begin && begin > path && begin[-1] != '/')
        begin--;
    snprintf(out, size_bytes, "%.*s", begin ? (int)(end - begin) : 0, begin ? begin : "");
}

static void check_place(validation *v, const record *r)
{
    char file[256], folder[256], slug[PATHS_SLUG_BYTES], wanted[RECORD_NAME_BYTES + 8];
    path_part(v->path, false, file, sizeof file);
    path_part(v->path, true, folder, sizeof folder);
    paths_slug(r->gpu, slug);
    snprintf(wanted, sizeof wanted, "%s.json", r->pattern);
    if (strcmp(file, wanted) != 0)
        fault(v, "/pattern",
              "is '%s', whose record is %s: nobody looks for it here; rename the file", r->pattern,
              wanted);
    else if (*folder && strcmp(folder, slug) != 0 && strcmp(folder, ".") != 0)
        fault(v, "/gpu", "is '%.80s', whose folder is %s, not %.80s; move the file", r->gpu, slug,
              folder);
}

/* ---- the file ---- */

/* Adds what readers refuse. */
static void check_reading(validation *v, size_t size_bytes, size_t *entries)
{
    record r;
    record_faults found = {0};
    at_error why = {0};
    at_status status = record_parse(v->text, size_bytes, v->path, &found, &r, &why);
    if (status == AT_NO_MEMORY)
        v->status = error_no_memory(v->error);
    else if (status)
        fault(v, "", "%s", why.message);
    for (size_t i = 0; i < found.count; i++)
        fault(v, found.items[i].pointer, "%s", found.items[i].message);
    if (!status) {
        *entries = r.entry_count;
        check_place(v, &r);
        check_repeats(v, &r);
        record_deinit(&r);
    }
    record_faults_deinit(&found);
}

static at_status check_root(validation *v, const json_t *root, size_t size_bytes, size_t *entries)
{
    const json_t *list = json_object_get(root, "entries");
    check_reading(v, size_bytes, entries);
    for (size_t i = 0; i < json_array_size(list) && !v->status; i++) {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/entries/%zu", i);
        if (!is_noted(v, pointer))
            check_entry(v, json_array_get(list, i), i);
    }
    return v->status;
}

at_status record_validate(const char *path, record_faults *faults, size_t *entries, at_error *error)
{
    char *text;
    size_t size_bytes;
    json_t *root;
    at_error why = {0};
    *entries = 0;
    at_status status = file_read(path, file_limit_bytes, &text, &size_bytes, &why);
    if (status == AT_FORMAT)
        return record_faults_add(faults, path, "", &why, error);
    if (status) {
        if (error)
            *error = why;
        return status;
    }
    validation v = {
        .path = path, .text = text, .faults = faults, .before = faults->count, .error = error};
    status = json_text_parse(text, size_bytes, path, &root, &why);
    if (status == AT_FORMAT) {
        status = record_faults_add(faults, path, "", &why, error);
    } else if (!status) {
        status = check_root(&v, root, size_bytes, entries);
        json_decref(root);
    } else if (error) {
        *error = why;
    }
    free(text);
    return status;
}
