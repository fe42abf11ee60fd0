/* autotune verify: races recorded winners on this machine's GPU, and reports which still win. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "process/interrupt.h"
#include "report/progress.h"
#include "run/setup/setup.h"
#include "run/setup/workers.h"
#include "run/standing/standing.h"

enum { EXIT_FAILED = 6, TEXT_BYTES = 512 };

typedef struct wanted {
    char name[RECORD_NAME_BYTES];
    const char *script; /* name or path of the pattern's script */
} wanted;

typedef struct verification {
    wanted patterns[OPTIONS_MAX_OPERANDS];
    size_t pattern_count; /* 0 for all */
    record_set records;
    workers workers;
    size_t count;
    standing_question *questions;
    standing_answer *answers;
    size_t other_count; /* number of entries of other GPUs */
    size_t answered;
    double wall_s;
} verification;

static at_status read_operand(const options *o, const char *operand, wanted *out, at_error *error)
{
    size_t length = strlen(operand);
    bool is_file =
        strchr(operand, '/') || (length > 4 && strcmp(operand + length - 4, ".lua") == 0);
    script *s = NULL;
    arch_limits limits;
    settings asked = o->run;
    at_status status = AT_OK;
    out->script = asked.pattern.script = operand;
    asked.pattern.variable_count = 0;
    snprintf(out->name, sizeof out->name, "%s", operand);
    if (!is_file)
        return AT_OK;
    status = arch_find("sm_90", &limits, error);
    if (!status)
        status = target_load_script(&asked, &limits, &s, error);
    if (!status)
        snprintf(out->name, sizeof out->name, "%s", script_pattern(s)->name);
    script_free(s);
    return status;
}

/* Returns the script of a record's pattern, or NULL if the pattern was not requested. */
static const char *script_of(const verification *v, const record *r)
{
    for (size_t i = 0; i < v->pattern_count; i++)
        if (strcmp(v->patterns[i].name, r->pattern) == 0)
            return v->patterns[i].script;
    return v->pattern_count ? NULL : r->pattern;
}

static at_status refuse_unknown(const verification *v, at_error *error)
{
    for (size_t i = 0; i < v->pattern_count; i++) {
        const char *names[512];
        size_t count = 0;
        bool known = false;
        for (size_t k = 0; k < v->records.count; k++) {
            known = known || strcmp(v->records.records[k].pattern, v->patterns[i].name) == 0;
            if (count < sizeof names / sizeof *names)
                names[count++] = v->records.records[k].pattern;
        }
        const char *nearest = known ? NULL : nearest_name(v->patterns[i].name, names, count);
        if (!known)
            return error_set(error, AT_USAGE, "nothing is recorded of '%s'%s%s%s",
                             v->patterns[i].name, nearest ? "; did you mean '" : "",
                             nearest ? nearest : "",
                             nearest ? "'?" : "; 'autotune results list' lists what is");
    }
    return AT_OK;
}

static at_status choose(const options *o, verification *v, at_error *error)
{
    at_status status = AT_OK;
    for (size_t i = 0; i < o->operand_count && !status; i++)
        status = read_operand(o, o->operands[i], &v->patterns[v->pattern_count++], error);
    if (!status)
        status = known_records(o, NULL, false, &v->records, error);
    return status ? status : refuse_unknown(v, error);
}

/* Lists this GPU's entries, first cold, then warm ones: so the device is set up at most twice. */
static at_status list_questions(const options *o, verification *v, at_error *error)
{
    at_status status = AT_OK;
    for (int warm = 0; warm < 2; warm++)
        for (size_t i = 0; i < v->records.count; i++) {
            const record *r = &v->records.records[i];
            const char *script_name = script_of(v, r);
            bool here = strcmp(r->gpu, v->workers.properties.limits.name) == 0;
            for (size_t k = 0; script_name && k < r->entry_count && !status; k++) {
                const record_entry *e = &r->entries[k];
                if (e->warm_cache != (warm == 1) || !known_wants_entry(o, e))
                    continue;
                const standing_question q = {script_name, r, e};
                v->other_count += !here;
                if (here)
                    memory_add(&v->questions, &v->count, &q, sizeof q);
            }
        }
    if (!status && v->count == 0)
        status = error_set(
            error, AT_USAGE,
            "none of the requested entries is of %s, this machine's GPU (%zu are of other GPUs)",
            v->workers.properties.limits.name, v->other_count);
    if (!status)
        v->answers = memory_new(v->count, sizeof *v->answers);
    return status;
}

