/* Fuzzes templates. Any text must give a source whose lines do not end with blanks, or an error.
 * The error names the template or the function that the template calls. */
#include "script/emit.h"
#include "script_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char pattern_text[] =
    "local at = require 'autotune'\n"
    "return at.pattern { name = 'p', problem = { n = 100, dtype = 'float' },\n"
    "space = { tile = { 1, 2, 4 }, mode = { 'a', 'b' } }, baseline = { tile = 1, mode = 'b' },\n"
    "kernel = { template = 'p.cu.tmpl' }, launch = { grid = 1, block = 32 } }\n";

static void check_source(const emitted *out)
{
    if (strlen(out->source) > out->size_bytes || out->source[out->size_bytes] != '\0')
        abort();
    for (size_t i = 0; i < out->size_bytes; i++)
        if (out->source[i] == '\n' && i > 0 && strchr(" \t\r", out->source[i - 1]) &&
            out->source[i - 1] != '\0')
            abort();
    if (out->size_bytes > 0 && out->source[out->size_bytes - 1] != '\n')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_input("p.cu.tmpl", data, size);
    const char *path = write_input("p.lua", pattern_text, sizeof pattern_text - 1);
    script_options options = tight_options();
    script *s;
    at_error error = {0};
    if (script_load(path, &options, &s, &error)) {
        if (error.message[0] == '\0')
            abort();
        return 0;
    }
    for (uint16_t i = 0; i < 6; i++) {
        emitted out;
        if (emit_variant(s, PROBLEM_TUNED, (uint16_t[]){i % 3, i / 3}, i % 2, &out, &error)) {
            if (out.source || error.message[0] == '\0')
                abort();
        } else {
            check_source(&out);
            emitted_deinit(&out);
        }
    }
    script_free(s);
    return 0;
}
