#include "cmd/line/options.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "search/strategy.h"

/* The type of an option's value, and of its member in `options`. */
typedef enum cell_type {
    CELL_TRUE,
    CELL_FALSE,  /* bool; takes no value */
    CELL_TEXT,   /* const char *, borrowed */
    CELL_COUNT,  /* uint64_t, from `least` to `most` */
    CELL_SIZE,   /* size_t, from `least` to `most` */
    CELL_INT,    /* int, from `least` to `most` */
    CELL_NUMBER, /* double, from `least` to `most`; stored times `scale` */
    CELL_CHOICE, /* bool: false for the first word of `argument`, true for the second ("false|true")
                  */
    CELL_SET,
    CELL_ONLY,
    CELL_OVER,    /* these three: a script_setting from NAME=VALUE; repeatable */
    CELL_INCLUDE, /* a folder; repeatable */
    CELL_AFTER,   /* a script; repeatable */
    CELL_BUDGET,
    CELL_EFFORT
} cell_type;

typedef struct option_info {
    const char *name;
    const char *argument; /* NULL if the option takes none */
    const char *help;
    cell_type type;
    size_t offset; /* offset of the member in `options` */
    double least, most, scale;
    const char *takes; /* for CELL_NUMBER: the accepted values, for messages */
    const char *words; /* the accepted words, "a|b|c"; if NULL, words_of() gives them */
} option_info;

static const char details[] = {
#include "commands.txt.inc"
};

#define AT(member) offsetof(options, member)

