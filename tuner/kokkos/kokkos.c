/* libautotune_kokkos.so: tunes the output variables that a Kokkos program requests. Each set of
 * output variables is a tuning site; each combination of input values is a problem. The value that
 * Kokkos passes in is the site's default. */
#include "kokkos/interface.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "autotune.h"

enum {
    MOST_VARIABLES = 4096, /* variables, which Kokkos numbers from 0 */
    MOST_VALUES = 64,      /* values of an output; from a larger set, every n-th value is taken */
    FEW_STEPS = 8,         /* of a range with fewer steps, all values are tried */
    WITHIN = 5,            /* number of points that are tried inside a longer range */
    MOST_OUTPUTS = 16,
    MOST_INPUTS = 60,
    MOST_OPEN = 64, /* contexts open at a time */
    NAME_BYTES = 64
};

typedef struct variable {
    bool is_output;
    char name[NAME_BYTES]; /* an identifier */
    kokkos_type type;
    size_t count; /* number of values; 0 for an input or an output that cannot be tuned */
    int64_t integers[MOST_VALUES];
    double numbers[MOST_VALUES];
    kokkos_text texts[MOST_VALUES];
} variable;

/* An open context whose program requested values. Nested contexts have different numbers. */
typedef struct open_context {
    size_t number;
    at_site *site;
    at_values values;
} open_context;

/* The state of the tool. It is global, because Kokkos' interface passes no handle. */
static struct {
    pthread_mutex_t lock; /* guards the rest */
    at_sites *sites;
    bool failed; /* the sites could not be opened: Kokkos' defaults are used */
    variable *variables[MOST_VARIABLES];
    open_context open[MOST_OPEN];
    size_t open_count;
} tool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Makes an identifier from the letters and digits of `given`. A long name loses its beginning. */
static void name_of(const char *given, char out[NAME_BYTES])
{
    size_t length = strlen(given), used = 0;
    const char *from = length > NAME_BYTES - 4 ? given + length - (NAME_BYTES - 4) : given;
    out[used++] = 'k';
    out[used++] = '_';
    for (; *from; from++) {
        char c = *from;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        out[used++] = '_';
        if (plain)
            out[used - 1] = c;
    }
    out[used] = '\0';
}

static void copy_text(const char *from, kokkos_text to)
{
    snprintf(to, KOKKOS_TEXT_BYTES, "%.63s", from);
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
}

static void add_set(variable *v, const kokkos_set *set)
{
    /* Takes every `step`-th value if there are too many. */
    size_t step = (set->size + MOST_VALUES - 2) / (MOST_VALUES - 1);
    for (size_t i = 0; i < set->size && step; i += step) {
        if (v->type == KOKKOS_INT64)
            v->integers[v->count] = set->integers[i];
        else if (v->type == KOKKOS_DOUBLE)
            v->numbers[v->count] = set->numbers[i];
        else
            copy_text(set->texts[i], v->texts[v->count]);
        v->count++;
    }
}

/* Adds the values of a range: every step if there are few steps, otherwise points between the ends.
 * The ends of Kokkos' ranges, such as the smallest tile, may be a thousand times slower. */
static void add_range(variable *v, const kokkos_range *r)
{
    bool whole = v->type == KOKKOS_INT64;
    double lower = whole ? (double)r->lower.integer : r->lower.number;
    double upper = whole ? (double)r->upper.integer : r->upper.number;
    double step = whole ? (double)r->step.integer : r->step.number;
    if (!(upper > lower) || v->type == KOKKOS_STRING)
        return;
    bool few = step > 0 && (upper - lower) / step < FEW_STEPS;
    double places = few ? (upper - lower) / step : WITHIN + 1;
    step = few ? step : (upper - lower) / places;
    for (int i = few ? 0 : 1; i <= (few ? (int)(places + 1e-6) : WITHIN); i++) {
        double value = lower + i * step;
        if (few && ((r->open_lower && i == 0) || (r->open_upper && value >= upper - step * 1e-6)))
            continue;
        v->integers[v->count] = (int64_t)value;
        v->numbers[v->count] = value;
        v->count++;
    }
}

