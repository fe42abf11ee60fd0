#include "compile/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct image {
    const unsigned char *bytes;
    size_t size_bytes;
    Elf64_Ehdr header;
    Elf64_Shdr names; /* the section with the names of the sections */
} image;

/* Copies a struct out of the image, where it may be unaligned. */
static bool read_at(const image *m, uint64_t offset, void *out, size_t size_bytes)
{
    if (offset > m->size_bytes || m->size_bytes - offset < size_bytes)
        return false;
    memcpy(out, m->bytes + offset, size_bytes);
    return true;
}

static bool read_section(const image *m, unsigned index, Elf64_Shdr *out)
{
    uint64_t offset = m->header.e_shoff;
    uint64_t step = (uint64_t)index * sizeof *out;
    return offset <= UINT64_MAX - step && read_at(m, offset + step, out, sizeof *out);
}

static bool open_image(image *m)
{
    return read_at(m, 0, &m->header, sizeof m->header) &&
           memcmp(m->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           m->header.e_ident[EI_CLASS] == ELFCLASS64 && m->header.e_ident[EI_DATA] == ELFDATA2LSB &&
           m->header.e_shentsize == sizeof(Elf64_Shdr) &&
           read_section(m, m->header.e_shstrndx, &m->names) &&
           m->names.sh_offset <= m->size_bytes &&
           m->names.sh_size <= m->size_bytes - m->names.sh_offset;
}

/* Returns the name of a section, or NULL if it does not end within the image. */
static const char *section_name(const image *m, const Elf64_Shdr *s)
{
    if (s->sh_name >= m->names.sh_size)
        return NULL;
    const unsigned char *at = m->bytes + m->names.sh_offset + s->sh_name;
    return memchr(at, '\0', m->names.sh_size - s->sh_name) ? (const char *)at : NULL;
}

static bool lies_within(const image *m, uint64_t offset, uint64_t size_bytes)
{
    return offset <= m->size_bytes && size_bytes <= m->size_bytes - offset;
}

static bool sections_are_whole(const image *m)
{
    Elf64_Shdr s;
    for (unsigned i = 0; i < m->header.e_shnum; i++) {
        if (!read_section(m, i, &s) || s.sh_link >= m->header.e_shnum)
            return false;
        bool in_file = s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL;
        if (in_file && (!lies_within(m, s.sh_offset, s.sh_size) || !section_name(m, &s)))
            return false;
        if (in_file && s.sh_entsize > s.sh_size && s.sh_size > 0)
            return false;
    }
    return m->header.e_shstrndx < m->header.e_shnum;
}

static bool segments_are_whole(const image *m)
{
    Elf64_Phdr p;
    if (m->header.e_phnum > 0 && m->header.e_phentsize != sizeof p)
        return false;
    for (unsigned i = 0; i < m->header.e_phnum; i++) {
        uint64_t step = (uint64_t)i * sizeof p;
        if (m->header.e_phoff > m->size_bytes ||
            !read_at(m, m->header.e_phoff + step, &p, sizeof p) ||
            !lies_within(m, p.p_offset, p.p_filesz))
            return false;
    }
    return true;
}

bool cubin_is_whole(const void *cubin, size_t cubin_bytes)
{
    enum { MACHINE_CUDA = 190 };
    image m = {.bytes = cubin, .size_bytes = cubin_bytes};
    return open_image(&m) && m.header.e_machine == MACHINE_CUDA && m.header.e_shnum > 0 &&
           sections_are_whole(&m) && segments_are_whole(&m);
}

bool cubin_read_section(const void *cubin, size_t cubin_bytes, unsigned index, cubin_section *out)
{
    image m = {.bytes = cubin, .size_bytes = cubin_bytes};
    Elf64_Shdr s;
    if (!open_image(&m) || index >= m.header.e_shnum || !read_section(&m, index, &s))
        return false;
    const char *name = section_name(&m, &s);
    bool in_file =
        s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL && lies_within(&m, s.sh_offset, s.sh_size);
    *out = (cubin_section){.name = name ? name : "",
                           .bytes = in_file ? m.bytes + s.sh_offset : NULL,
                           .type = s.sh_type,
                           .alignment = s.sh_addralign,
                           .size_bytes = in_file || s.sh_type == SHT_NOBITS ? s.sh_size : 0};
    return true;
}

static bool is_constant_of(const char *name, const char *entry)
{
    static const char prefix[] = ".nv.constant";
    if (!name || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    name += sizeof prefix - 1;
    size_t digits = strspn(name, "0123456789");
    if (digits == 0)
        return false;
    name += digits;
    return *name == '\0' || (*name == '.' && strcmp(name + 1, entry) == 0);
}

uint32_t cubin_constant_bytes(const void *cubin, size_t cubin_bytes, const char *entry)
{
    image m = {.bytes = cubin, .size_bytes = cubin_bytes};
    if (!open_image(&m))
        return 0;
    uint64_t total = 0;
    Elf64_Shdr s;
    for (unsigned i = 0; i < m.header.e_shnum && read_section(&m, i, &s); i++)
        if (is_constant_of(section_name(&m, &s), entry) && s.sh_size <= UINT32_MAX)
            total += s.sh_size;
    return total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
}

/* Adds a hash to a sum, which does not depend on the order of the sections. */
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

/* Hashes the attributes in .nv.info.<kernel>. An attribute has a format, a number and a two-byte
 * value. For the format SIZED, the value is the size of the data that follows. Two parts that do
 * not change a launch are left out: the symbol number at the start of the parameter bank, and the
 * register limit. Returns false if the section is malformed. */
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

/* Returns true if the section is the module's: .nv.global, .nv.global.init, .nv.constant3 ... */
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

/* Returns true if the section is for debuggers or repeats the code for other chips. */
static bool is_debug_section(const char *name)
{
    return starts_with(name, ".debug") || starts_with(name, ".nv_debug") ||
           starts_with(name, ".nv.merc") || starts_with(name, ".nv.capmerc");
}

/* Returns true if the section's name ends with the kernel's name. `head` receives the rest. */
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
        if (is_debug_section(s.name) || !is_of_kernel(s.name, kernel, head, sizeof head))
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