/* The options, in the order of --help. */
static const option_info known[] = {
    {"set", "NAME=VALUE", "override a problem variable of the script; repeatable",
     .type = CELL_SET},
    {"describe", "FILE", "the fields of a kernel's file, which has no comment of its own then",
     .type = CELL_TEXT, AT(run.pattern.describe)},
    {"config", "NAME=VALUE,...",
     "the configuration: 'baseline' is the script's default, 'best' what the records give; "
     "parameters that are not named keep the default's value, or that of the nearest valid "
     "configuration",
     .type = CELL_TEXT, AT(configuration)},
    {"captured", "DIR[:N]", "a launch that 'autotune capture' took from a program",
     .type = CELL_TEXT, AT(run.pattern.captured)},
    {"only", "NAME=V1,V2,...", "narrow the space to these values of a parameter; repeatable",
     .type = CELL_ONLY},
    {"over", "NAME[=V1,V2,...]",
     "go over these values; V1,V2,...,VN continues the series; repeatable", .type = CELL_OVER},
    {"include", "DIR",
     "also -I DIR: look for the files that kernels include in this folder, too; repeatable",
     .type = CELL_INCLUDE},
    {"device", "NAME",
     "cuda:N, for tuning also cuda:0,2 or all; a simulated GPU: sim, sim:sm_XX or by its chip, "
     "sim:h100; 'autotune devices' lists them",
     .type = CELL_TEXT, AT(run.machine.device)},
    {"verify-on", "none|all", "race the winner on every other GPU of --device, too (default none)",
     .type = CELL_CHOICE, AT(run.race.verify_all)},
    {"arch", "sm_XX",
     "what to compile for, or to look up, where nothing runs; --device names what runs kernels",
     .type = CELL_TEXT, AT(run.machine.arch)},
    {"strategy", "NAME", "how to search (see below)", .type = CELL_TEXT, AT(run.search.strategy)},
    {"budget", "N|TIME",
     "stop after N variants, or a time (30s, 10m, 1h). Default: none; 40s on a simulated device",
     .type = CELL_BUDGET},
    {"effort", "NAME",
     "quick, normal, thorough or exhaustive, instead of numbers; a record made "
     "with as much effort is final. Default: end when no variant that is left is likely to win",
     .type = CELL_EFFORT, .words = "quick|normal|thorough|exhaustive"},
    {"stop-at", "FRACTION", "stop searching at this share of the pattern's ceiling",
     .type = CELL_NUMBER, AT(run.search.stop_at), DBL_MIN, 2, 1,
     "a share of the ceiling up to 2, such as 0.95"},
    {"warm-start", "FILE",
     "try first what was fast in a Kernel Tuner cache, T4 file, wisdom or journal",
     .type = CELL_TEXT, AT(run.search.warm_start)},
    {"seed", "N", "seed of every random choice (default 1)", .type = CELL_COUNT,
     AT(run.search.seed), 0, 0x1p64},
    {"repeat", "N", "runs, each with the next seed (default 100)", .type = CELL_COUNT, AT(repeat),
     0, 1e6},
    {"fixed", "N", "no race: N samples of each variant, the lowest median wins", .type = CELL_SIZE,
     AT(run.race.fixed_samples), 1, 256},
    /* The interval of a median needs at least 6 blocks. */
    {"finals", "N", "blocks of the finals (default 40)", .type = CELL_SIZE,
     AT(run.race.finals_blocks), 6, 10000},
    {"tie", "PERCENT", "smaller differences count as a tie (default 0.5)", .type = CELL_NUMBER,
     AT(run.race.tie_margin), 0, 50, 0.01, "0 to 50 percent"},
    {"objective", "time|energy", "what the finalists of the race are ranked by (default time)",
     .type = CELL_CHOICE, AT(run.race.energy)},
    {"energy", NULL, "read the winner's energy a launch as well, which takes about a second",
     .type = CELL_TRUE, AT(run.race.read_energy)},
    {"prove", "finalists|all",
     "which variants to run on a simulated GPU, as 'check' does (default finalists)",
     .type = CELL_CHOICE, AT(run.prove_all)},
    {"jobs", "N", "compile workers (default: one a core)", .type = CELL_INT, AT(run.machine.jobs),
     1, 1024},
    {"cache", "cold|warm", "flush the L2 cache before each sample, or not (default cold)",
     .type = CELL_CHOICE, AT(run.race.warm_cache)},
    {"after", "SCRIPT[@DIR[:N]]",
     "run this kernel before each sample, so that the L2 holds what the program has there; @: for "
     "the launch that 'autotune capture' took; repeatable",
     .type = CELL_AFTER},
    {"share", "FRACTION", "use at most this share of the GPU's time, beside other programs",
     .type = CELL_NUMBER, AT(run.machine.share), 0.001, 1, 1,
     "a share from 0.001 to 1, such as 0.1"},
    {"no-cache", NULL, "do not use the compile cache", .type = CELL_FALSE,
     AT(run.machine.use_cache)},
    {"gpu", "NAME", "a GPU of the results by its name, or sm_XX (default: this machine's)",
     .type = CELL_TEXT, AT(gpu)},
    {"best", NULL, "the configuration that 'autotune pick' gives, with its launch in a comment",
     .type = CELL_TRUE, AT(best)},
    {"results", "DIR",
     "folder of the records (default: results; to read also $AUTOTUNE_RESULTS and the installed "
     "ones)",
     .type = CELL_TEXT, AT(results)},
    {"record", NULL, "write a record (runs on a GPU do so anyway)", .type = CELL_TRUE,
     AT(run.results.must_record)},
    {"no-record", NULL, "measure, but write no record", .type = CELL_FALSE, AT(run.results.record)},
    {"top", "N", "rows of the final table (default 10)", .type = CELL_COUNT, AT(top), 0, 1e6},
    {"recorded", NULL, "show what the records hold, for every GPU; measures nothing",
     .type = CELL_TRUE, AT(recorded)},
    {"picture", "FILE", "draw a picture too, with gnuplot, into a .png or .svg", .type = CELL_TEXT,
     AT(picture)},
    {"list", NULL, "print every valid configuration, one a line", .type = CELL_TRUE, AT(list)},
    {"dry-run", NULL, "say what would be done, and do nothing", .type = CELL_TRUE, AT(dry_run)},
    {"stale", NULL, "prune entries of another script or template, or that its space lacks",
     .type = CELL_TRUE, AT(stale)},
    {"older-than", "AGE|DATE", "prune entries older than 90d, or than 2026-01-31",
     .type = CELL_TEXT, AT(older_than)},
    {"whole", NULL, "compile every point instead of bisecting", .type = CELL_TRUE, AT(whole)},
    {"fail-on", "WHAT", "end with exit code 6 if this happens (see below)", .type = CELL_TEXT,
     AT(fail_on)},
    {"race", NULL, "time both against each other now, on --device", .type = CELL_TRUE, AT(race)},
    {"problems", "N", "problems that the portfolio is made on (default 32)", .type = CELL_SIZE,
     AT(problems), 1, 256},
    {"held-out", "N", "other problems that it is tried on (default 8)", .type = CELL_SIZE,
     AT(held_out), 0, 256},
    {"max", "N", "configurations to keep, at most (default 8)", .type = CELL_SIZE, AT(max), 1, 16},
    {"kind", "NAME", "what to draw (see below)", .type = CELL_TEXT, AT(kind),
     .words = "rank|heatmap|sweep|convergence|roofline|spill|importance"},
    {"by", "NAME[,NAME]", "the parameters to draw by", .type = CELL_TEXT, AT(by)},
    {"shared-spills", NULL, "compile what spills again, spilling to shared memory (CUDA 13)",
     .type = CELL_TRUE, AT(shared_spills)},
    {"metrics", "NAME[,NAME]", "counters by Nsight Compute's names (see below)", .type = CELL_TEXT,
     AT(metrics)},
    {"json", NULL, "print one JSON object instead of a table", .type = CELL_TRUE, AT(json)},
    {"quiet", NULL, "no progress on stderr", .type = CELL_TRUE, AT(run.quiet)},
    {"no-line", NULL, "leave out the #line directives", .type = CELL_TRUE, AT(no_line)},
    {"ptx", NULL, "print PTX instead of CUDA source (needs NVRTC)", .type = CELL_TRUE, AT(ptx)},
    {"from", "FILE", "print the comment that FILE.cu needs to be tuned, with what can be inferred",
     .type = CELL_TEXT, AT(from)},
    {"write", NULL, "change the file, and do not only show the change", .type = CELL_TRUE,
     AT(write)},
    {"per-arch", NULL, "a value for each architecture that there are records of", .type = CELL_TRUE,
     AT(per_arch)},
    {"format", "NAME", "what to write (see below)", .type = CELL_TEXT, AT(format)},
    {"template", "FILE", "write what a template of one's own makes of the same data (see below)",
     .type = CELL_TEXT, AT(template_path)},
    {"output", "FILE", "write there instead of stdout, which '-' names, too", .type = CELL_TEXT,
     AT(output)},
    {"kernel", "NAME", "the kernel that is meant", .type = CELL_TEXT, AT(capture.kernel)},
    {"nth", "N", "which of their launches (default 1)", .type = CELL_COUNT, AT(capture.nth), 1,
     0x1p53},
    {"shapes", "N",
     "capture a launch of each grid and block, N of them at most (default: of all one)",
     .type = CELL_COUNT, AT(capture.shapes), 1, 16},
    {"limit", "BYTES", "capture no launch whose arguments point into more (default 2 GiB)",
     .type = CELL_COUNT, AT(capture.limit_bytes), 1, 0x1p53},
    {"time", NULL, "say what the launches took", .type = CELL_TRUE, AT(capture.timed)},
    {"help", NULL, "print this help", .type = CELL_TRUE, AT(help)},
};

