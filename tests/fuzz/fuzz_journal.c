/* Fuzzes lines of a journal. A line must be refused, or be read and written again unchanged. The
 * fuzzer cannot guess checksums, so the target also tries the input with a checksum. */
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "journal/line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(const journal_line *line)
{
    char *text;
    journal_line again;
    at_error error = {0};
    at_status status =
        line->is_finish
            ? journal_line_of_finish(line->run, line->finished, line->finished_count, &text, &error)
            : journal_line_of_entry(line->run, line->facts, line->key, &line->entry, &text, &error);
    if (status || !journal_line_parse(text, strlen(text) - 1, &again))
        abort();
    if (again.run != line->run || again.is_finish != line->is_finish ||
        again.entry.found.outcome != line->entry.found.outcome ||
        again.entry.found.sample_count != line->entry.found.sample_count ||
        again.entry.configuration_count != line->entry.configuration_count ||
        again.entry.figure_count != line->entry.figure_count ||
        memcmp(again.key.bytes, line->key.bytes, sizeof line->key.bytes) != 0)
        abort();
    journal_line_deinit(&again);
    free(text);
}

static void try_line(const char *text, size_t size)
{
    journal_line line;
    if (!journal_line_parse(text, size, &line))
        return;
    check_round_trip(&line);
    journal_line_deinit(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_line((const char *)data, size);
    /* Changes {"a":1} to {"a":1,"check":"..."}. */
    if (size < 2 || data[size - 1] != '}')
        return 0;
    char *text = malloc(size + 64);
    if (!text)
        return 0;
    memcpy(text, data, size - 1);
    int n = snprintf(text + size - 1, 64, ",\"check\":\"%016llx\"}",
                     (unsigned long long)XXH3_64bits(data, size - 1));
    try_line(text, size - 1 + (size_t)n);
    free(text);
    return 0;
}
