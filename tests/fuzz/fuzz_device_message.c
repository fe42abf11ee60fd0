/* Fuzzes messages to and from a device worker. Any bytes must be read or refused, without a crash,
 * a leak, or a count beyond the message. The first byte selects the kind of message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_answer(pack *m)
{
    device_answer answer;
    if (!device_get_answer(m, &answer))
        return;
    if (answer.found.outcome >= OUTCOME_COUNT || answer.found.sample_count > m->size_bytes / 8 ||
        strlen(answer.message) > m->size_bytes)
        abort();
    device_event_deinit(&answer.found);
}

/* A message that was read to its end must pack to the same number of bytes. */
static void read_variant(pack *m)
{
    device_variant variant;
    device_get_variant(m, &variant);
    if (!pack_complete(m))
        return;
    pack again = {0};
    device_put_variant(&again, &variant);
    if (again.failed || again.size_bytes != m->size_bytes)
        abort();
    pack_deinit(&again);
}

static void read_problem(pack *m)
{
    device_problem problem;
    device_get_problem(m, &problem);
    if (pack_complete(m) && problem.plan.buffer_count > PLAN_MAX_BUFFERS)
        abort();
}

static void read_properties(pack *m)
{
    device_properties p;
    device_get_properties(m, &p);
    if (strlen(p.spec) >= sizeof p.spec || strlen(p.limits.name) >= sizeof p.limits.name)
        abort();
}

static void read_note(pack *m)
{
    device_note note;
    device_get_note(m, &note);
    if (strlen(note.what) > m->size_bytes)
        abort();
}

static void (*const readers[])(pack *) = {read_answer, read_variant, read_problem, read_properties,
                                          read_note};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    pack m = {0};
    m.bytes = malloc(size);
    if (!m.bytes)
        return 0;
    memcpy(m.bytes, data + 1, size - 1);
    m.size_bytes = size - 1;
    m.capacity_bytes = size;
    readers[data[0] % (sizeof readers / sizeof *readers)](&m);
    pack_deinit(&m);
    return 0;
}
