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

static at_status run(const options *o, at_error *error)
{
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(verbs[i].name, o->operands[0]) == 0)
            return verbs[i].run(o, error);
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
    .options = "set gpu results dry-run stale older-than json",
    .run = run,
};
