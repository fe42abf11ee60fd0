/* Fuzzes CUDA C++ of users. Any text must be reduced to the parts that a kernel needs, with the
 * same line numbers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpp/signature.h"
#include "cpp/usage.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void is_within(const cpp_unit *u, cpp_span s)
{
    if (s.length > 0 && (s.text < u->text || s.text + s.length > u->text + u->length))
        abort();
}

static void read_launches(const cpp_unit *unit)
{
    cpp_launch launches[4];
    const size_t n = cpp_find_launches(unit, 1, (cpp_span){"k", 1}, launches, 4);
    for (size_t i = 0; i < n; i++) {
        cpp_launch_reads(unit, 1, &launches[i], "N");
        is_within(unit, launches[i].all);
        is_within(unit, launches[i].arguments);
    }
    if (cpp_leading_includes(unit, n > 0 ? launches[0].parts : NULL, n > 0) > unit->include_count)
        abort();
}

static void cut(const char *text)
{
    static const cpp_span root = {"k", 1}, given = {"N", 1};
    cpp_unit unit;
    cpp_parameter parameters[4];
    if (cpp_unit_read(text, NULL, 0, &unit, NULL))
        return;
    for (size_t i = 0; i < unit.declaration_count; i++)
        cpp_parameters(unit.declarations[i].parameters, parameters, 4);
    read_launches(&unit);
    if (cpp_need(&unit, 1, &root, 1, false, NULL) == AT_OK) {
        char *left = cpp_render(&unit, &given, 1);
        if (left && lines_of(left) != lines_of(text))
            abort();
        free(left);
    }
    cpp_unit_deinit(&unit);
}

static void read_comment(const char *text)
{
    cpp_span comment;
    int line;
    if (!cpp_comment_find(text, &comment, &line))
        return;
    char *body = cpp_comment_body(text, comment);
    if (body && lines_of(body) > lines_of(text))
        abort();
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    cpp_argument arguments[CPP_MAX_PARAMETERS];
    size_t count;
    char *text = malloc(size_bytes + 1);
    if (!text)
        return 0;
    memcpy(text, bytes, size_bytes);
    text[size_bytes] = '\0';
    cut(text);
    read_comment(text);
    cpp_signature_read(text, "autotune_signature", arguments, &count);
    free(text);
    return 0;
}
