/* Fuzzes values of --config and --set, which must be usage errors or be written unchanged. */
#include "script_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char pattern_text[] =
    "local at = require 'autotune'\n"
    "return at.pattern { name = 'p', problem = { n = 100, x = 0.5, on = true, dtype = 'float' },\n"
    "space = { tile = { 1, 2, 4 }, f = { 0.1, 1e300, 2.0 }, on_off = { true, false },\n"
    "mode = { 'a', '4', 'true', '0x10' } },\n"
    "baseline = { tile = 1, f = 2.0, on_off = true, mode = 'a' },\n"
    "kernel = { template = 'scale_ref.cu.tmpl' } }\n";

static script *load(const script_setting *settings, size_t count, at_status *status)
{
    script_options options = tight_options();
    options.settings = settings;
    options.setting_count = count;
    script *s;
    at_error error = {0};
    *status = script_load(write_input("p.lua", pattern_text, sizeof pattern_text - 1), &options, &s,
                          &error);
    return s;
}

static void try_configuration(const char *text)
{
    static script *s; /* loaded once for speed, and never freed */
    at_status status;
    at_error error = {0};
    uint16_t indices[4], again[4];
    char written[256];
    if (!s && !(s = load(NULL, 0, &status)))
        abort();
    status = script_parse_configuration(s, text, indices, &error);
    if (status != AT_OK) {
        if (status != AT_USAGE || error.message[0] == '\0')
            abort();
        return;
    }
    if (script_format_configuration(s, indices, written, sizeof written) >= (int)sizeof written ||
        script_parse_configuration(s, written, again, &error) ||
        memcmp(indices, again, sizeof indices) != 0)
        abort();
}

static void try_setting(char *text)
{
    char *equals = strchr(text, '=');
    if (!equals)
        return;
    *equals = '\0';
    script_setting setting = {text, equals + 1};
    at_status status;
    script *s = load(&setting, 1, &status);
    if (!s && status != AT_USAGE)
        abort();
    script_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    /* A text that begins with '!' is loaded as a setting. This is rare, because it takes a thousand
     * times as long as parsing. */
    if (size > 0 && text[0] == '!')
        try_setting(text + 1);
    else
        try_configuration(text);
    free(text);
    return 0;
}