enum { KNOWN = sizeof known / sizeof *known };

/* Help of options that mean something else in one command. */
static const struct {
    const char *command, *option, *help;
} particular[] = {
    {"check", "whole", "run all of the tuned problem, whatever it costs"},
    {"check", "device", "the simulated GPU that proves: sim, sim:sm_XX or by its chip, sim:h100"},
    {"explain", "device", "the simulated GPU that counts: sim, sim:sm_XX or by its chip, sim:h100"},
    {"check", "budget",
     "check N variants of the space, drawn at random, or as many as a time allows (30s, 10m, 1h)"},
    {"replay", "budget", "end each search after N variants"},
    {"portfolio", "budget",
     "end the searches of all problems together after N variants, or a time (30s, 10m, 1h)"},
    {"sweep", "budget", "end the search of each point after N variants, or a time (30s, 10m, 1h)"},
    {"mix", "budget", "end the search of each launch after N variants, or a time (30s, 10m, 1h)"},
    {"results", "set", "only entries whose problem has this value; repeatable"},
    {"verify", "set", "only entries whose problem has this value; repeatable"},
    {"results", "gpu", "only entries of this GPU"},
    {"export", "output",
     "write there instead of stdout, which '-' names, too; several files need a folder, DIR/"},
    {"export", "over",
     "with --format cuda: make kernels for these values of a variable, too; repeatable"},
    {"portfolio", "over", "the range of a variable, LO..HI, or its values, V1,V2; repeatable"},
    {"capture", "output", "the folder for what is captured; it must be new or empty"},
    {"capture", "kernel", "capture a launch of the kernel whose name has this part"},
    {"new", "kernel", "which kernel is meant, where the file has several"},
};