static void declare(const char *name, size_t id, const kokkos_info *info, bool is_output)
{
    variable *v = id < MOST_VARIABLES && name && info ? calloc(1, sizeof *v) : NULL;
    if (!v)
        return;
    v->is_output = is_output;
    v->type = info->type;
    name_of(name, v->name);
    if (is_output && info->kind == KOKKOS_SET)
        add_set(v, &info->set);
    else if (is_output && info->kind == KOKKOS_RANGE)
        add_range(v, &info->range);
    pthread_mutex_lock(&tool.lock);
    free(tool.variables[id]);
    tool.variables[id] = v;
    pthread_mutex_unlock(&tool.lock);
}

void kokkosp_declare_output_type(const char *name, size_t id, kokkos_info *info)
{
    declare(name, id, info, true);
}

void kokkosp_declare_input_type(const char *name, size_t id, kokkos_info *info)
{
    declare(name, id, info, false);
}

/* Writes the program's version: the size and modification time of its file. */
static void version_of_program(char *out, size_t out_bytes)
{
    struct stat s;
    out[0] = '\0';
    if (stat("/proc/self/exe", &s) == 0)
        snprintf(out, out_bytes, "%lld bytes of %lld.%09ld", (long long)s.st_size,
                 (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

/* Opens the sites once. They use the host's clock if Kokkos does not use the CUDA driver. */
static bool open_sites(void)
{
    char code[128];
    at_error error;
    at_sites_options options = {.code = code, .folder = getenv("AUTOTUNE_KOKKOS_STORE")};
    if (tool.sites || tool.failed)
        return tool.sites != NULL;
    version_of_program(code, sizeof code);
    at_status status = at_sites_open(&options, &tool.sites, &error);
    if (status == AT_NO_DEVICE) {
        options.clock = AT_SITE_CLOCK_HOST;
        status = at_sites_open(&options, &tool.sites, &error);
    }
    if (status)
        fprintf(stderr, "autotune: %s; Kokkos' defaults are used\n", error.message);
    tool.failed = status != AT_OK;
    return !tool.failed;
}

static const variable *variable_of(const kokkos_variable *v)
{
    return v->id < MOST_VARIABLES ? tool.variables[v->id] : NULL;
}

/* The parameters of a site during one call. The first value of a parameter is Kokkos' default. If
 * the default is not among the values (Kokkos passes 0 if there is none), the middle value is
 * first. */
typedef struct lists {
    at_parameter parameters[MOST_OUTPUTS];
    int64_t integers[MOST_OUTPUTS][MOST_VALUES];
    double numbers[MOST_OUTPUTS][MOST_VALUES];
    const char *texts[MOST_OUTPUTS][MOST_VALUES];
} lists;

static bool is_default(const variable *v, size_t i, const kokkos_variable *given,
                       const kokkos_text text)
{
    return v->type == KOKKOS_INT64    ? v->integers[i] == given->value.integer
           : v->type == KOKKOS_DOUBLE ? v->numbers[i] == given->value.number
                                      : strcmp(v->texts[i], text) == 0;
}

static void list_values(lists *l, size_t at, const variable *v, const kokkos_variable *given)
{
    at_parameter *p = &l->parameters[at];
    *p = (at_parameter){.name = v->name,
                        .kind = v->type == KOKKOS_INT64    ? AT_KIND_INTEGER
                                : v->type == KOKKOS_DOUBLE ? AT_KIND_NUMBER
                                                           : AT_KIND_TEXT,
                        .count = 1,
                        .integers = l->integers[at],
                        .numbers = l->numbers[at],
                        .texts = l->texts[at]};
    kokkos_text asked = "";
    size_t first = 0;
    if (v->type == KOKKOS_STRING)
        copy_text(given->value.text, asked);
    while (first < v->count && !is_default(v, first, given, asked))
        first++;
    first = first < v->count ? first : v->count / 2;
    l->integers[at][0] = v->integers[first];
    l->numbers[at][0] = v->numbers[first];
    l->texts[at][0] = v->texts[first];
    for (size_t i = 0; i < v->count; i++) {
        if (i == first)
            continue;
        l->integers[at][p->count] = v->integers[i];
        l->numbers[at][p->count] = v->numbers[i];
        l->texts[at][p->count] = v->texts[i];
        p->count++;
    }
}

/* Writes "kokkos_", as much of the outputs' names as fits, and a checksum of the names. */
static void name_site(const at_parameter *parameters, size_t count, char out[NAME_BYTES])
{
    uint32_t sum = 2166136261u;
    size_t used = (size_t)snprintf(out, NAME_BYTES, "kokkos");
    for (size_t i = 0; i < count; i++) {
        const char *name = parameters[i].name + 1; /* without the k of "k_" */
        for (const char *c = name; *c; c++)
            sum = (sum ^ (uint32_t)(unsigned char)*c) * 16777619u;
        size_t room = NAME_BYTES - 10 - used;
        used += (size_t)snprintf(out + used, room + 1, "%.*s", (int)room, name);
        used = used > NAME_BYTES - 10 ? NAME_BYTES - 10 : used;
    }
    snprintf(out + used, NAME_BYTES - used, "_%08x", (unsigned)sum);
}

static at_status open_site(size_t input_count, const kokkos_variable *inputs, size_t output_count,
                           const kokkos_variable *outputs, at_site **out, at_error *error)
{
    lists l;
    at_variable variables[MOST_INPUTS];
    kokkos_text texts[MOST_INPUTS];
    char name[NAME_BYTES];
    size_t known = 0;
    for (size_t i = 0; i < output_count; i++)
        list_values(&l, i, variable_of(&outputs[i]), &outputs[i]);
    for (size_t i = 0; i < input_count && known < MOST_INPUTS; i++) {
        const variable *v = variable_of(&inputs[i]);
        if (!v)
            continue;
        copy_text(v->type == KOKKOS_STRING ? inputs[i].value.text : "", texts[known]);
        variables[known] = v->type == KOKKOS_INT64    ? at_integer(v->name, inputs[i].value.integer)
                           : v->type == KOKKOS_DOUBLE ? at_number(v->name, inputs[i].value.number)
                                                      : at_text(v->name, texts[known]);
        known++;
    }
    name_site(l.parameters, output_count, name);
    return at_site_open(tool.sites, name, variables, known, l.parameters, output_count, out, error);
}

static bool can_be_tuned(size_t output_count, const kokkos_variable *outputs)
{
    bool can = output_count > 0 && output_count <= MOST_OUTPUTS && tool.open_count < MOST_OPEN;
    for (size_t i = 0; i < output_count && can; i++) {
        const variable *v = variable_of(&outputs[i]);
        can = v && v->is_output && v->count > 0;
    }
    return can;
}

static void choose(size_t context, at_site *site, kokkos_variable *outputs, at_error *error)
{
    open_context *o = &tool.open[tool.open_count];
    *o = (open_context){.number = context, .site = site};
    if (at_site_begin(site, NULL, &o->values, error))
        return;
    tool.open_count++;
    for (size_t i = 0; i < o->values.count; i++) {
        const at_variable *v = &o->values.items[i];
        if (v->kind == AT_KIND_INTEGER)
            outputs[i].value.integer = v->integer;
        else if (v->kind == AT_KIND_NUMBER)
            outputs[i].value.number = v->number;
        else
            copy_text(v->text, outputs[i].value.text);
    }
}

void kokkosp_request_values(size_t context, size_t input_count, const kokkos_variable *inputs,
                            size_t output_count, kokkos_variable *outputs)
{
    at_site *site;
    at_error error;
    pthread_mutex_lock(&tool.lock);
    if (can_be_tuned(output_count, outputs) && open_sites() &&
        open_site(input_count, inputs, output_count, outputs, &site, &error) == AT_OK)
        choose(context, site, outputs, &error);
    pthread_mutex_unlock(&tool.lock);
}

void kokkosp_end_context(size_t context, kokkos_variable goal)
{
    at_error error;
    (void)goal;
    pthread_mutex_lock(&tool.lock);
    for (size_t i = tool.open_count; i-- > 0;)
        if (tool.open[i].number == context) {
            at_site_end(tool.open[i].site, NULL, &tool.open[i].values, &error);
            tool.open[i] = tool.open[--tool.open_count];
        }
    pthread_mutex_unlock(&tool.lock);
}

void kokkosp_finalize_library(void)
{
    pthread_mutex_lock(&tool.lock);
    for (size_t i = 0; at_sites_problem(tool.sites, i); i++)
        fprintf(stderr, "autotune: %s\n", at_sites_problem(tool.sites, i));
    at_sites_close(tool.sites);
    tool.sites = NULL;
    tool.failed = true;
    tool.open_count = 0;
    for (size_t i = 0; i < MOST_VARIABLES; i++) {
        free(tool.variables[i]);
        tool.variables[i] = NULL;
    }
    pthread_mutex_unlock(&tool.lock);
}
