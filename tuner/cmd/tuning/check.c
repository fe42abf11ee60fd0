/* autotune check: proves variants on a simulated device, and reports every fault. */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "capture/capture.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "compile/compile.h"
#include "process/interrupt.h"
#include "record/schema.h"
#include "report/progress.h"
#include "run/setup/problems.h"
#include "run/setup/setup.h"
#include "run/variant/hangs.h"
#include "run/variant/proof.h"
#include "sim/chip.h"

/* MOST_TIMED variants are drawn if the time is limited: no machine proves so many in a day. */
enum { STEP_MS = 100, MOST_SOURCE = 16 << 20, MESSAGE_BYTES = 2048, MOST_TIMED = 1 << 20 };

/* Progress is shown after these times: on a terminal, and in other files. */
static const int64_t terminal_quiet_ns = INT64_C(3) * 1000000000,
                     file_quiet_ns = INT64_C(15) * 1000000000;

typedef struct checking {
    sim_chip chip;
    script *script;
    compile_pool *pool;
    prover *prover;
    uint16_t *indices; /* configurations of the checked variants */
    hangs hangs;
    size_t count, submitted, done, uncompiled;
    int64_t end_ns; /* when the check ends, as clock_now_ns(); INT64_MAX if it has no limit */
    bool interrupted;
    uint64_t valid; /* variants that could be drawn, or the one that was asked for */
    uint64_t counts[PROOF_UNKNOWN + 1];
    json_t *variants;      /* for --json */
    device_coverage least; /* the smallest coverage of a proven variant without a text of its own */
    size_t least_id;       /* the variant */
    char *last_message;    /* owned; the last message; NULL if there is none */
} checking;

static size_t width(const checking *c)
{
    return script_pattern(c->script)->parameter_count;
}

static void allocate(checking *c, size_t count)
{
    c->indices = memory_new(count * width(c), sizeof *c->indices);
    c->count = count;
}

static at_status choose_one(checking *c, const char *text, at_error *error)
{
    allocate(c, 1);
    c->valid = 1;
    return setup_choose_valid(c->script, PROBLEM_TUNED, text, c->indices, error);
}

/* Chooses `wanted` different configurations at random (Knuth's selection sampling), in random order
 * because a limit of time may end the check before the last one. */
static at_status choose_many(checking *c, uint64_t wanted, uint64_t seed, at_error *error)
{
    space *all;
    rng r = rng_seeded(seed);
    at_status status = script_space(c->script, PROBLEM_TUNED, &all, error);
    if (status)
        return status;
    uint64_t total = space_count(all);
    if (wanted > total)
        wanted = total;
    allocate(c, (size_t)wanted);
    c->valid = total;
    uint64_t chosen = 0, *places = memory_new((size_t)wanted, sizeof *places);
    for (uint64_t i = 0; chosen < wanted; i++)
        if (rng_below(&r, total - i) < wanted - chosen)
            places[chosen++] = i;
    rng_shuffle(&r, places, (size_t)wanted);
    for (uint64_t i = 0; i < wanted; i++)
        space_at(all, places[i], c->indices + i * width(c));
    free(places);
    space_free(all);
    return AT_OK;
}

