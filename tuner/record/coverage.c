#include "record/coverage.h"

#include <stdio.h>

#include "base/json_text.h"
#include "base/text.h"
#include "base/units.h"

/* Null where it says nothing. */
static json_t *text_json(const char *text)
{
    return text[0] ? json_string(text) : json_null();
}

json_t *coverage_pack(const device_coverage *c)
{
    json_t *tuned = json_null();
    if (!c || !c->problems[0])
        return json_null();
    if (c->blocks > 0)
        tuned = json_pack("{sI sI sI sI sI}", "blocks", (json_int_t)c->blocks, "run",
                          (json_int_t)c->run, "cut", (json_int_t)c->cut, "blind",
                          (json_int_t)c->blind, "compared", (json_int_t)c->compared);
    return json_pack("{ss so so so so so}", "problems", c->problems, "tuned", tuned, "skipped",
                     text_json(c->skipped), "never_ran", text_json(c->never), "ran_once",
                     text_json(c->once), "allowed", text_json(c->allowed));
}

static uint64_t count_of(const json_t *packed, const char *name)
{
    json_int_t n = json_integer_value(json_object_get(json_object_get(packed, "tuned"), name));
    return n > 0 ? (uint64_t)n : 0;
}

static void copy_text(const json_t *packed, const char *name, char text[COVERAGE_TEXT_BYTES])
{
    const char *found = json_string_value(json_object_get(packed, name));
    snprintf(text, COVERAGE_TEXT_BYTES, "%s", found ? found : "");
}

device_coverage coverage_unpack(const json_t *packed)
{
    device_coverage c = {.blocks = count_of(packed, "blocks"),
                         .run = count_of(packed, "run"),
                         .cut = count_of(packed, "cut"),
                         .blind = count_of(packed, "blind"),
                         .compared = count_of(packed, "compared")};
    const char *problems = json_string_value(json_object_get(packed, "problems"));
    snprintf(c.problems, sizeof c.problems, "%s", problems ? problems : "");
    copy_text(packed, "skipped", c.skipped);
    copy_text(packed, "never_ran", c.never);
    copy_text(packed, "ran_once", c.once);
    copy_text(packed, "allowed", c.allowed);
    return c;
}

static void tell_tuned(const device_coverage *c, char text[COVERAGE_SENTENCE_BYTES])
{
    char run[UNITS_BYTES], blocks[UNITS_BYTES], compared[UNITS_BYTES], part[UNITS_BYTES];
    snprintf(text, COVERAGE_SENTENCE_BYTES, "%s of the tuned problem's %s blocks were run",
             units_count(c->run, run), units_count(c->blocks, blocks));
    if (c->cut > 0)
        text_add(text, COVERAGE_SENTENCE_BYTES, "; %s of them were left unfinished",
                 units_count(c->cut, part));
    if (c->blind > 0)
        text_add(text, COVERAGE_SENTENCE_BYTES, "; %s ended where they read what others write",
                 units_count(c->blind, part));
    if (c->compared > 0)
        text_add(text, COVERAGE_SENTENCE_BYTES, "; %s elements are the reference's",
                 units_count(c->compared, compared));
}

bool coverage_sentence(const device_coverage *c, size_t i, char text[COVERAGE_SENTENCE_BYTES])
{
    const struct {
        bool is_told;
        const char *format, *what;
    } texts[] = {
        {c->blocks > 0, NULL, NULL},
        {c->skipped[0], "of the tuned problem: %s", c->skipped},
        {c->never[0], "never executed: %s", c->never},
        {c->once[0], "loops that went round once at most, whatever the problem: %s", c->once},
        {c->allowed[0], "results that differ, as at.mismatches() allows: %s", c->allowed}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        if (!texts[k].is_told || i-- > 0)
            continue;
        if (texts[k].format)
            snprintf(text, COVERAGE_SENTENCE_BYTES, texts[k].format, texts[k].what);
        else
            tell_tuned(c, text);
        return true;
    }
    return false;
}
