#include "journal/line.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "device/plan.h"

/* ---- keys ---- */

static journal_key hash(const void *bytes, size_t size_bytes)
{
    journal_key out;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, size_bytes));
    memcpy(out.bytes, canonical.digest, sizeof out.bytes);
    return out;
}

journal_key journal_key_of_pack(pack *m)
{
    memory_require(m->failed ? NULL : m);
    journal_key key = hash(m->bytes, m->size_bytes);
    pack_deinit(m);
    return key;
}

journal_key journal_key_of_facts(const journal_facts *f)
{
    const device_properties *d = f->device;
    pack m = {0};
    pack_put_u32(&m, JOURNAL_MEASURING_VERSION);
    pack_put_string(&m, f->pattern);
    pack_put_string(&m, d->kind);
    pack_put_string(&m, d->limits.name);
    pack_put_string(&m, d->driver);
    pack_put_string(&m, d->arch);
    pack_put_string(&m, f->nvrtc_version);
    pack_put_u64(&m, f->problem_count);
    for (size_t i = 0; i < f->problem_count; i++)
        plan_put_problem(&m, &f->problems[i]);
    pack_put_string(&m, f->reference_hash);
    pack_put_u32(&m, f->warm_cache);
    if (f->before_hash && *f->before_hash)
        pack_put_string(&m, f->before_hash);
    return journal_key_of_pack(&m);
}

journal_key journal_key_of_both(journal_key first, journal_key second)
{
    const journal_key both[] = {first, second};
    return hash(both, sizeof both);
}

journal_key journal_key_of_gpu(journal_key facts, const char *uuid)
{
    return journal_key_of_both(facts, hash(uuid, strlen(uuid)));
}

journal_key journal_key_of_question(journal_key race, const journal_question *q)
{
    pack m = {0};
    pack_put_bytes(&m, race.bytes, sizeof race.bytes);
    pack_put_string(&m, q->asked);
    pack_put_u64(&m, q->number);
    pack_put_u64(&m, q->count);
    for (size_t i = 0; i < q->count; i++) {
        pack_put_bytes(&m, q->variants[i].bytes, sizeof q->variants[i].bytes);
        pack_put_u64(&m, q->configurations[i]);
    }
    return journal_key_of_pack(&m);
}

/* ---- lines ---- */

/* The check at the end of a line: ,"check":"0123456789abcdef"} */
static const char check_head[] = ",\"check\":\"";
enum { CHECK_DIGITS = 16, CHECK_BYTES = sizeof check_head - 1 + CHECK_DIGITS + 2 };

static const struct {
    const char *name;
    size_t offset;
} resource_fields[] = {
    {"registers", offsetof(kernel_resources, registers)},
    {"stack_bytes", offsetof(kernel_resources, stack_bytes)},
    {"spill_store_bytes", offsetof(kernel_resources, spill_store_bytes)},
    {"spill_load_bytes", offsetof(kernel_resources, spill_load_bytes)},
    {"static_shared_bytes", offsetof(kernel_resources, static_shared_bytes)},
    {"constant_bytes", offsetof(kernel_resources, constant_bytes)},
    {"barriers", offsetof(kernel_resources, barriers)},
};

static uint32_t *resource_at(kernel_resources *k, size_t field)
{
    return (uint32_t *)(void *)((char *)k + resource_fields[field].offset);
}

static json_t *pack_key(journal_key key)
{
    char hex[2 * sizeof key.bytes + 1];
    for (size_t i = 0; i < sizeof key.bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", key.bytes[i]);
    return json_string(hex);
}

/* Returns the value of a digit, or -1. Rejects upper case: a number has only one spelling. */
static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const char *text, unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

static bool parse_hex(const json_t *j, unsigned char *bytes, size_t count)
{
    const char *text = json_string_value(j);
    return text && strlen(text) == 2 * count && read_hex(text, bytes, count);
}

static uint64_t number_of(const unsigned char bytes[8])
{
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | bytes[i];
    return number;
}

static json_t *pack_u64(uint64_t v)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, v);
    return json_string(text);
}

static bool parse_u64(const json_t *j, uint64_t *out)
{
    unsigned char bytes[8];
    if (!parse_hex(j, bytes, sizeof bytes))
        return false;
    *out = number_of(bytes);
    return true;
}

static json_t *pack_text(const char *text)
{
    char cut[JOURNAL_TEXT_BYTES];
    snprintf(cut, sizeof cut, "%s", text ? text : "");
    return json_foreign_text(cut);
}

static json_t *pack_samples(const journal_entry *e)
{
    json_t *array = json_array();
    for (size_t i = 0; i < e->found.sample_count; i++)
        json_append(&array, json_integer((json_int_t)e->found.samples_ns[i]));
    return array;
}

static json_t *pack_resources(const journal_entry *e)
{
    kernel_resources k = e->found.resources;
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof resource_fields / sizeof *resource_fields; i++)
        json_put(&object, resource_fields[i].name, json_integer((json_int_t)*resource_at(&k, i)));
    return object;
}

