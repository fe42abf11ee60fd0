#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "record/coverage.h"
#include "report/page.h"
#include "report/table.h"

enum { VALUE_BYTES = 256, LINE_BYTES = 1024, LABEL_COLUMNS = 12 };

typedef enum ink { INK_BOLD, INK_GOOD, INK_WARNING } ink;
static const char *const ink_codes[] = {
    [INK_BOLD] = "\033[1m", [INK_GOOD] = "\033[1;32m", [INK_WARNING] = "\033[33m"};

static const char *start(bool colour, ink i)
{
    return colour ? ink_codes[i] : "";
}

static const char *stop(bool colour)
{
    return colour ? "\033[0m" : "";
}

/* Where it goes and how. */
typedef struct sheet {
    FILE *to;
    bool colour;
    size_t columns;
} sheet;

/* One of the labelled lines below the table. */
static void print_labelled(const sheet *on, const char *label, const char *text)
{
    table_print_wrapped(on->columns, LABEL_COLUMNS, label, text, on->to);
}

/* ---- head ---- */

static void add_work(char l[LINE_BYTES], const run_summary *s)
{
    char text[UNITS_BYTES];
    if (s->work[WORK_BYTES])
        text_add(l, LINE_BYTES, "; %s to move", units_size(s->work[WORK_BYTES], text));
    if (s->work[WORK_FLOPS])
        text_add(l, LINE_BYTES, "; %s GFLOP to do",
                 units_rate((double)s->work[WORK_FLOPS] / 1e9, text));
    if (s->work[WORK_ITEMS])
        text_add(l, LINE_BYTES, "; %s %s", units_count(s->work[WORK_ITEMS], text), s->item);
}

static void add_ceiling(char l[LINE_BYTES], const run_summary *s)
{
    static const char *const verbs[CEILING_KINDS] = {[CEILING_COPY] = "a copy of them",
                                                     [CEILING_READ] = "reading them",
                                                     [CEILING_WRITE] = "writing them"};
    const ceiling_info *ceiling = ceiling_get(s->ceiling);
    char text[UNITS_BYTES], unit[WORK_RATE_BYTES];
    work_rate_name(ceiling->unit, s->item, unit);
    if (s->ceiling_rate > 0 && verbs[s->ceiling])
        text_add(l, LINE_BYTES, "; %s %s at %s %s", verbs[s->ceiling],
                 s->device.predicted ? "is predicted to run" : "runs",
                 units_rate(s->ceiling_rate, text), unit);
    else if (s->ceiling_rate > 0)
        text_add(l, LINE_BYTES, "; %s is %s %s", ceiling->words, units_rate(s->ceiling_rate, text),
                 unit);
    else if (!s->device.predicted && !ceiling->in_run && s->ceiling > CEILING_NONE)
        text_add(l, LINE_BYTES, "; %s is not known here: 'autotune ceilings' measures it",
                 ceiling->words);
}

static void print_head(const run_summary *s, const sheet *on)
{
    const device_properties *d = &s->device;
    char name[VALUE_BYTES];
    char l[LINE_BYTES] = "";
    if (s->compiled_only)
        text_add(l, LINE_BYTES, "compiled for %s", d->arch);
    else
        text_add(l, LINE_BYTES, "%s %s (%s%s%s)", d->predicted ? "predicted for" : "on",
                 table_clean(d->limits.name, name, sizeof name), d->arch,
                 d->driver[0] ? ", driver " : "", d->driver);
    fprintf(on->to, "%s%s%s %s\n", start(on->colour, INK_BOLD), s->pattern, stop(on->colour), l);
    l[0] = '\0';
    for (size_t i = 0; i < s->problem_count; i++) {
        char v[VALUE_BYTES], clean[VALUE_BYTES];
        value_format(s->problem[i].value, v, sizeof v);
        text_add(l, LINE_BYTES, "%s%s=%s", i ? " " : "", s->problem[i].name,
                 table_clean(v, clean, sizeof clean));
    }
    if (!s->compiled_only) {
        text_add(l, LINE_BYTES, "; %s cache", s->warm_cache ? "warm" : "cold");
        add_work(l, s);
        add_ceiling(l, s);
    }
    table_print_wrapped(on->columns, 0, "", l, on->to);
    fputc('\n', on->to);
}

/* ---- below the table ---- */

