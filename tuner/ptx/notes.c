#include "ptx/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds where the note of a line begins; NULL: it has none. */
static const char *find_note(const char *line, const char *end)
{
    static const char mark[] = "//@ ";
    for (const char *at = line; at + sizeof mark - 1 <= end; at++)
        if (memcmp(at, mark, sizeof mark - 1) == 0)
            return at + sizeof mark - 1;
    return NULL;
}

static void read_note(const char *at, const char *end, ptx_note *out)
{
    uint16_t *const members[] = {&out->common, &out->integers, &out->products,   &out->specials,
                                 &out->locals, &out->others,   &out->loads_ahead};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        unsigned v = 0;
        while (at < end && *at == ' ')
            at++;
        for (; at < end && *at >= '0' && *at <= '9' && v < 10000; at++)
            v = v * 10 + (unsigned)(*at - '0');
        *members[i] = (uint16_t)(v < UINT16_MAX ? v : UINT16_MAX);
    }
}

void ptx_read_notes(ptx_module *m, const char *text, size_t size_bytes)
{
    const char *const end = text + size_bytes;
    size_t next = 0;
    int line = 1;
    m->has_notes = false;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        /* Statements are in the order of their lines. */
        while (next < m->statement_count && m->statements[next].line < line)
            next++;
        const char *note = next < m->statement_count && m->statements[next].line == line
                               ? find_note(text, stop)
                               : NULL;
        if (note) {
            read_note(note, stop, &m->statements[next].note);
            m->has_notes = true;
        }
        text = stop + 1;
        line++;
    }
}