static json_t *pack_configurations(const journal_entry *e)
{
    json_t *array = json_array();
    for (size_t i = 0; i < e->configuration_count; i++)
        json_append(&array, json_integer((json_int_t)e->configurations[i]));
    return array;
}

static json_t *pack_figures(const journal_entry *e)
{
    json_t *array = json_array();
    for (size_t i = 0; i < e->figure_count && i < JOURNAL_MAX_FIGURES; i++)
        json_append(&array, json_real(e->figures[i]));
    return array;
}

/* Writes the object as a line and frees it. The check replaces the closing brace. */
static at_status finish_line(json_t *root, char **out, at_error *error)
{
    *out = NULL;
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    size_t length = text ? strlen(text) - 1 : 0;
    char *line = text ? malloc(length + CHECK_BYTES + 2) : NULL;
    if (line) {
        memcpy(line, text, length);
        snprintf(line + length, CHECK_BYTES + 2, "%s%016" PRIx64 "\"}\n", check_head,
                 (uint64_t)XXH3_64bits(text, length));
        *out = line;
    }
    free(text);
    return line ? AT_OK : error_no_memory(error);
}

at_status journal_line_of_entry(uint64_t run, journal_key facts, journal_key key,
                                const journal_entry *e, char **out, at_error *error)
{
    json_t *root =
        json_pack("{so so so ss so so sI sI}", "run", pack_u64(run), "facts", pack_key(facts),
                  "key", pack_key(key), "outcome", outcome_name(e->found.outcome), "configuration",
                  pack_text(e->configuration), "samples_ns", pack_samples(e), "compile_ns",
                  (json_int_t)e->found.compile_ns, "check_ns", (json_int_t)e->found.check_ns);
    if (root && e->found.has_resources)
        json_put(&root, "resources", pack_resources(e));
    if (root && e->found.message && *e->found.message)
        json_put(&root, "message", pack_text(e->found.message));
    if (root && e->stage && *e->stage)
        json_put(&root, "stage", pack_text(e->stage));
    if (root && e->uuid && *e->uuid)
        json_put(&root, "gpu", pack_text(e->uuid));
    if (root && e->has_code)
        json_put(&root, "code", pack_key(e->code));
    if (root && e->asked && *e->asked) {
        json_put(&root, "asked", pack_text(e->asked));
        json_put(&root, "configurations", pack_configurations(e));
        json_put(&root, "figures", pack_figures(e));
    }
    return finish_line(root, out, error);
}

at_status journal_line_of_finish(uint64_t run, const uint64_t *runs, size_t count, char **out,
                                 at_error *error)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(&array, pack_u64(runs[i]));
    return finish_line(json_pack("{so so}", "run", pack_u64(run), "finished", array), out, error);
}

static bool check_passes(const char *text, size_t size_bytes)
{
    if (size_bytes <= CHECK_BYTES)
        return false;
    size_t length = size_bytes - CHECK_BYTES;
    char tail[CHECK_BYTES + 1];
    snprintf(tail, sizeof tail, "%s%016" PRIx64 "\"}", check_head,
             (uint64_t)XXH3_64bits(text, length));
    return memcmp(text + length, tail, CHECK_BYTES) == 0;
}

static bool parse_finish(const json_t *runs, journal_line *out)
{
    size_t count = json_array_size(runs);
    out->is_finish = true;
    out->finished = memory_new(count, sizeof *out->finished);
    if (!json_is_array(runs))
        return false;
    for (; out->finished_count < count; out->finished_count++)
        if (!parse_u64(json_array_get(runs, out->finished_count),
                       &out->finished[out->finished_count]))
            return false;
    return true;
}

static bool parse_samples(const json_t *array, journal_line *out)
{
    size_t count = json_array_size(array);
    if (!json_is_array(array) || count > JOURNAL_MAX_SAMPLES)
        return false;
    out->samples_ns = memory_new(count, sizeof *out->samples_ns);
    for (size_t i = 0; i < count; i++) {
        const json_t *j = json_array_get(array, i);
        out->samples_ns[i] = json_integer_value(j);
        if (!json_is_integer(j) || out->samples_ns[i] <= 0)
            return false;
    }
    out->entry.found.samples_ns = out->samples_ns;
    out->entry.found.sample_count = count;
    return true;
}

static bool parse_resources(const json_t *object, journal_entry *e)
{
    e->found.has_resources = object != NULL;
    for (size_t i = 0; object && i < sizeof resource_fields / sizeof *resource_fields; i++) {
        const json_t *j = json_object_get(object, resource_fields[i].name);
        if (!json_is_integer(j) || json_integer_value(j) < 0 || json_integer_value(j) > UINT32_MAX)
            return false;
        *resource_at(&e->found.resources, i) = (uint32_t)json_integer_value(j);
    }
    return true;
}

