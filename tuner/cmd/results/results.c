/* autotune results: what is recorded, looked at and kept in order. */
#include "cmd/results/results.h"

#include <string.h>

#include "base/text.h"
#include "cmd/line/commands.h"

static const struct verb {
    const char *name;
    results_verb *run;
    results_answer *answer;
} verbs[] = {{"list", .run = results_list},   {"show", .run = results_show},
             {"diff", .run = results_diff},   {"merge", .run = results_merge},
             {"prune", .run = results_prune}, {"validate", .answer = results_validate}};
enum { VERBS = sizeof verbs / sizeof *verbs };

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++) {
        names[i] = verbs[i].name;
        if (strcmp(verbs[i].name, o->operands[0]) == 0)
            return verbs[i].run ? verbs[i].run(o, error) : verbs[i].answer(o, exit_code, error);
    }
    const char *nearest = nearest_name(o->operands[0], names, VERBS);
    return error_set(
        error, AT_USAGE,
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
    .answer = answer,
};