static at_status open_gpu(const options *o, verification *v, at_error *error)
{
    if (o->run.machine.device && strncmp(o->run.machine.device, "cuda:", 5) != 0)
        return error_set(error, AT_USAGE,
                         "verify needs one real GPU, such as --device cuda:0, not '%s': times of "
                         "simulated devices are predictions",
                         o->run.machine.device);
    settings asked = o->run;
    asked.machine.device = o->run.machine.device ? o->run.machine.device : "cuda:0";
    return workers_open(&v->workers, &asked, error);
}

/* Verifies the next entries that have the cache state `warm`. */
static at_status verify_part(const options *o, verification *v, bool warm, progress *shown,
                             at_error *error)
{
    size_t first = v->answered, count = 0, answered = 0;
    while (first + count < v->count && v->questions[first + count].entry->warm_cache == warm)
        count++;
    if (count == 0)
        return AT_OK;
    settings asked = o->run;
    asked.machine.workers = &v->workers;
    asked.race.warm_cache = warm;
    at_status status = warm ? workers_replace_device(&v->workers, &asked, error) : AT_OK;
    if (!status)
        status = standing_run(&asked, &v->questions[first], count, &v->answers[first], &answered,
                              shown, error);
    v->answered += answered;
    return status;
}

/* Writes the changes since the entry was measured: "driver 570.1 -> 580.2, template". Drops text
 * that does not fit; writes "" if no change is known. */
static void format_changes(const verification *v, size_t at, char *text, size_t size_bytes)
{
    const standing_question *q = &v->questions[at];
    const standing_answer *a = &v->answers[at];
    const json_t *entries = json_object_get(q->from->root, "entries");
    const json_t *measured_by = json_object_get(json_array_get(entries, q->entry->place), "device");
    char cuda[16];
    snprintf(cuda, sizeof cuda, "%d.%d", v->workers.properties.cuda_version / 1000,
             v->workers.properties.cuda_version % 1000 / 10);
    const struct {
        const char *name, *now;
    } versions[] = {{"driver", v->workers.properties.driver},
                    {"cuda", cuda},
                    {"nvrtc", v->workers.pool ? compile_nvrtc_version(v->workers.pool) : ""}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *then = json_string_value(json_object_get(measured_by, versions[i].name));
        if (then && *then && *versions[i].now && strcmp(then, versions[i].now) != 0)
            text_add(text, size_bytes, "%s%s %s -> %s", *text ? ", " : "", versions[i].name, then,
                     versions[i].now);
    }
    if (a->script_changed)
        text_add(text, size_bytes, "%sscript", *text ? ", " : "");
    if (a->template_changed)
        text_add(text, size_bytes, "%stemplate", *text ? ", " : "");
}

static void count_verdicts(const verification *v, size_t counts[STANDINGS])
{
    memset(counts, 0, STANDINGS * sizeof *counts);
    for (size_t i = 0; i < v->answered; i++)
        counts[v->answers[i].verdict]++;
}

static json_t *pack_answer(const verification *v, size_t at)
{
    const standing_question *q = &v->questions[at];
    const standing_answer *a = &v->answers[at];
    char pointer[64], changes[TEXT_BYTES];
    snprintf(pointer, sizeof pointer, "/entries/%zu", q->entry->place);
    format_changes(v, at, changes, sizeof changes);
    json_t *object = json_pack("{ss so ss so ss sI ss}", "pattern", q->from->pattern, "file",
                               json_path(q->from->path), "pointer", pointer, "configuration",
                               record_pack_values(&q->entry->configuration), "verdict",
                               standing_name(a->verdict), "recorded_ns",
                               (json_int_t)q->entry->time_ns, "changed", changes);
    known_put_question(&object, q->entry);
    if (a->why)
        json_put(&object, "why", json_foreign_text(a->why));
    if (a->time_ns) {
        json_put(&object, "time_ns", json_integer(a->time_ns));
        json_put(&object, "raced", json_integer((json_int_t)a->raced));
        json_put(&object, "blocks", json_integer((json_int_t)a->blocks));
    }
    if (a->rival)
        json_put(&object, "rival",
                 json_pack("{sO so so so}", "configuration", a->rival_values, "ratio",
                           json_rounded(a->ratio, 6), "ratio_low", json_rounded(a->low, 6),
                           "ratio_high", json_rounded(a->high, 6)));
    return object;
}