static void print_verdict(const run_summary *s, const sheet *on)
{
    const run_result *best = run_summary_best(s), *baseline = run_summary_baseline(s);
    char l[LINE_BYTES] = "";
    if (!best) {
        fprintf(on->to, "%s%s%s\n", start(on->colour, INK_WARNING),
                s->counts[OUTCOME_OK] ? "no variant is known to be right yet" : "no variant worked",
                stop(on->colour));
        return;
    }
    bool tied = s->verdict == VERDICT_TIED, predicted = s->device.predicted;
    if (tied)
        text_add(
            l, LINE_BYTES, "tied with %zu other%s%s", s->tied_count, s->tied_count == 1 ? "" : "s",
            predicted ? ", which the model cannot tell apart; a larger problem (--set) may" : "");
    else if (s->verdict == VERDICT_CLEAR)
        text_add(l, LINE_BYTES, "clear: faster than every other");
    else if (s->verdict == VERDICT_INCONCLUSIVE)
        text_add(l, LINE_BYTES, "inconclusive: the run ended before the race");
    else if (s->verdict == VERDICT_NOISY)
        text_add(l, LINE_BYTES, "noisy: the machine's noise exceeds the difference that decided");
    if (s->verdict != VERDICT_NONE)
        print_labelled(on, "verdict", l);
    if (s->speedup > 0) {
        snprintf(l, sizeof l, "%s%.2f times%s as fast as the baseline", start(on->colour, INK_GOOD),
                 s->speedup, stop(on->colour));
        if (best->ceiling_fraction > 0)
            text_add(l, LINE_BYTES, ", %.3f of %s", best->ceiling_fraction,
                     ceiling_get(s->ceiling)->words);
        print_labelled(on, s->device.predicted ? "predicted" : "speed-up", l);
    }
    if (best->power_w > 0) {
        snprintf(l, sizeof l, "%.4g J a launch at %.0f W", best->energy_j, best->power_w);
        print_labelled(on, "energy", l);
    }
    if (best->proven || best->unproven) {
        snprintf(l, sizeof l,
                 best->proven ? "it did nothing wrong on a simulated GPU either"
                              : "not proven on a simulated GPU: %s",
                 best->unproven);
        print_labelled(on, "proof", l);
    }
    char sentence[COVERAGE_SENTENCE_BYTES];
    for (size_t i = 0; best->coverage && coverage_sentence(best->coverage, i, sentence); i++)
        print_labelled(on, "", sentence);
    char clean[CONFIGURATION_BYTES];
    print_labelled(on, tied && predicted ? "one of them" : "best",
                   table_clean(best->configuration, clean, sizeof clean));
    if (baseline && baseline != best)
        print_labelled(on, "baseline", table_clean(baseline->configuration, clean, sizeof clean));
}

static void print_counts(const run_summary *s, const sheet *on)
{
    char text[UNITS_BYTES];
    uint64_t tried = 0;
    char l[LINE_BYTES] = "";
    for (int o = 0; o < OUTCOME_COUNT; o++)
        tried += o == OUTCOME_REJECTED ? 0 : s->counts[o];
    text_add(l, LINE_BYTES, "%s tried", units_count(tried, text));
    text_add(l, LINE_BYTES, " of %s %s", units_count(s->space_valid, text),
             s->space_sampled ? "that were sampled" : "valid");
    text_add(l, LINE_BYTES, " (%s in the full product):",
             s->space_cartesian == UINT64_MAX ? "2^64 or more"
                                              : units_count(s->space_cartesian, text));
    const char *separator = " ";
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (s->counts[o] == 0)
            continue;
        text_add(l, LINE_BYTES, "%s%s %s", separator, units_count(s->counts[o], text),
                 outcome_name((outcome)o));
        separator = ", ";
    }
    print_labelled(on, "variants", l);
    if (s->unraced > 0) {
        snprintf(l, sizeof l, "%s of them %schecked on the tuned problem alone",
                 units_count(s->unraced, text),
                 s->end == RUN_END_INTERRUPTED ? "" : "too slow to race, and ");
        print_labelled(on, "", l);
    }
    if (s->twins == 0)
        return;
    snprintf(l, sizeof l,
             s->twins == 1
                 ? "%s variant has the machine code of another and was not tried apart from it"
                 : "%s variants have the machine code of another and were not tried apart from it",
             units_count(s->twins, text));
    print_labelled(on, "twins", l);
}

