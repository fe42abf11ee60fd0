/* autotune importance: which parameters decide, and which of them only together. */
#include <jansson.h>

#include "base/json_text.h"
#include "cmd/line/commands.h"
#include "cmd/line/page.h"
#include "history/recorded.h"

static at_status run(const options *o, at_error *error)
{
    json_t *source;
    at_status status = recorded_open(o->operand, &source, error);
    if (status)
        return status;
    return page_answer(o, "importance", 1, o->operand,
                       json_pack("{so so sI}", "source", source, "path", json_path(o->operand),
                                 "top", (json_int_t)o->top),
                       error);
}

const command cmd_importance = {
    .name = "importance",
    .operand = "FILE",
    .summary = "Show which parameters decide, and which only together",
    .options = "top json",
    .run = run,
};
