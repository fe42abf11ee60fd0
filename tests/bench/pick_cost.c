/* Measures the cost of opening records and picking from them for a program.
 *
 * usage: pick_cost RESULTS PATTERN [ENTRIES]
 *
 * RESULTS is a folder of records, from which PATTERN is picked. With ENTRIES, the entries of the
 * pattern's first record, without its portfolios, are repeated for this many other problems, in one
 * file of a temporary folder.
 *
 * Prints CPU times: milliseconds to open and for the first pick, which reads records and script;
 * microseconds of later picks, for new problems each time, and for one problem repeatedly. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autotune.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/stats.h"
#include "record/record.h"
#include "temporary.h"

enum { LATER = 2000, OPENINGS = 9, MOST_VARIABLES = 64 };

typedef struct bench {
    const char *folder, *pattern;
    record_set set; /* the pattern's variables that are sizes */
    at_gpu gpu;
} bench;

/* Returns the CPU time of this thread, which does not depend on other load. */
static int64_t cpu_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const at_error *error)
{
    fprintf(stderr, "pick_cost: %s\n", error->message);
    exit(1);
}

/* Makes problem `n`: the problem of the record's first entry with other sizes. Returns the number
 * of its variables. */
static size_t problem_of(const bench *b, uint64_t n, at_variable out[MOST_VARIABLES])
{
    const record_values *from = &b->set.records[0].entries[0].problem;
    size_t count = 0;
    for (; count < from->count && count < MOST_VARIABLES; count++) {
        const record_pair *p = &from->pairs[count];
        switch (p->value.kind) {
        case VALUE_INTEGER:
            out[count] = at_integer(p->name, p->value.integer > 256 ? (int64_t)(256 + 64 * n)
                                                                    : p->value.integer);
            break;
        case VALUE_NUMBER:
            out[count] = at_number(p->name, p->value.number);
            break;
        case VALUE_BOOLEAN:
            out[count] = at_boolean(p->name, p->value.boolean);
            break;
        case VALUE_STRING:
            out[count] = at_text(p->name, p->value.string);
            break;
        }
    }
    return count;
}

static double pick_us(const bench *b, const at_results *results, uint64_t n, bool show)
{
    at_variable problem[MOST_VARIABLES];
    at_choice *choice = NULL;
    at_error error = {0};
    const size_t count = problem_of(b, n, problem);
    const int64_t begun_ns = cpu_now_ns();
    if (at_pick(results, b->pattern, &b->gpu, problem, count, &choice, &error))
        die(&error);
    const double us = (double)(cpu_now_ns() - begun_ns) / 1e3;
    if (show)
        printf("rule %s, %s\n", at_rule_name(at_choice_rule(choice)),
               at_choice_checked(choice) ? "checked" : "not checked");
    at_choice_free(choice);
    return us;
}

static double open_ms(const bench *b, at_results **out)
{
    at_error error = {0};
    const int64_t begun_ns = cpu_now_ns();
    if (at_open(b->folder, out, &error))
        die(&error);
    return (double)(cpu_now_ns() - begun_ns) / 1e6;
}

static void measure(const bench *b)
{
    static double later[LATER], same[LATER];
    double opens[OPENINGS], firsts[OPENINGS];
    at_results *results;
    for (int i = 0; i < OPENINGS; i++) {
        opens[i] = open_ms(b, &results);
        firsts[i] = pick_us(b, results, 0, i == 0) / 1e3;
        if (i + 1 < OPENINGS)
            at_close(results);
    }
    const double of_process = firsts[0];
    for (int i = 0; i < LATER; i++)
        later[i] = pick_us(b, results, 1 + (uint64_t)i, false);
    for (int i = 0; i < LATER; i++)
        same[i] = pick_us(b, results, 1, false);
    at_close(results);
    printf("open %.3f ms\nfirst pick %.3f ms, of the process %.3f ms\n",
           stats_median(opens, OPENINGS), stats_median(firsts, OPENINGS), of_process);
    const double us = stats_median(later, LATER);
    printf("later pick %.2f us (of hundred one %.2f us), of the same problem %.2f us\n", us,
           later[LATER * 99 / 100], stats_median(same, LATER));
}

/* ---- a larger folder ---- */

static void vary(json_t *problem, size_t n)
{
    const char *name;
    json_t *v;
    void *next;
    json_object_foreach_safe(problem, next, name, v)
    {
        /* Each size gets other values. Numbers up to 256 are no sizes and stay as they are. */
        if (json_is_integer(v) && json_integer_value(v) > 256)
            json_object_set_new(problem, name,
                                json_integer((json_int_t)(256 + 17 * n + 5 * (n % 7) * name[0])));
    }
}

static void write_entries(const bench *b, const char *folder, size_t count)
{
    char path[4096], *text = NULL;
    at_error error = {0};
    json_t *root = json_copy(b->set.records[0].root), *entries = json_array();
    const json_t *from = json_object_get(root, "entries");
    for (size_t i = 0; i < count; i++) {
        json_t *entry = json_deep_copy(json_array_get(from, i % json_array_size(from)));
        static const char *const unread[] = {"resources", "environment", "device", "hashes",
                                             "predicted", "ceilings",    "tied",   "search"};
        for (size_t u = 0; u < sizeof unread / sizeof *unread; u++)
            json_object_del(entry, unread[u]);
        /* A record file has at most 16 MiB, so an entry keeps one contender. */
        json_t *contenders = json_object_get(entry, "contenders");
        while (json_array_size(contenders) > 1)
            json_array_remove(contenders, 1);
        vary(json_object_get(entry, "problem"), i);
        json_array_append_new(entries, entry);
    }
    json_object_set_new(root, "entries", entries);
    json_object_del(root, "portfolios");
    snprintf(path, sizeof path, "%s/gpu", folder);
    if (file_make_folder(path, &error) || json_text_format(root, 0, &text, &error))
        die(&error);
    snprintf(path, sizeof path, "%s/gpu/%s.json", folder, b->pattern);
    if (file_replace(path, text, strlen(text), &error))
        die(&error);
    printf("%zu entries, %.1f MiB\n", count, (double)strlen(text) / (1 << 20));
    free(text);
    json_decref(root);
}

int main(int argc, char **argv)
{
    bench b = {0};
    char folder[TEMPORARY_BYTES] = "";
    at_error error = {0};
    if (argc < 3 || argc > 4) {
        fputs("usage: pick_cost RESULTS PATTERN [ENTRIES]\n", stderr);
        return 2;
    }
    b.folder = argv[1];
    b.pattern = argv[2];
    if (record_load_all(b.folder, b.pattern, &b.set, &error))
        die(&error);
    if (b.set.count == 0 || b.set.records[0].entry_count == 0) {
        fprintf(stderr, "pick_cost: %s has no record of %s\n", b.folder, b.pattern);
        return 1;
    }
    const record *first = &b.set.records[0];
    b.gpu = (at_gpu){.major = first->major, .minor = first->minor};
    snprintf(b.gpu.name, sizeof b.gpu.name, "%s", first->gpu);
    if (argc > 3) {
        temporary_make(folder);
        write_entries(&b, folder, strtoul(argv[3], NULL, 10));
        b.folder = folder;
    }
    measure(&b);
    if (*folder)
        temporary_remove(folder);
    record_set_deinit(&b.set);
    return 0;
}
