#include "compile/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

typedef struct image {
    const unsigned char *bytes;
    size_t size_bytes;
    Elf64_Ehdr header;
    Elf64_Shdr names; /* the section that holds the sections' names */
} image;

/* Copies a struct out of the image, which need not be aligned. */
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

/* NULL when it has none that ends within the image. */
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
