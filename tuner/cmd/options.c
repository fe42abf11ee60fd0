#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

typedef at_status (*option_reader)(const char *text, options *out, at_error *error);

typedef struct option_info {
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *help;
    option_reader read;
} option_info;

static at_status read_count(const char *name, const char *text, uint64_t most, uint64_t *out,
                            at_error *error)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno || v > most)
        return error_set(error, AT_USAGE, "--%s takes a whole number from 0 to %llu, not '%s'",
                         name, (unsigned long long)most, text);
    *out = v;
    return AT_OK;
}

/* Cuts NAME=VALUE apart in place: the text is argv's, which belongs to the program. */
static at_status read_assignment(const char *option, const char *text, script_setting *list,
                                 size_t *count, at_error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return error_set(error, AT_USAGE, "--%s takes NAME=VALUE, not '%s'", option, text);
    if (*count == OPTIONS_MAX_REPEATS)
        return error_set(error, AT_USAGE, "--%s may be given %d times at most", option,
                         OPTIONS_MAX_REPEATS);
    char *cut = (char *)(uintptr_t)equals;
    *cut = '\0';
    list[(*count)++] = (script_setting){.name = text, .text = equals + 1};
    return AT_OK;
}

static at_status read_set(const char *text, options *out, at_error *error)
{
    return read_assignment("set", text, out->settings, &out->setting_count, error);
}

static at_status read_over(const char *text, options *out, at_error *error)
{
    return read_assignment("over", text, out->sweeps, &out->sweep_count, error);
}

static at_status read_config(const char *text, options *out, at_error *error)
{
    (void)error;
    out->configuration = text;
    return AT_OK;
}

static at_status read_device(const char *text, options *out, at_error *error)
{
    (void)error;
    out->device = text;
    return AT_OK;
}

static at_status read_arch(const char *text, options *out, at_error *error)
{
    (void)error;
    out->arch = text;
    return AT_OK;
}

static at_status read_strategy(const char *text, options *out, at_error *error)
{
    (void)error;
    out->strategy = text;
    return AT_OK;
}

static at_status read_budget(const char *text, options *out, at_error *error)
{
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    bool seconds = end != text && strcmp(end, "s") == 0;
    bool whole = end != text && *end == '\0' && v == floor(v);
    if (!isdigit((unsigned char)text[0]) || errno || !isfinite(v) || v <= 0 || v > 1e15 ||
        (!seconds && !whole))
        return error_set(error, AT_USAGE,
                         "--budget takes a number of variants (200) or seconds (30s), not '%s'",
                         text);
    if (seconds)
        out->budget.seconds = v;
    else
        out->budget.evaluations = (uint64_t)v;
    return AT_OK;
}

static at_status read_effort(const char *text, options *out, at_error *error)
{
    return effort_find(text, &out->effort, error);
}

static at_status read_stop_at(const char *text, options *out, at_error *error)
{
    char *end;
    double v = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || !(v > 0 && v <= 10))
        return error_set(error, AT_USAGE,
                         "--stop-at takes a share of the ceiling, such as 0.95, not '%s'", text);
    out->stop_at = v;
    return AT_OK;
}

static at_status read_warm_start(const char *text, options *out, at_error *error)
{
    (void)error;
    out->warm_start = text;
    return AT_OK;
}

static at_status read_seed(const char *text, options *out, at_error *error)
{
    return read_count("seed", text, UINT64_MAX, &out->seed, error);
}

static at_status read_repeat(const char *text, options *out, at_error *error)
{
    uint64_t v = 0;
    at_status status = read_count("repeat", text, 1000000, &v, error);
    if (!status)
        out->repeat = (size_t)v;
    return status;
}

static at_status read_fixed(const char *text, options *out, at_error *error)
{
    uint64_t v = 0;
    at_status status = read_count("fixed", text, 256, &v, error);
    if (!status && !v)
        status = error_set(error, AT_USAGE, "--fixed takes 1 to 256 samples");
    if (!status)
        out->fixed_samples = (size_t)v;
    return status;
}

static at_status read_finals(const char *text, options *out, at_error *error)
{
    uint64_t v = 0;
    at_status status = read_count("finals", text, 10000, &v, error);
    if (!status && v < 6)
        status = error_set(error, AT_USAGE, "--finals takes 6 to 10000 blocks: below 6 there is no "
                                            "interval of a median");
    if (!status)
        out->finals_blocks = (size_t)v;
    return status;
}

static at_status read_tie(const char *text, options *out, at_error *error)
{
    char *end;
    double v = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || !(v >= 0 && v <= 50))
        return error_set(error, AT_USAGE, "--tie takes 0 to 50 percent, not '%s'", text);
    out->tie_margin = v / 100;
    return AT_OK;
}