static at_status read_count(const option_info *info, const char *text, uint64_t *out,
                            at_error *error)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    uint64_t most = info->most < 0x1p64 ? (uint64_t)info->most : UINT64_MAX;
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno || (double)v < info->least ||
        v > most)
        return error_set(error, AT_USAGE, "--%s takes a whole number from %.0f to %llu, not '%s'",
                         info->name, info->least, (unsigned long long)most, text);
    *out = v;
    return AT_OK;
}

static at_status read_number(const option_info *info, const char *text, double *out,
                             at_error *error)
{
    char *end;
    double v = strtod(text, &end);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || !(v >= info->least && v <= info->most))
        return error_set(error, AT_USAGE, "--%s takes %s, not '%s'", info->name, info->takes, text);
    *out = v * info->scale;
    return AT_OK;
}

bool options_are_words(const char *argument)
{
    return argument &&
           argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|")] == '\0' &&
           strchr(argument, '|');
}

/* Returns the accepted words; NULL if the option takes any text or its reader checks it. */
static const char *words_of(const command *c, const option_info *info)
{
    if (c->chooses && strcmp(c->chooses, info->name) == 0)
        return c->words;
    return info->words ? info->words : options_are_words(info->argument) ? info->argument : NULL;
}

static at_status check_word(const char *option, const char *words, const char *text,
                            at_error *error)
{
    enum { MOST_WORDS = 16 };
    char list[OPTION_WORDS_BYTES], told[2 * OPTION_WORDS_BYTES] = "", *rest = list;
    const char *names[MOST_WORDS];
    size_t count = 0;
    snprintf(list, sizeof list, "%s", words);
    for (char *word; count < MOST_WORDS && (word = strsep(&rest, "|")) != NULL;) {
        if (strcmp(word, text) == 0)
            return AT_OK;
        names[count++] = word;
        text_add(told, sizeof told, "%s%s", count == 1 ? "" : rest ? ", " : " or ", word);
    }
    const char *nearest = nearest_name(text, names, count);
    return error_set(error, AT_USAGE, "--%s takes %s, not '%s'%s%s%s", option, told, text,
                     nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* Splits NAME=VALUE in place, which C allows in argv. */
static at_status read_assignment(const option_info *info, const char *text, script_setting *list,
                                 size_t *count, at_error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals && info->type == CELL_OVER && *text && *count < OPTIONS_MAX_REPEATS) {
        list[(*count)++] = (script_setting){.name = text};
        return AT_OK;
    }
    if (!equals || equals == text)
        return error_set(error, AT_USAGE, "--%s takes %s, not '%s'", info->name, info->argument,
                         text);
    if (*count == OPTIONS_MAX_REPEATS)
        return error_set(error, AT_USAGE, "--%s may be given %d times at most", info->name,
                         OPTIONS_MAX_REPEATS);
    char *cut = (char *)(uintptr_t)equals;
    *cut = '\0';
    list[(*count)++] = (script_setting){.name = text, .text = equals + 1};
    return AT_OK;
}

static at_status read_budget(const char *text, settings *out, at_error *error)
{
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}};
    bool seconds = false;
    for (size_t i = 0; i < sizeof units / sizeof *units && !seconds; i++)
        if (end != text && strcmp(end, units[i].name) == 0) {
            seconds = true;
            v *= units[i].seconds;
        }
    bool whole = end != text && *end == '\0' && v == floor(v);
    if (!isdigit((unsigned char)text[0]) || errno || !isfinite(v) || v <= 0 || v > 1e15 ||
        (!seconds && !whole))
        return error_set(
            error, AT_USAGE,
            "--budget takes a number of variants (200) or a time (30s, 10m, 1h), not '%s'", text);
    if (seconds)
        out->search.budget_s = v;
    else
        out->search.budget_evaluations = (uint64_t)v;
    return AT_OK;
}

