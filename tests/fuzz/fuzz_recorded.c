/* Recorded measurements come from other people's tools: any file is read or refused, what is read
 * makes a space of as many configurations, and what is written reads back the same. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "history/history.h"
#include "history/space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_space(const recorded *r)
{
    recorded_space rs;
    at_error error = {0};
    if (recorded_space_init(&rs, r, &error) != AT_OK)
        return;
    if (rs.count != r->result_count)
        abort();
    recorded_space_deinit(&rs);
}

static void check_written(const recorded *r, const char *format)
{
    char *text = NULL;
    at_error error = {0};
    recorded back;
    if (recorded_write(r, format, &text, &error) != AT_OK)
        return;
    size_t size = 0;
    while (text[size])
        size++;
    if (recorded_parse(text, size, "written", &back, &error) == AT_OK) {
        if (back.result_count > r->result_count)
            abort();
        recorded_deinit(&back);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    at_error error = {0};
    recorded r;
    if (recorded_parse((const char *)data, size, "fuzz", &r, &error) != AT_OK) {
        if (error.message[0] == '\0')
            abort();
        return 0;
    }
    for (size_t i = 0; i < r.result_count; i++)
        if (!(r.results[i].cost > 0) ||
            isfinite(r.results[i].cost) != (r.results[i].outcome == OUTCOME_OK))
            abort();
    check_space(&r);
    check_written(&r, "t4");
    check_written(&r, "kernel-tuner");
    recorded_deinit(&r);
    return 0;
}
