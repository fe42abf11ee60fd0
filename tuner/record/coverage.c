#include "record/coverage.h"

#include "base/json_text.h"

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
    if (c->blocks > 0 && !c->whole)
        tuned = json_pack("{sI sI sI sI sI}", "blocks", (json_int_t)c->blocks, "run",
                          (json_int_t)c->run, "cut", (json_int_t)c->cut, "blind",
                          (json_int_t)c->blind, "compared", (json_int_t)c->compared);
    return json_pack("{ss ss so so so so so so}", "problems", c->problems, "extent",
                     c->smaller ? "smaller" : "tuned", "tuned", tuned, "skipped",
                     text_json(c->skipped), "never_ran", text_json(c->never), "ran_once",
                     text_json(c->once), "allowed", text_json(c->allowed), "unwatched",
                     text_json(c->unwatched));
}