static at_status read_include(const char *text, settings *out, at_error *error)
{
    struct stat s;
    if (stat(text, &s) != 0 || !S_ISDIR(s.st_mode))
        return error_set(error, AT_USAGE, "--include takes a folder, and there is none at '%s'",
                         text);
    if (out->pattern.include_count == SCRIPT_INCLUDES_MAX)
        return error_set(error, AT_USAGE, "--include may be given %d times at most",
                         SCRIPT_INCLUDES_MAX);
    out->pattern.includes[out->pattern.include_count++] = text;
    return AT_OK;
}

static at_status read_after(const char *text, settings *out, at_error *error)
{
    if (out->race.after_count == SETTINGS_MAX_AFTER)
        return error_set(error, AT_USAGE, "--after may be given %d times at most",
                         SETTINGS_MAX_AFTER);
    out->race.after[out->race.after_count++] = text;
    return AT_OK;
}

static at_status read_option(const option_info *info, const char *text, options *out,
                             at_error *error)
{
    void *cell = (char *)out + info->offset;
    uint64_t count = 0;
    at_status status = AT_OK;
    switch (info->type) {
    case CELL_TRUE:
        *(bool *)cell = true;
        break;
    case CELL_FALSE:
        *(bool *)cell = false;
        break;
    case CELL_TEXT:
        *(const char **)cell = text;
        break;
    case CELL_COUNT:
        status = read_count(info, text, cell, error);
        break;
    case CELL_SIZE:
        status = read_count(info, text, &count, error);
        *(size_t *)cell = (size_t)count;
        break;
    case CELL_INT:
        status = read_count(info, text, &count, error);
        *(int *)cell = (int)count;
        break;
    case CELL_NUMBER:
        status = read_number(info, text, cell, error);
        break;
    case CELL_CHOICE:
        *(bool *)cell = strcmp(text, info->argument + strcspn(info->argument, "|") + 1) == 0;
        break;
    case CELL_SET:
        status = read_assignment(info, text, out->run.pattern.variables,
                                 &out->run.pattern.variable_count, error);
        break;
    case CELL_ONLY:
        status =
            read_assignment(info, text, out->run.pattern.only, &out->run.pattern.only_count, error);
        break;
    case CELL_OVER:
        status = read_assignment(info, text, out->sweeps, &out->sweep_count, error);
        break;
    case CELL_AFTER:
        status = read_after(text, &out->run, error);
        break;
    case CELL_INCLUDE:
        status = read_include(text, &out->run, error);
        break;
    case CELL_BUDGET:
        status = read_budget(text, &out->run, error);
        break;
    case CELL_EFFORT:
        status = effort_find(text, &out->run.search.effort, error);
        out->run.search.has_effort = true;
        break;
    }
    return status;
}

