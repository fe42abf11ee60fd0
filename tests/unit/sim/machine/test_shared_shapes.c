/* Tests the wavefronts and bank conflicts of shared memory for many shapes of accesses. The
 * simulator must count as an H200 does. tests/bench/shared_shapes.py measured the counts of the
 * H200 (results/nvidia-h200/shared_shapes.csv). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sim/machine/counters.h"

enum { LINE_BYTES = 1024, LEAST_SHAPES = 400 };

typedef struct shape {
    char name[128], kind[16];
    unsigned bytes;
    unsigned long long requests, wavefronts, conflicts;
    uint64_t addresses[SIM_LANES];
    uint32_t mask;
} shape;

/* Reads a shape. Returns false for comments, the header, and kernels with more than one access. */
static bool read_shape(const char *line, shape *s)
{
    int used = 0;
    *s = (shape){.mask = 0};
    if (sscanf(line, "%127[^,],%15[^,],%u,%llu,%llu,%llu,%n", s->name, s->kind, &s->bytes,
               &s->requests, &s->wavefronts, &s->conflicts, &used) != 6)
        return false;
    const char *at = line + used;
    for (int l = 0; l < SIM_LANES; l++) {
        char *end = NULL;
        if (*at == '-') {
            at += 2;
            continue;
        }
        s->addresses[l] = strtoull(at, &end, 10);
        if (end == at)
            fail_msg("lane %d of %s has no offset", l, s->name);
        s->mask |= 1u << l;
        at = *end == ' ' ? end + 1 : end;
    }
    return true;
}

TEST(each_shape_counts_as_on_the_hardware)
{
    char line[LINE_BYTES];
    int shapes = 0, wide = 0;
    FILE *f = fopen(TEST_SOURCE_DIR "/results/nvidia-h200/shared_shapes.csv", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        shape s;
        sim_counter c = {0};
        if (!read_shape(line, &s))
            continue;
        bool atomic = strcmp(s.kind, "atomic") == 0;
        if (atomic)
            sim_counter_add_shared_atomic(&c, s.addresses, s.mask, s.bytes);
        else
            sim_counter_add_shared(&c, s.addresses, s.mask, s.bytes, strcmp(s.kind, "store") == 0);
        /* At the end of some loops with wide atomics, an H200 counts one wavefront less. */
        uint64_t slack = atomic && s.bytes > 4 ? 2 : 0;
        if (c.conflicts != s.conflicts || c.wavefronts < s.wavefronts ||
            c.wavefronts > s.wavefronts + slack)
            fail_msg("%s: %llu wavefronts and %llu conflicts, and %llu and %llu on the hardware",
                     s.name, (unsigned long long)c.wavefronts, (unsigned long long)c.conflicts,
                     s.wavefronts, s.conflicts);
        shapes++;
        wide += s.bytes > 4;
    }
    fclose(f);
    assert_true(shapes >= LEAST_SHAPES);
    assert_true(wide >= LEAST_SHAPES - 100);
}
