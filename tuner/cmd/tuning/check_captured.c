#include "cmd/tuning/check_captured.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "capture/capture.h"
#include "capture/relaunch.h"
#include "cmd/line/page.h"

enum { MESSAGE_BYTES = 2048 };

/* About twenty seconds of a usual core. */
static const uint64_t most_work = UINT64_C(1) << 31;

typedef enum verdict { PROVEN, WRONG, OPEN } verdict;

static const char *const words[] = {[PROVEN] = "proven", [WRONG] = "wrong", [OPEN] = "not proven"};

static void say_difference(const captured_launch *c, const relaunch_difference *d, char *message)
{
    float expected, found;
    memcpy(&expected, &d->expected, sizeof expected);
    memcpy(&found, &d->found, sizeof found);
    snprintf(message, MESSAGE_BYTES,
             "%" PRIu64 " words of 4 bytes differ from what the program's GPU computed; the first "
             "at byte %" PRIu64 " of allocation %u (%" PRIu64 " bytes): 0x%08x (as a float %g) "
             "there, 0x%08x (%g) here",
             d->beyond, d->offset, d->allocation + 1, c->allocations[d->allocation].size_bytes,
             d->expected, (double)expected, d->found, (double)found);
}

static verdict judge(const captured_launch *c, const relaunch_result *r, char *message)
{
    const char *doubt = r->variables_unread ? "; the module has variables that could not be "
                                              "read"
                        : r->has_atomics    ? "; the order of its atomics may decide"
                                            : "";
    message[0] = '\0';
    if (r->fault[0]) {
        snprintf(message, MESSAGE_BYTES, "%s", r->fault);
        return r->undecided ? OPEN : WRONG;
    }
    if (!r->compared) {
        snprintf(message, MESSAGE_BYTES,
                 "only %" PRIu64 " of %" PRIu64 " blocks ran, and their results need the others'",
                 r->blocks_run, r->blocks);
        return OPEN;
    }
    if (r->difference.beyond == 0)
        return PROVEN;
    say_difference(c, &r->difference, message);
    strncat(message, doubt, MESSAGE_BYTES - strlen(message) - 1);
    return *doubt ? OPEN : WRONG;
}

at_status check_captured(const options *o, int *exit_code, at_error *error)
{
    captured_launch c;
    relaunch_result r;
    char message[MESSAGE_BYTES];
    if (o->run.variable_count || o->run.only_count || o->configuration || o->run.budget_evaluations)
        return error_set(error, AT_USAGE,
                         "a captured launch has its problem and its machine code: --set, --config, "
                         "--only and --budget are of a SCRIPT, which may be given as well");
    at_status status = captured_read(o->run.captured, &c, error);
    if (status)
        return status;
    status = relaunch_run(&c, most_work, &r, error);
    if (!status) {
        const verdict v = judge(&c, &r, message);
        *exit_code = v == WRONG ? 1 : v == OPEN ? 3 : 0;
        status = page_show(
            o, "check_captured", 2,
            json_pack("{so so ss ss so sI sI sI sI sb sb}", "captured", json_path(o->run.captured),
                      "kernel", json_said(c.kernel), "arch", c.arch, "verdict", words[v], "message",
                      json_said(*message ? message : NULL), "blocks", (json_int_t)r.blocks,
                      "blocks_run", (json_int_t)r.blocks_run, "bytes_written",
                      (json_int_t)r.bytes_written, "words_rounded",
                      (json_int_t)(r.difference.words - r.difference.beyond), "variables_unread",
                      r.variables_unread, "holds_addresses", r.holds_addresses),
            NULL, error);
    }
    captured_deinit(&c);
    return status;
}
