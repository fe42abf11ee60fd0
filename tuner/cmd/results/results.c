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

static const option_id takes[] = {OPTION_SET,     OPTION_GPU,        OPTION_RESULTS, OPTION_DRY_RUN,
                                  OPTION_STALE,   OPTION_OLDER_THAN, OPTION_JSON};

const command cmd_results = {
    .name = "results",
    .operand = "list|show|diff|merge|validate|prune ...",
    .operands_least = 1,
    .operands_most = OPTIONS_MAX_OPERANDS,
    .summary = "Look at records, compare and merge them, check them and keep them in order",
    .details =
        "  list [PATTERN...]      what is recorded, of --gpu and --set\n"
        "  show PATTERN...        entries in words: configuration, problem, figures, proof, runners-up, portfolios,\n"
        "                         and what they were measured with\n"
        "  diff A B               of two records or folders: what came, went, changed, became faster or slower\n"
        "  merge FROM             a folder of another machine into --results: of each problem the newer entry, but\n"
        "                         the older where script and template are the same, it is surely faster, and the\n"
        "                         newer run did not time it\n"
        "  validate [FILE|DIR...] each problem with file, line, JSON pointer and remedy\n"
        "  prune [PATTERN...]     takes entries out of --results: --stale and --older-than say which\n"
        "\n"
        "Read are --results, or $AUTOTUNE_RESULTS, ./results and the installed records; changed is --results (or\n"
        "./results) alone. Files are replaced whole, under a lock: whatever interrupts leaves the old or the new.\n"
        "merge and prune say all that they do; with --dry-run they only say it. validate ends with exit code 4 when\n"
        "something is wrong. An entry that is damaged costs only itself.\n"
        "\n"
        "  autotune results show transpose --gpu nvidia-h200 --set rows=8192\n"
        "  autotune results merge /mnt/other/results --dry-run\n"
        "  autotune results prune --stale --older-than 365d\n",
    .options = takes,
    .option_count = sizeof takes / sizeof *takes,
    .run = run,
};