static json_t *json_or_null(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

/* Packs the output of kernels, which may contain any bytes. */
static json_t *printed_json(const char *text)
{
    const size_t most = 6 * strlen(text) + 1; /* an escaped character takes 6 bytes */
    char *plain = memory_new(most, 1);
    plain_text_escape(text, plain, most);
    json_t *out = json_string(plain);
    free(plain);
    return out;
}

static json_t *number_json(uint32_t n)
{
    return n ? json_integer(n) : json_null();
}

static json_t *position_json(bool known, const uint32_t at[3])
{
    return known ? json_pack("[III]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2])
                 : json_null();
}

static json_t *fault_json(const device_fault *f)
{
    const fault_line *at = &f->lines[0];
    json_t *calls = json_array();
    for (size_t i = 1; i < FAULT_LINES && f->lines[i].file[0]; i++)
        json_append(&calls, json_pack("{ss so so}", "file", f->lines[i].file, "line",
                                      number_json(f->lines[i].line), "column",
                                      number_json(f->lines[i].column)));
    json_t *out = json_pack(
        "{ss so so so so so so so so so so}", "kind", f->kind, "file", json_or_null(at->file),
        "line", number_json(at->line), "column", number_json(at->column), "inlined_at", calls,
        "thread", position_json(f->has_thread, f->thread), "block",
        position_json(f->has_thread, f->block), "space", json_or_null(f->space), "address",
        f->space[0] ? json_integer((json_int_t)f->address) : json_null(), "buffer",
        json_or_null(f->buffer), "element",
        f->has_element ? json_integer((json_int_t)f->element) : json_null());
    if (f->kind[0])
        return out;
    json_decref(out);
    return json_null();
}

/* Reads the source line of a fault from a file beside the script or its template, or packs null. */
static json_t *source_json(const checking *c, const fault_line *l)
{
    const pattern *p = script_pattern(c->script);
    const char *const beside[] = {p->path, p->template_path};
    char path[PATH_MAX], *text = NULL;
    size_t size_bytes;
    for (size_t i = 0; i < 2 && l->file[0] && !text; i++) {
        const char *end = beside[i] ? strrchr(beside[i], '/') : NULL;
        const int folder = end ? (int)(end - beside[i] + 1) : 0;
        snprintf(path, sizeof path, "%.*s%s", folder, beside[i] ? beside[i] : "", l->file);
        if (file_read(path, MOST_SOURCE, &text, &size_bytes, NULL))
            text = NULL;
    }
    const char *line = text;
    for (uint32_t n = 1; line && n < l->line; n++) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    json_t *out = line && l->line ? json_stringn(line, strcspn(line, "\r\n")) : NULL;
    free(text);
    return out ? out : json_null();
}

/* Reports the result of a variant: as text at once, as JSON at the end. If there are many variants,
 * the text has only those that are not proven or that printed something. */
static at_status report(checking *c, const options *o, const proof *one, at_error *error)
{
    const oracle_kind oracle = script_oracle(c->script);
    const bool smaller = one->coverage.smaller;
    const char *const words[] = {[PROOF_PROVEN] = oracle == ORACLE_NONE ? "no fault found"
                                                  : oracle == ORACLE_REFERENCE
                                                      ? smaller ? "proven_smaller" : "proven"
                                                  : smaller ? "agrees_smaller"
                                                            : "agrees",
                                 [PROOF_WRONG] = "wrong",
                                 [PROOF_UNKNOWN] = "not proven"};
    const bool proven = one->verdict == PROOF_PROVEN;
    char text[CONFIGURATION_BYTES];
    c->counts[one->verdict]++;
    if (!o->json && proven && c->count > 1 && !one->printed) {
        if (!one->coverage.whole &&
            (!c->least.problems[0] || one->coverage.compared < c->least.compared)) {
            c->least = one->coverage;
            c->least_id = one->id;
        }
        return AT_OK;
    }
    json_t *variant = json_pack(
        "{so ss so so so so}", "config",
        pattern_json_configuration(script_pattern(c->script), c->indices + one->id * width(c)),
        "verdict", words[one->verdict], "message", json_foreign_text(proven ? NULL : one->message),
        "fault", fault_json(&one->fault), "covered", coverage_pack(proven ? &one->coverage : NULL),
        "not_run", json_foreign_text(one->not_run));
    if (o->json && one->printed)
        json_put(&variant, "printed", printed_json(one->printed));
    if (o->json) {
        json_append(&c->variants, variant);
        return AT_OK;
    }
    script_format_configuration(c->script, c->indices + one->id * width(c), text, sizeof text);
    const bool said_before =
        c->last_message && one->message && strcmp(c->last_message, one->message) == 0;
    free(c->last_message);
    c->last_message = memory_text(one->message);
    return page_show(o, "check_variant", 0, variant,
                     json_pack("{ss so ss sb so}", "configuration", text, "source",
                               source_json(c, &one->fault.lines[0]), "oracle", oracle_name(oracle),
                               "said_before", (int)said_before, "said",
                               json_string_nocheck(one->printed ? one->printed : "")),
                     error);
}

/* Reports a variant as likely to hang, without running it, if similar variants hung. */
static at_status leave_out(checking *c, const options *o, size_t number, bool *left_out,
                           at_error *error)
{
    char why[HANGS_WHY_BYTES];
    const hang_cause *cause = hangs_find(&c->hangs, c->indices + number * width(c));
    *left_out = cause != NULL;
    if (!cause)
        return AT_OK;
    hangs_explain(cause, why);
    c->done++;
    return report(c, o, &(proof){.id = number, .verdict = PROOF_UNKNOWN, .message = why}, error);
}

/* Submits enough variants to keep the workers busy, but compiles only few of them ahead. */
static at_status feed(checking *c, const options *o, at_error *error)
{
    const size_t busy = compile_width(c->pool);
    const size_t ahead = c->hangs.ended_count == 0 ? 1 : c->hangs.hung_count == 0 ? 3 * busy : busy;
    at_status status = AT_OK;
    while (!status && c->submitted < c->count && c->submitted - c->done < ahead) {
        bool left_out;
        status = leave_out(c, o, c->submitted, &left_out, error);
        if (!status && !left_out)
            status =
                prover_add(c->prover, c->submitted, c->indices + c->submitted * width(c), error);
        c->submitted++;
    }
    return status;
}

/* Withdraws queued variants that are likely to hang, because similar variants hung. */
static void withdraw(checking *c)
{
    for (size_t i = 0; i < c->submitted; i++) {
        char why[HANGS_WHY_BYTES];
        const hang_cause *cause = hangs_find(&c->hangs, c->indices + i * width(c));
        if (!cause)
            continue;
        hangs_explain(cause, why);
        prover_withdraw(c->prover, i, why);
    }
}

static void note_hang(checking *c, const proof *one)
{
    if (one->timed_out || one->verdict != PROOF_UNKNOWN)
        hangs_note(&c->hangs, c->indices + one->id * width(c), one->timed_out);
    if (one->timed_out)
        withdraw(c);
}

/* Returns the error for the case that no variant compiles. The first compiler error was printed. */
static at_status refuse_source(const checking *c, const proof *one, at_error *error)
{
    char text[CONFIGURATION_BYTES];
    if (c->last_message)
        return error_set(error, AT_SCRIPT,
                         "none of the %zu variants compiles: the script or a template is wrong",
                         c->count);
    script_format_configuration(c->script, c->indices + one->id * width(c), text, sizeof text);
    return error_set(error, AT_SCRIPT, "%s%s%s%s", text, *text ? ": " : "", one->message,
                     c->count > 1 ? "\nNone of the variants compiles." : "");
}

/* Shows the finished share of the tuned problem, if it runs whole, or of the variants. */
static void show_progress(const checking *c, progress *shown)
{
    const uint64_t permille = prover_permille(c->prover);
    progress_state state = {
        .stage = "checked", .done = c->done, .total = c->count, .now_ns = clock_now_ns()};
    if (permille > 0) {
        state.stage = "per mille of the tuned problem";
        state.done = permille;
        state.total = 1000;
    }
    progress_update(shown, &state);
}

/* Returns true if the user has interrupted the check. The next interrupt ends the program. */
static bool is_interrupted(checking *c)
{
    if (!c->interrupted && interrupt_take()) {
        c->interrupted = true;
        interrupt_release();
    }
    return c->interrupted;
}

static at_status prove(checking *c, const options *o, at_error *error)
{
    const bool on_terminal = isatty(STDERR_FILENO);
    hangs_init(&c->hangs, script_pattern(c->script));
    c->prover = prover_new(c->script, c->pool, c->chip.arch, true,
                           o->whole ? DEVICE_WHOLE_ALWAYS : DEVICE_WHOLE_NEEDED);
    progress *shown = progress_new(STDERR_FILENO, false);
    const int64_t begun_ns = clock_now_ns();
    at_status status = AT_OK;
    interrupt_hold();
    while (!status && c->done < c->count && clock_now_ns() < c->end_ns && !is_interrupted(c)) {
        proof one;
        status = feed(c, o, error);
        if (!status)
            status = prover_work(c->prover, STEP_MS, error);
        if (clock_now_ns() - begun_ns > (on_terminal ? terminal_quiet_ns : file_quiet_ns))
            show_progress(c, shown);
        prover_tell_wait(c->prover, shown);
        while (!status && prover_take(c->prover, &one)) {
            progress_clear(shown);
            c->uncompiled += one.uncompiled;
            status = one.is_script_wrong ? error_set(error, AT_SCRIPT, "%s", one.message)
                     : one.uncompiled && c->uncompiled == c->count ? refuse_source(c, &one, error)
                                                                   : report(c, o, &one, error);
            note_hang(c, &one);
            proof_deinit(&one);
            c->done++;
        }
    }
    progress_free(shown);
    if (status == AT_INTERRUPTED && is_interrupted(c))
        status = error_ignore(status, AT_INTERRUPTED, error);
    interrupt_release();
    return status;
}

static at_status open_all(const options *o, checking *c, at_error *error)
{
    if (o->configuration && o->run.search.budget_evaluations)
        return error_set(error, AT_USAGE,
                         "--config names one variant, and --budget N draws several: leave out one "
                         "of them");
    at_status status = chips_wanted(&o->run, &c->chip, error);
    if (!status)
        status = target_load_script(&o->run, &c->chip.limits, &c->script, error);
    if (status)
        return status;
    const pattern *p = script_pattern(c->script);
    if (!p->measurable && script_oracle(c->script) != ORACLE_NONE)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "there are no expected results: the pattern has no buffers, or neither "
                            "a reference nor results of a baseline. Give it an at.output, or "
                            "oracle = false to search the kernel for faults only");
    problem_plan plan;
    for (int kind = 0; !status && kind < PROBLEM_KINDS; kind++)
        if (p->has_problem[kind] && (kind != PROBLEM_SMALL || p->has_problem[PROBLEM_SIMULATED]))
            status = script_problem_plan(c->script, (problem_kind)kind, NULL, 1, &plan, error);
    if (status)
        return status;
    const uint64_t wanted = o->run.search.budget_s > 0 && !o->configuration
                                ? MOST_TIMED
                                : o->run.search.budget_evaluations;
    status = wanted ? choose_many(c, wanted, o->run.search.seed, error)
                    : choose_one(c, o->configuration, error);
    if (!status)
        status = compile_pool_new(
            &(compile_options){.jobs = o->run.machine.jobs, .use_cache = o->run.machine.use_cache},
            &c->pool, error);
    if (status)
        return status;
    /* A launch that no GPU accepts is no error here, because the proof will report it. */
    return error_ignore(prototypes_check(c->script, PROBLEM_TUNED, c->indices, c->pool,
                                         c->chip.arch, prototypes_warn, NULL, error),
                        AT_USAGE, error);
}

static at_status print_end(const checking *c, const options *o, at_error *error)
{
    const pattern *p = script_pattern(c->script);
    char problems[MESSAGE_BYTES], configuration[CONFIGURATION_BYTES];
    const bool timed = c->end_ns < INT64_MAX;
    const uint64_t left_out = (timed ? c->valid : c->count) - c->done;
    prover_problems(c->prover, problems, sizeof problems);
    script_format_configuration(c->script, c->indices + c->least_id * width(c), configuration,
                                sizeof configuration);
    return page_show(
        o, "check", 2,
        json_pack("{ss ss ss ss sI sI sI so sO}", "pattern", p->name, "arch", c->chip.arch,
                  "oracle", oracle_name(script_oracle(c->script)), "problems", problems, "proven",
                  (json_int_t)c->counts[PROOF_PROVEN], "wrong", (json_int_t)c->counts[PROOF_WRONG],
                  "unknown", (json_int_t)c->counts[PROOF_UNKNOWN], "left_out",
                  timed || c->interrupted ? json_integer((json_int_t)left_out) : json_null(),
                  "variants", c->variants),
        json_pack("{ss sb ss so}", "why", c->interrupted ? "interrupted" : "the time was up",
                  "no_edges", p->ragged_count == 0 && !script_has_field(c->script, "ragged"),
                  "configuration", configuration, "least", coverage_pack(&c->least)),
        error);
}

/* Limit of the work for a captured launch: it takes about 20 s on one core. */
static const uint64_t captured_work = UINT64_C(1) << 31;

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

static proof_verdict judge_captured(const captured_launch *c, const relaunch_result *r,
                                    char *message)
{
    const char *doubt = r->variables_unread ? "; the module has variables that could not be "
                                              "read"
                        : r->has_atomics    ? "; the order of its atomics may decide"
                                            : "";
    message[0] = '\0';
    if (r->fault[0]) {
        snprintf(message, MESSAGE_BYTES, "%s", r->fault);
        return r->undecided ? PROOF_UNKNOWN : PROOF_WRONG;
    }
    if (!r->compared) {
        snprintf(message, MESSAGE_BYTES,
                 "only %" PRIu64 " of %" PRIu64 " blocks ran, and their results need the others'",
                 r->blocks_run, r->blocks);
        return PROOF_UNKNOWN;
    }
    if (r->difference.beyond == 0)
        return PROOF_PROVEN;
    say_difference(c, &r->difference, message);
    strncat(message, doubt, MESSAGE_BYTES - strlen(message) - 1);
    return *doubt ? PROOF_UNKNOWN : PROOF_WRONG;
}

static at_status check_captured(const options *o, int *exit_code, at_error *error)
{
    captured_launch c;
    relaunch_result r;
    char message[MESSAGE_BYTES];
    static const char *const words[] = {
        [PROOF_PROVEN] = "proven", [PROOF_WRONG] = "wrong", [PROOF_UNKNOWN] = "not proven"};
    if (o->run.pattern.variable_count || o->run.pattern.only_count || o->configuration ||
        o->run.search.budget_evaluations || o->run.search.budget_s > 0)
        return error_set(error, AT_USAGE,
                         "--set, --config, --only and --budget need a SCRIPT: without one, the "
                         "captured launch fixes the problem and the code");
    at_status status = captured_read(o->run.pattern.captured, &c, error);
    if (status)
        return status;
    status = relaunch_run(&c, captured_work, &r, error);
    if (!status) {
        const proof_verdict v = judge_captured(&c, &r, message);
        *exit_code = v == PROOF_WRONG ? 1 : v == PROOF_UNKNOWN ? 3 : 0;
        status = page_show(
            o, "check_captured", 2,
            json_pack("{so so ss ss so so sI sI sI sI sb sb}", "captured",
                      json_path(o->run.pattern.captured), "kernel", json_foreign_text(c.kernel),
                      "arch", c.arch, "verdict", words[v], "message",
                      json_foreign_text(*message ? message : NULL), "fault", fault_json(&r.at),
                      "blocks", (json_int_t)r.blocks, "blocks_run", (json_int_t)r.blocks_run,
                      "bytes_written", (json_int_t)r.bytes_written, "words_rounded",
                      (json_int_t)(r.difference.words - r.difference.beyond), "variables_unread",
                      r.variables_unread, "holds_addresses", r.holds_addresses),
            NULL, error);
    }
    captured_deinit(&c);
    return status;
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    if (o->run.pattern.captured && !o->operand)
        return check_captured(o, exit_code, error);
    if (!o->operand)
        return error_set(error, AT_USAGE,
                         "'autotune check' needs a SCRIPT, or a launch by --captured DIR");
    const double limit_s = o->run.search.budget_s;
    checking c = {.variants = json_array(),
                  .end_ns = limit_s > 0 ? clock_now_ns() + (int64_t)(limit_s * 1e9) : INT64_MAX};
    at_status status = open_all(o, &c, error);
    if (!status)
        status = prove(&c, o, error);
    if (!status)
        status = print_end(&c, o, error);
    if (!status && c.interrupted)
        status = error_set(error, AT_INTERRUPTED, "interrupted");
    *exit_code = c.counts[PROOF_WRONG] ? 1 : c.counts[PROOF_UNKNOWN] || c.done == 0 ? 3 : 0;
    json_decref(c.variants);
    free(c.last_message);
    prover_free(c.prover);
    compile_pool_free(c.pool);
    hangs_deinit(&c.hangs);
    free(c.indices);
    script_free(c.script);
    return status;
}

const command cmd_check = {
    .name = "check",
    .operand = "SCRIPT",
    .operands_most = 1,
    .summary =
        "Prove a variant on a simulated GPU: its results, and that it does nothing undefined",
    .options =
        "describe config captured only set include budget seed device whole jobs no-cache json",
    .answer = answer,
};