static bool command_takes(const command *c, const option_info *info)
{
    for (const char *name = c->options ? c->options : ""; *name; name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        if (strlen(info->name) == length && strncmp(info->name, name, length) == 0)
            return true;
        name += length;
    }
    return strcmp(info->name, "help") == 0;
}

static int place_of(const char *name)
{
    int i = 0;
    while (strcmp(known[i].name, name) != 0)
        i++;
    return i;
}

/* getopt_long() returns a character, or FIRST_LONG + the index of the option in the table. */
enum { FIRST_LONG = 256 };

static void getopt_table(const command *c, struct option *longs)
{
    size_t n = 0;
    for (int i = 0; i < KNOWN; i++)
        if (command_takes(c, &known[i]))
            longs[n++] =
                (struct option){.name = known[i].name,
                                .has_arg = known[i].argument ? required_argument : no_argument,
                                .val = FIRST_LONG + i};
    longs[n] = (struct option){0};
}

static at_status unknown_option(const command *c, const char *word, at_error *error)
{
    const char *names[KNOWN];
    size_t n = 0;
    for (int i = 0; i < KNOWN; i++)
        if (command_takes(c, &known[i]))
            names[n++] = known[i].name;
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *nearest = nearest_name(typed, names, n);
    /* --device and --arch both select a target; each command takes one of the two. */
    const char *other = strcmp(typed, "device") == 0 ? "arch" : "device";
    for (size_t i = 0; i < n && (strcmp(typed, "device") == 0 || strcmp(typed, "arch") == 0); i++)
        nearest = strcmp(names[i], other) == 0 ? other : nearest;
    if (nearest)
        return error_set(error, AT_USAGE, "unknown option '%s'; did you mean --%s?", word, nearest);
    return error_set(error, AT_USAGE, "unknown option '%s'; 'autotune %s --help' lists them", word,
                     c->name);
}

static at_status unknown_letter(const command *c, int letter, at_error *error)
{
    return error_set(error, AT_USAGE, "unknown option '-%c'; 'autotune %s --help' lists them",
                     letter, c->name);
}