/* Every line of a message; of an endless one the first, and how many more there are. */
static void print_message(const char *message, const sheet *on)
{
    enum { MOST_LINES = 24 };
    size_t lines = 0;
    for (const char *at = message; *at; lines++) {
        char text[4096], clean[4096];
        size_t length = strcspn(at, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, at);
        if (lines < MOST_LINES)
            table_print_wrapped(on->columns, 4, "", table_clean(text, clean, sizeof clean), on->to);
        at += length + (at[length] == '\n');
    }
    if (lines > MOST_LINES)
        fprintf(on->to, "    ... and %zu more lines (--json has them)\n", lines - MOST_LINES);
}

/* One example of each way to fail, with its whole message. */
static void print_failures(const run_summary *s, const sheet *on)
{
    for (int o = OUTCOME_OK + 1; o < OUTCOME_COUNT; o++) {
        const run_result *example = NULL;
        for (size_t i = 0; i < s->result_count && !example; i++)
            if (s->results[i].found.outcome == (outcome)o && s->results[i].found.message)
                example = &s->results[i];
        if (!example)
            continue;
        char configuration[CONFIGURATION_BYTES];
        fprintf(on->to, "  %s, for example %s\n", outcome_name((outcome)o),
                table_clean(example->configuration, configuration, sizeof configuration));
        print_message(example->found.message, on);
    }
}

static void print_stages(const run_summary *s, const sheet *on)
{
    char text[UNITS_BYTES];
    char l[LINE_BYTES] = "";
    text_add(l, LINE_BYTES, "%s in all", units_duration(s->wall_s, text));
    const char *separator = "; of it, overlapping: ";
    for (int i = 0; i < STAGE_COUNT; i++) {
        if (s->stage_s[i] < 0.005)
            continue;
        text_add(l, LINE_BYTES, "%s%s %s%s", separator, run_stage_name((run_stage)i),
                 units_duration(s->stage_s[i], text), i == STAGE_COMPILE ? " (all workers)" : "");
        separator = ", ";
    }
    print_labelled(on, "time", l);
}

static void print_end(const run_summary *s, const sheet *on)
{
    static const char *const texts[] = {
        [RUN_END_EXHAUSTED] = NULL,
        [RUN_END_STRATEGY] = "the strategy had nothing more to try",
        [RUN_END_EVALUATIONS] = "as many variants as allowed were tried",
        [RUN_END_SECONDS] = "the time was up",
        [RUN_END_TARGET] = "the wanted share of the ceiling was reached",
        [RUN_END_GAIN] = "the search had stopped paying",
        [RUN_END_HANGS] = "no variant had ended when its time was up, and the loop without an end "
                          "is likely one that all share",
        [RUN_END_RECORDED] = "at once: the record took as much effort; without --effort it is "
                             "measured again",
        [RUN_END_INTERRUPTED] = "interrupted; no journal is kept of this run: the same command "
                                "begins anew",
    };
    const char *text = (size_t)s->end < sizeof texts / sizeof *texts ? texts[s->end] : NULL;
    if (s->end == RUN_END_INTERRUPTED && s->resumable)
        text = "interrupted; the same command goes on from here";
    if (text)
        print_labelled(on, "ended", text);
}

static void print_warning(const char *text, const sheet *on)
{
    /* Padded here: the escapes take no room on the page. */
    char label[32];
    fputs(start(on->colour, INK_WARNING), on->to);
    snprintf(label, sizeof label, "warning%s%*s", stop(on->colour),
             LABEL_COLUMNS - (int)strlen("warning"), "");
    table_print_wrapped(on->columns, LABEL_COLUMNS, label, text, on->to);
}

static void print_foot(const run_summary *s, const sheet *on)
{
    char clean[1024];
    print_counts(s, on);
    print_failures(s, on);
    print_stages(s, on);
    print_end(s, on);
    if (s->record_path[0])
        print_labelled(on, "record", table_clean(s->record_path, clean, sizeof clean));
    for (size_t i = 0; i < s->warning_count; i++)
        print_warning(table_clean(s->warnings[i], clean, sizeof clean), on);
}

at_status report_print(const run_summary *s, const report_options *options, FILE *to,
                       at_error *error)
{
    const sheet on = {.to = to,
                      .colour = options->colour,
                      .columns = options->columns ? options->columns : TABLE_PAGE_COLUMNS};
    print_head(s, &on);
    at_status status = s->compiled_only ? report_page_compiled(s, options, to, error)
                                        : report_page_measured(s, options, to, error);
    if (status)
        return status;
    if (!s->compiled_only) {
        fprintf(to, "\n");
        print_verdict(s, &on);
    }
    print_foot(s, &on);
    if (fflush(to) != 0 || ferror(to))
        return error_set_errno(error, errno, "cannot write the results");
    return AT_OK;
}