static at_status read_objective(const char *text, options *out, at_error *error)
{
    out->energy = strcmp(text, "energy") == 0;
    if (!out->energy && strcmp(text, "time") != 0)
        return error_set(error, AT_USAGE, "--objective takes time or energy, not '%s'", text);
    return AT_OK;
}

static at_status read_jobs(const char *text, options *out, at_error *error)
{
    uint64_t v = 0;
    at_status status = read_count("jobs", text, 1024, &v, error);
    if (!status)
        out->jobs = (int)v;
    return status;
}

static at_status read_cache(const char *text, options *out, at_error *error)
{
    out->warm = strcmp(text, "warm") == 0;
    if (!out->warm && strcmp(text, "cold") != 0)
        return error_set(error, AT_USAGE, "--cache takes cold or warm, not '%s'", text);
    return AT_OK;
}

static at_status read_no_cache(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->use_cache = false;
    return AT_OK;
}

static at_status read_results(const char *text, options *out, at_error *error)
{
    (void)error;
    out->results_dir = text;
    return AT_OK;
}

static at_status read_record(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->record = true;
    return AT_OK;
}

static at_status read_no_record(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->record = false;
    return AT_OK;
}

static at_status read_top(const char *text, options *out, at_error *error)
{
    uint64_t v = 0;
    at_status status = read_count("top", text, 1000000, &v, error);
    if (!status)
        out->top = (size_t)v;
    return status;
}

static at_status read_list(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->list = true;
    return AT_OK;
}

static at_status read_json(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->json = true;
    return AT_OK;
}

static at_status read_quiet(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->quiet = true;
    return AT_OK;
}

static at_status read_plain(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->plain = true;
    return AT_OK;
}

static at_status read_ptx(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->ptx = true;
    return AT_OK;
}

static at_status read_format(const char *text, options *out, at_error *error)
{
    (void)error;
    out->format = text;
    return AT_OK;
}

static at_status read_output(const char *text, options *out, at_error *error)
{
    (void)error;
    out->output = text;
    return AT_OK;
}

static at_status read_help(const char *text, options *out, at_error *error)
{
    (void)text;
    (void)error;
    out->help = true;
    return AT_OK;
}

static const option_info table[OPTION_COUNT] = {
    [OPTION_SET] = {"set", "NAME=VALUE", "override a problem variable of the script; repeatable",
                    read_set},
    [OPTION_CONFIG] = {"config", "NAME=VALUE,...",
                       "the configuration; what is not named has the script's default", read_config},
    [OPTION_OVER] = {"over", "NAME=V1,V2,...",
                     "sweep a parameter; V1,V2,...,VN continues the series; repeatable", read_over},
    [OPTION_DEVICE] = {"device", "NAME", "cuda:N; 'autotune devices' lists them", read_device},
    [OPTION_ARCH] = {"arch", "sm_XX", "compile for this architecture; needs no GPU", read_arch},
    [OPTION_STRATEGY] = {"strategy", "NAME", "how to search (see below)", read_strategy},
    [OPTION_BUDGET] = {"budget", "N|Ns", "stop after N variants or N seconds", read_budget},
    [OPTION_EFFORT] = {"effort", "NAME",
                       "quick, normal, thorough or exhaustive, for who wants no numbers; a record "
                       "of as much effort is taken as final",
                       read_effort},
    [OPTION_STOP_AT] = {"stop-at", "FRACTION",
                        "stop searching at this share of the measured ceiling", read_stop_at},
    [OPTION_WARM_START] = {"warm-start", "FILE",
                           "try first what was fast in a Kernel Tuner cache, T4 file or journal",
                           read_warm_start},
    [OPTION_SEED] = {"seed", "N", "seed of every random choice (default 1)", read_seed},
    [OPTION_REPEAT] = {"repeat", "N", "runs, each with the next seed (default 100)", read_repeat},
    [OPTION_FIXED] = {"fixed", "N",
                      "no race: N samples of each variant, the lowest median wins", read_fixed},
    [OPTION_FINALS] = {"finals", "N", "blocks of the finals (default 40)", read_finals},
    [OPTION_TIE] = {"tie", "PERCENT", "what differs by less is tied (default 0.5)", read_tie},
    [OPTION_OBJECTIVE] = {"objective", "time|energy",
                          "what the finalists of the race are ranked by (default time)",
                          read_objective},
    [OPTION_JOBS] = {"jobs", "N", "compile workers (default: one a core)", read_jobs},
    [OPTION_CACHE] = {"cache", "cold|warm",
                      "flush the L2 cache before each sample, or not (default cold)", read_cache},
    [OPTION_NO_CACHE] = {"no-cache", NULL, "compile everything anew", read_no_cache},
    [OPTION_RESULTS] = {"results", "DIR", "folder of the records (default: results)", read_results},
    [OPTION_RECORD] = {"record", NULL, "write a record (what a run on a GPU does anyway)",
                       read_record},
    [OPTION_NO_RECORD] = {"no-record", NULL, "measure, but write no record", read_no_record},
    [OPTION_TOP] = {"top", "N", "rows of the final table (default 10)", read_top},
    [OPTION_LIST] = {"list", NULL, "print every valid configuration, one a line", read_list},
    [OPTION_JSON] = {"json", NULL, "print one JSON object instead of a table", read_json},
    [OPTION_QUIET] = {"quiet", NULL, "no progress on stderr", read_quiet},
    [OPTION_PLAIN] = {"no-line", NULL, "leave out the #line directives", read_plain},
    [OPTION_PTX] = {"ptx", NULL, "print PTX instead of CUDA source (needs NVRTC)", read_ptx},
    [OPTION_FORMAT] = {"format", "NAME", "what to write: header; kernel-tuner or t4 (convert)", read_format},
    [OPTION_OUTPUT] = {"output", "FILE", "write there instead of stdout", read_output},
    [OPTION_HELP] = {"help", NULL, "print this and leave", read_help},
};