at_status options_parse(int argc, char **argv, const command *c, options *out, at_error *error)
{
    *out = (options){.top = 10,
                     .problems = 32,
                     .held_out = 8,
                     .max = 8,
                     .capture = {.nth = 1, .shapes = 1, .limit_bytes = UINT64_C(2) << 30},
                     .run = {.search.seed = 1,
                             .machine.use_cache = true,
                             .results.record = true,
                             .results.results_dir = "results",
                             .race.tie_margin = -1}};
    struct option longs[KNOWN + 1];
    getopt_table(c, longs);
    opterr = 0;
    optind = 0; /* 0 makes glibc begin a new parse */
    for (;;) {
        int at = optind ? optind : 1;
        int choice = getopt_long(argc, argv, c->runs_program ? "+:o:h" : ":I:o:h", longs, NULL);
        if (choice == -1)
            break;
        if (choice == 'h' || choice == 'o' || choice == 'I') {
            const int place = place_of(choice == 'h'   ? "help"
                                       : choice == 'o' ? "output"
                                                       : "include");
            if (!command_takes(c, &known[place]))
                return unknown_letter(c, choice, error);
            choice = FIRST_LONG + place;
        }
        if (choice == ':')
            return error_set(error, AT_USAGE, "%s needs a value", argv[optind - 1]);
        if (choice == '?') {
            const char *word = argv[at] && strncmp(argv[at], "--", 2) == 0 ? argv[at] : NULL;
            for (int i = at; !word && i < optind; i++)
                if (strncmp(argv[i], "--", 2) == 0)
                    word = argv[i];
            if (!word)
                return unknown_letter(c, optopt, error);
            return unknown_option(c, word, error);
        }
        const option_info *info = &known[choice - FIRST_LONG];
        if (info->type == CELL_TEXT && !*optarg)
            return error_set(error, AT_USAGE, "--%s needs a value", info->name);
        const char *words = words_of(c, info);
        at_status status = words ? check_word(info->name, words, optarg, error) : AT_OK;
        if (!status)
            status = read_option(info, optarg, out, error);
        if (status)
            return status;
    }
    if (out->output && strcmp(out->output, "-") == 0)
        out->output = NULL;
    if (out->help)
        return AT_OK;
    if (out->results)
        out->run.results.results_dir = out->results;
    out->program = argv + optind;
    if (c->runs_program && optind == argc)
        return error_set(error, AT_USAGE,
                         "'autotune %s' needs a program: autotune %s [OPTION]... %s", c->name,
                         c->name, c->operand);
    if (c->runs_program)
        return AT_OK;
    size_t most = c->operands_most ? c->operands_most : c->operand ? 1 : 0;
    size_t least = c->operands_most ? c->operands_least : most;
    for (; optind < argc && out->operand_count < most && out->operand_count < OPTIONS_MAX_OPERANDS;
         optind++)
        out->operands[out->operand_count++] = argv[optind];
    out->run.pattern.script = out->operand = out->operand_count ? out->operands[0] : NULL;
    if (optind < argc && !c->operand)
        return error_set(error, AT_USAGE, "'autotune %s' takes no argument, but got '%s'", c->name,
                         argv[optind]);
    if (optind < argc && out->configuration && strchr(argv[optind], '='))
        return error_set(error, AT_USAGE,
                         "'%s' is not an argument of this command: separate the values of a "
                         "configuration by commas, --config %s,%s",
                         argv[optind], out->configuration, argv[optind]);
    if (optind < argc)
        return error_set(error, AT_USAGE, "'autotune %s' takes %s: '%s' is one too many", c->name,
                         c->operand, argv[optind]);
    if (out->operand_count < least)
        return error_set(error, AT_USAGE,
                         "'autotune %s' needs more arguments: autotune %s %s [OPTION]...", c->name,
                         c->name, c->operand);
    return AT_OK;
}

const command *options_command(const options *o, const char *name)
{
    for (size_t i = 0; i < o->command_count; i++)
        if (strcmp(o->commands[i]->name, name) == 0)
            return o->commands[i];
    return NULL;
}

static const char *help_of(const command *c, const option_info *info)
{
    for (size_t i = 0; i < sizeof particular / sizeof *particular; i++)
        if (strcmp(particular[i].command, c->name) == 0 &&
            strcmp(particular[i].option, info->name) == 0)
            return particular[i].help;
    return info->help;
}

static void strategy_words(char words[OPTION_WORDS_BYTES])
{
    size_t count;
    const strategy_kind *const *kinds = strategy_kinds(&count);
    words[0] = '\0';
    for (size_t i = 0; i < count; i++)
        text_add(words, OPTION_WORDS_BYTES, "%s%s", i ? "|" : "", kinds[i]->name);
}

bool options_describe(const command *c, size_t i, option_description *out)
{
    for (const option_info *info = known; info < known + KNOWN; info++)
        if (command_takes(c, info) && i-- == 0) {
            const char *words = words_of(c, info);
            *out = (option_description){
                .name = info->name, .argument = info->argument, .help = help_of(c, info)};
            snprintf(out->words, sizeof out->words, "%s", words ? words : "");
            if (strcmp(info->name, "strategy") == 0)
                strategy_words(out->words);
            return true;
        }
    return false;
}

void options_details(const char *name, char text[OPTIONS_DETAILS_BYTES])
{
    char head[64];
    snprintf(head, sizeof head, "\n= %s\n", name);
    const char *found = strstr(details, head), *begin = found ? found + strlen(head) : "";
    const char *end = strstr(begin, "\n\n= ");
    snprintf(text, OPTIONS_DETAILS_BYTES, "%.*s", end ? (int)(end + 1 - begin) : (int)strlen(begin),
             begin);
}