/* Reads a duration; 0 if it is missing, as in lines of older versions. */
static bool parse_duration(const json_t *j, int64_t *out)
{
    *out = json_integer_value(j);
    return !j || (json_is_integer(j) && *out >= 0);
}

static bool parse_text(const json_t *j, const char **out)
{
    *out = j ? json_string_value(j) : "";
    return *out && strlen(*out) < JOURNAL_TEXT_BYTES;
}

static bool parse_answer(const json_t *root, journal_line *out)
{
    const json_t *numbers = json_object_get(root, "configurations");
    const json_t *figures = json_object_get(root, "figures");
    journal_entry *e = &out->entry;
    e->configuration_count = json_array_size(numbers);
    e->figure_count = json_array_size(figures);
    if (!*e->asked)
        return !numbers && !figures;
    if (!json_is_array(numbers) || !json_is_array(figures) ||
        e->configuration_count > JOURNAL_MAX_SAMPLES || e->figure_count > JOURNAL_MAX_FIGURES)
        return false;
    out->configurations = memory_new(e->configuration_count, sizeof *out->configurations);
    out->figures = memory_new(e->figure_count, sizeof *out->figures);
    e->configurations = out->configurations;
    e->figures = out->figures;
    for (size_t i = 0; i < e->configuration_count; i++) {
        const json_t *j = json_array_get(numbers, i);
        if (!json_is_integer(j) || json_integer_value(j) < 0)
            return false;
        out->configurations[i] = (uint64_t)json_integer_value(j);
    }
    for (size_t i = 0; i < e->figure_count; i++) {
        const json_t *j = json_array_get(figures, i);
        out->figures[i] = json_number_value(j);
        if (!json_is_number(j) || !isfinite(out->figures[i]))
            return false;
    }
    return true;
}

static bool parse_code(const json_t *j, journal_entry *e)
{
    e->has_code = j != NULL;
    return !j || parse_hex(j, e->code.bytes, sizeof e->code.bytes);
}

static bool parse_entry(const json_t *root, journal_line *out)
{
    const char *name = json_string_value(json_object_get(root, "outcome"));
    journal_entry *e = &out->entry;
    return parse_hex(json_object_get(root, "facts"), out->facts.bytes, sizeof out->facts.bytes) &&
           parse_hex(json_object_get(root, "key"), out->key.bytes, sizeof out->key.bytes) && name &&
           outcome_find(name, &e->found.outcome) &&
           parse_text(json_object_get(root, "configuration"), &e->configuration) &&
           parse_text(json_object_get(root, "message"), &e->found.message) &&
           parse_text(json_object_get(root, "stage"), &e->stage) &&
           parse_text(json_object_get(root, "gpu"), &e->uuid) &&
           parse_code(json_object_get(root, "code"), e) &&
           parse_text(json_object_get(root, "asked"), &e->asked) && parse_answer(root, out) &&
           parse_samples(json_object_get(root, "samples_ns"), out) &&
           parse_duration(json_object_get(root, "compile_ns"), &e->found.compile_ns) &&
           parse_duration(json_object_get(root, "check_ns"), &e->found.check_ns) &&
           parse_resources(json_object_get(root, "resources"), e);
}

bool journal_line_glance(const char *text, size_t size_bytes, uint64_t *run, journal_key *facts)
{
    static const char before_run[] = "{\"run\":\"", before_facts[] = "\",\"facts\":\"";
    enum {
        RUN = sizeof before_run - 1,
        RUN_END = RUN + 16,
        FACTS = RUN_END + sizeof before_facts - 1,
        FACTS_END = FACTS + 2 * sizeof facts->bytes
    };
    unsigned char number[8];
    if (size_bytes <= FACTS_END || memcmp(text, before_run, RUN) != 0 ||
        memcmp(text + RUN_END, before_facts, FACTS - RUN_END) != 0 ||
        !check_passes(text, size_bytes) || !read_hex(text + RUN, number, sizeof number) ||
        !read_hex(text + FACTS, facts->bytes, sizeof facts->bytes))
        return false;
    *run = number_of(number);
    return true;
}

bool journal_line_parse(const char *text, size_t size_bytes, journal_line *out)
{
    *out = (journal_line){0};
    if (!check_passes(text, size_bytes))
        return false;
    json_t *root = json_loadb(text, size_bytes, JSON_REJECT_DUPLICATES, NULL);
    out->root = root;
    const json_t *finished = json_object_get(root, "finished");
    bool good = parse_u64(json_object_get(root, "run"), &out->run) &&
                (finished ? parse_finish(finished, out) : parse_entry(root, out));
    if (!good)
        journal_line_deinit(out);
    return good;
}

void journal_line_deinit(journal_line *line)
{
    free(line->finished);
    free(line->samples_ns);
    free(line->configurations);
    free(line->figures);
    json_decref(line->root);
    *line = (journal_line){0};
}
