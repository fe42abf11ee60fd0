#include "compile/code.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "compile/cubin.h"

/* Parts are added up: two images hold the same sections in another order. */
static void add(XXH128_hash_t *sum, XXH128_hash_t part)
{
    sum->low64 += part.low64;
    sum->high64 += part.high64;
}

static compile_code finish(XXH128_hash_t sum)
{
    compile_code code;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, sum);
    memcpy(code.bytes, canonical.digest, sizeof code.bytes);
    return code;
}

static bool starts_with(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

/* The attributes of .nv.info.<kernel>, each of a format, a number and a value of two bytes, which
 * for one format is the size of what follows. Two of them say nothing that a launch depends on:
 * where the kernel's parameters are begins with the number of a symbol, and the most registers that
 * it might have taken is not how many it takes. */
static bool add_attributes(XXH3_state_t *state, const unsigned char *bytes, size_t size_bytes)
{
    enum { SIZED = 4, PARAMETER_BANK = 0x0a, MOST_REGISTERS = 0x1b, SYMBOL_BYTES = 4 };
    for (size_t at = 0; at < size_bytes;) {
        if (size_bytes - at < 4)
            return false;
        const unsigned char *head = bytes + at;
        size_t size = head[0] == SIZED ? (size_t)(head[2] | head[3] << 8) : 0;
        at += 4;
        if (size > size_bytes - at || (head[1] == PARAMETER_BANK && size < SYMBOL_BYTES))
            return false;
        size_t skipped = head[1] == PARAMETER_BANK ? SYMBOL_BYTES : 0;
        if (head[1] != MOST_REGISTERS) {
            XXH3_128bits_update(state, head, 4);
            XXH3_128bits_update(state, bytes + at + skipped, size - skipped);
        }
        at += size;
    }
    return true;
}

/* Adds a section under the name `name`, which is without the kernel's. */
static bool add_section(XXH128_hash_t *sum, const char *name, const cubin_section *s)
{
    XXH3_state_t *state = XXH3_createState();
    const uint64_t shape[] = {s->type, s->alignment, s->size_bytes};
    bool attributes = strcmp(name, ".nv.info.") == 0, known = state != NULL;
    if (known) {
        XXH3_128bits_reset(state);
        XXH3_128bits_update(state, name, strlen(name) + 1);
        if (!attributes)
            XXH3_128bits_update(state, shape, sizeof shape);
        if (attributes)
            known = s->bytes && add_attributes(state, s->bytes, s->size_bytes);
        else if (s->bytes)
            XXH3_128bits_update(state, s->bytes, s->size_bytes);
        add(sum, XXH3_128bits_digest(state));
    }
    XXH3_freeState(state);
    return known;
}

/* Tells whether a section is of the module and not of a kernel: .nv.global, .nv.global.init,
 * .nv.constant3 ... */
static bool is_module_memory(const char *name)
{
    static const char constant[] = ".nv.constant";
    if (starts_with(name, ".nv.global"))
        return true;
    if (!starts_with(name, constant))
        return false;
    name += sizeof constant - 1;
    return name[strspn(name, "0123456789")] == '\0';
}

/* Tells whether a section is for debuggers, or the same code once more for other chips. */
static bool is_beside(const char *name)
{
    return starts_with(name, ".debug") || starts_with(name, ".nv_debug") ||
           starts_with(name, ".nv.merc") || starts_with(name, ".nv.capmerc");
}

/* *head: the section's name up to the kernel's, where it is of this kernel; which is the end of
 * it. */
static bool is_of_kernel(const char *name, const char *kernel, char *head, size_t head_bytes)
{
    size_t length = strlen(name), tail = strlen(kernel);
    if (length <= tail || length - tail >= head_bytes || name[length - tail - 1] != '.' ||
        strcmp(name + length - tail, kernel) != 0)
        return false;
    memcpy(head, name, length - tail);
    head[length - tail] = '\0';
    return true;
}

static bool add_kernel(XXH128_hash_t *sum, const void *cubin, size_t cubin_bytes,
                       const char *kernel)
{
    cubin_section s;
    char head[64];
    bool has_code = false;
    for (unsigned i = 0; cubin_read_section(cubin, cubin_bytes, i, &s); i++) {
        if (is_beside(s.name) || !is_of_kernel(s.name, kernel, head, sizeof head))
            continue;
        bool refers = starts_with(head, ".rel");
        if ((refers && s.size_bytes > 0) || (!refers && !add_section(sum, head, &s)))
            return false;
        has_code = has_code || strcmp(head, ".text.") == 0;
    }
    return has_code;
}

bool compile_code_of_cubin(const void *cubin, size_t cubin_bytes, const char *symbols,
                           compile_code *out)
{
    XXH128_hash_t sum = {0, 0};
    cubin_section s;
    if (!cubin_is_whole(cubin, cubin_bytes))
        return false;
    for (unsigned i = 0; cubin_read_section(cubin, cubin_bytes, i, &s); i++)
        if (is_module_memory(s.name) && s.size_bytes > 0 && !add_section(&sum, s.name, &s))
            return false;
    for (uint64_t place = 1; *symbols; place++) {
        XXH128_hash_t one = {0, 0};
        size_t length = strcspn(symbols, "\n");
        char *kernel = strndup(symbols, length);
        bool known = kernel && add_kernel(&one, cubin, cubin_bytes, kernel);
        free(kernel);
        if (!known)
            return false;
        add(&sum, XXH3_128bits_withSeed(&one, sizeof one, place));
        symbols += length + (symbols[length] == '\n');
    }
    *out = finish(sum);
    return true;
}

compile_code compile_code_of_ptx(const char *ptx)
{
    XXH128_hash_t sum = {0, 0};
    uint64_t line = 0;
    for (const char *at = ptx; *at;) {
        const char *start = at + strspn(at, " \t");
        size_t length = strcspn(start, "\n");
        at = start + length + (start[length] == '\n');
        if (length > 0 && !starts_with(start, "//") && !starts_with(start, ".loc") &&
            !starts_with(start, ".file"))
            add(&sum, XXH3_128bits_withSeed(start, length, ++line));
    }
    return finish(sum);
}
