/* autotune results: what is recorded, looked at and kept in order. */
#include "cmd/results/results.h"

#include <string.h>

#include "base/nearest.h"
#include "cmd/line/commands.h"

static const struct verb {
    const char *name;
    results_verb *run;
} verbs[] = {{"list", results_list}, {"show", results_show},         {"diff", results_diff},
             {"merge", results_merge}, {"validate", results_validate}, {"prune", results_prune}};
enum { VERBS = sizeof verbs / sizeof *verbs };

static at_status run(const options *o, int *exit_code, at_error *error)
{
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(verbs[i].name, o->operands[0]) == 0)
            return verbs[i].run(o, exit_code, error);
    }
    const char *nearest = nearest_name(o->operands[0], names, VERBS);
    return error_set(error, AT_USAGE,
                     "'autotune results' takes list, show, diff, merge, validate or prune, not '%s'%s%s%s",
                     o->operands[0], nearest ? "; did you mean '" : "", nearest ? nearest : "",
                     nearest ? "'?" : "");
}

const command cmd_results = {
    .name = "results",
    .operand = "list|show|diff|merge|validate|prune ...",
    .operands_least = 1,
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Look at records, compare and merge them, check them and keep them in order",
    .details =
        "  list [PATTERN...]      what is recorded, for --gpu and --set\n"
        "  show PATTERN...        entries in words: configuration, problem, figures, proof, runners-up, portfolios,\n"
        "                         and what they were measured with\n"
        "  diff A B               two records or folders: what was added, removed, changed, became faster or slower\n"
        "  merge FROM             a folder of another machine into --results: for each problem the newer entry, but\n"
        "                         the older one if script and template are the same, it is surely faster, and the\n"
        "                         newer run did not time it; and for each ceiling of a GPU the newer one\n"
        "  validate [FILE|DIR...] each fault with file, line, JSON pointer and remedy\n"
        "  prune [PATTERN...]     removes entries from --results: --stale and --older-than say which\n"
        "\n"
        "--results is read, else $AUTOTUNE_RESULTS, ./results and the installed records; only --results (or\n"
        "./results) is changed. Files are replaced whole, under a lock: an interrupt leaves the old file or the new\n"
        "one. merge and prune print everything they do; with --dry-run they only print it. validate ends with exit\n"
        "code 4 if something is wrong. A damaged entry is left out, and the others are used.\n",
    .options = OPTIONS(OPTION_SET, OPTION_GPU, OPTION_RESULTS, OPTION_DRY_RUN, OPTION_STALE, OPTION_OLDER_THAN,
                       OPTION_JSON),
    .run = run,
};