static bool command_takes(const command *c, option_id id)
{
    if (id == OPTION_HELP)
        return true;
    for (size_t i = 0; i < c->option_count; i++)
        if (c->options[i] == id)
            return true;
    return false;
}

/* getopt_long wants an array of its own; `val` is the id + 1, so that it is never 0. */
static size_t getopt_table(const command *c, struct option *longs)
{
    size_t n = 0;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (command_takes(c, (option_id)id))
            longs[n++] = (struct option){.name = table[id].name,
                                         .has_arg = table[id].argument ? required_argument
                                                                       : no_argument,
                                         .val = id + 1};
    longs[n] = (struct option){0};
    return n;
}

static at_status unknown_option(const command *c, const char *word, at_error *error)
{
    const char *names[OPTION_COUNT];
    size_t n = 0;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (command_takes(c, (option_id)id))
            names[n++] = table[id].name;
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = nearest_name(typed, names, n);
    if (nearest)
        return error_set(error, AT_USAGE, "unknown option '%s'; did you mean --%s?", word, nearest);
    return error_set(error, AT_USAGE, "unknown option '%s'; 'autotune %s --help' lists them", word,
                     c->name);
}

at_status options_parse(int argc, char **argv, const command *c, options *out, at_error *error)
{
    *out = (options){.seed = 1, .use_cache = true, .record = true, .top = 10,
                     .results_dir = "results", .tie_margin = -1};
    struct option longs[OPTION_COUNT + 1];
    getopt_table(c, longs);
    opterr = 0;
    optind = 0; /* glibc: start over, also after an earlier parse */
    for (;;) {
        int at = optind ? optind : 1;
        int choice = getopt_long(argc, argv, ":o:h", longs, NULL);
        if (choice == -1)
            break;
        if (choice == 'h' || choice == 'o')
            choice = (choice == 'h' ? OPTION_HELP : OPTION_OUTPUT) + 1;
        if (choice == ':')
            return error_set(error, AT_USAGE, "%s needs a value", argv[optind - 1]);
        if (choice == '?') {
            const char *word = argv[at] && strncmp(argv[at], "--", 2) == 0 ? argv[at] : NULL;
            for (int i = at; !word && i < optind; i++)
                if (strncmp(argv[i], "--", 2) == 0)
                    word = argv[i];
            if (!word)
                return error_set(error, AT_USAGE,
                                 "unknown option '-%c'; 'autotune %s --help' lists them", optopt,
                                 c->name);
            return unknown_option(c, word, error);
        }
        const option_info *info = &table[choice - 1];
        at_status status = info->read(optarg, out, error);
        if (status)
            return status;
        out->given[choice - 1] = true;
    }
    if (out->help)
        return AT_OK;
    if (optind < argc)
        out->operand = argv[optind++];
    if (out->operand && !c->operand)
        return error_set(error, AT_USAGE, "'autotune %s' takes no argument, but got '%s'", c->name,
                         out->operand);
    if (optind < argc)
        return error_set(error, AT_USAGE, "one %s at a time: '%s' is one too many", c->operand,
                         argv[optind]);
    if (c->operand && !out->operand)
        return error_set(error, AT_USAGE, "'autotune %s' needs a %s", c->name, c->operand);
    return AT_OK;
}

void options_print_help(const command *c, FILE *to)
{
    fprintf(to, "Usage: autotune %s%s%s [OPTION]...\n\n%s\n\nOptions:\n", c->name,
            c->operand ? " " : "", c->operand ? c->operand : "", c->summary);
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!command_takes(c, (option_id)id))
            continue;
        char left[64];
        snprintf(left, sizeof left, "--%s %s", table[id].name,
                 table[id].argument ? table[id].argument : "");
        fprintf(to, "  %-24s %s\n", left, table[id].help);
    }
    if (c->details)
        fprintf(to, "\n%s", c->details);
}
