/* Fuzzes recorded measurements of other tools. Any file must be read or refused. The measurements
 * must make a space with as many configurations, and must not change if written and read. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "history/recorded.h"
#include "script/render.h"

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

static void check_written(const json_t *source, const recorded *r, const char *format)
{
    at_error error = {0};
    json_t *document;
    recorded back;
    json_t *given = json_pack("{sO ss ss}", "source", source, "format", format, "name", "fuzz");
    if (script_compute("commands.convert", "fuzz", given, &document, &error) != AT_OK)
        abort();
    json_decref(given);
    char *text = json_dumps(document, JSON_REAL_PRECISION(17));
    if (text && recorded_parse(text, strlen(text), "written", &back, &error) == AT_OK) {
        if (back.result_count > r->result_count)
            abort();
        recorded_deinit(&back);
    }
    free(text);
    json_decref(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char name[] = "fuzz";
    at_error error = {0};
    json_t *source;
    recorded r;
    if (recorded_open_text((const char *)data, size, name, &source, &error) != AT_OK ||
        recorded_parse((const char *)data, size, name, &r, &error) != AT_OK) {
        if (error.message[0] == '\0' || error.status == AT_SCRIPT)
            abort();
        json_decref(source);
        return 0;
    }
    for (size_t i = 0; i < r.result_count; i++)
        if (!(r.results[i].cost > 0))
            abort();
    check_space(&r);
    check_written(source, &r, "t4");
    check_written(source, &r, "kernel-tuner");
    recorded_deinit(&r);
    json_decref(source);
    return 0;
}