/* Packs data that only the text of an answer needs. */
static json_t *pack_words(const standing_answer *a)
{
    json_t *words = json_object();
    if (a->rival)
        json_put(&words, "rival",
                 json_pack("{so so so}", "name", json_foreign_text(a->rival), "low",
                           json_exact(a->low), "high", json_exact(a->high)));
    return words;
}

static at_status print(const options *o, const verification *v, at_error *error)
{
    json_t *list = json_array(), *words = json_array();
    size_t counts[STANDINGS];
    count_verdicts(v, counts);
    for (size_t i = 0; i < v->answered; i++) {
        json_append(&list, pack_answer(v, i));
        json_append(&words, pack_words(&v->answers[i]));
    }
    json_t *root = json_pack(
        "{ss ss ss sI sI sI sI sI sI so so}", "gpu", v->workers.properties.limits.name, "driver",
        v->workers.properties.driver, "nvrtc", compile_nvrtc_version(v->workers.pool), "holds",
        (json_int_t)counts[STANDING_HOLDS], "overtaken", (json_int_t)counts[STANDING_OVERTAKEN],
        "broken", (json_int_t)counts[STANDING_BROKEN], "not_verifiable",
        (json_int_t)counts[STANDING_NOT_VERIFIABLE], "not_reached",
        (json_int_t)(v->count - v->answered), "of_other_gpus", (json_int_t)v->other_count, "wall_s",
        json_rounded(v->wall_s, 4), "records", list);
    json_t *also = json_pack("{so so sI}", "words", words, "exact_s", json_exact(v->wall_s),
                             "count", (json_int_t)v->count);
    return page_show(o, "verify", 1, root, also, error);
}

/* Sets which verdicts fail for a word of --fail-on. */
static void find_fail_on(const char *word, bool fails[STANDINGS])
{
    static const struct {
        const char *name;
        bool fails[STANDINGS];
    } words[] = {{"overtaken", {[STANDING_OVERTAKEN] = true, [STANDING_BROKEN] = true}},
                 {"broken", {[STANDING_BROKEN] = true}},
                 {"any",
                  {[STANDING_OVERTAKEN] = true,
                   [STANDING_BROKEN] = true,
                   [STANDING_NOT_VERIFIABLE] = true}}};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].name) == 0)
            memcpy(fails, words[i].fails, sizeof words[i].fails);
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    verification v = {0};
    bool fails[STANDINGS] = {false};
    size_t counts[STANDINGS];
    int64_t start_ns = clock_now_ns();
    progress *shown = NULL;
    find_fail_on(o->fail_on, fails);
    at_status status = choose(o, &v, error);
    if (!status)
        status = open_gpu(o, &v, error);
    if (status == AT_NO_DEVICE) {
        char why[400];
        snprintf(why, sizeof why, "%s", error->message);
        error_set(error, status,
                  "recorded winners are raced on the GPU that they were measured on, and %s", why);
    }
    if (!status)
        status = list_questions(o, &v, error);
    if (status)
        goto cleanup;
    interrupt_hold();
    shown = progress_new(STDERR_FILENO, o->run.quiet);
    status = verify_part(o, &v, false, shown, error);
    if (!status)
        status = verify_part(o, &v, true, shown, error);
    progress_free(shown);
    v.wall_s = (double)(clock_now_ns() - start_ns) / 1e9;
    at_error *unsaid = status ? NULL : error;
    at_status printed = print(o, &v, unsaid);
    status = status ? status : printed;
    count_verdicts(&v, counts);
    for (int s = 0; s < STANDINGS; s++)
        if (fails[s] && counts[s] > 0)
            *exit_code = EXIT_FAILED;
    interrupt_take();
    interrupt_release();
cleanup:
    if (v.answers)
        standing_answers_deinit(v.answers, v.count);
    free(v.answers);
    free(v.questions);
    workers_close(&v.workers);
    record_set_deinit(&v.records);
    return status;
}

const command cmd_verify = {
    .name = "verify",
    .operand = "PATTERN",
    .operands_least = 0,
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Race recorded winners against their runners-up: which records still hold?",
    .options = "set include device tie seed jobs no-cache results fail-on json quiet",
    .chooses = "fail-on",
    .words = "overtaken|broken|any",
    .answer = answer,
};
