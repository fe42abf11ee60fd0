/* A hand-made cubin with one kernel. Parts that only the driver needs are missing. */
#ifndef AUTOTUNE_TEST_CUBIN_IMAGE_H
#define AUTOTUNE_TEST_CUBIN_IMAGE_H

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { CUBIN_IMAGE_BYTES = 2048, CUBIN_IMAGE_SECTIONS = 8 };

typedef struct cubin_section_image {
    const char *name; /* a format string, which gets the name of the kernel */
    uint32_t type;
    const void *bytes;
    uint64_t size_bytes;
} cubin_section_image;

/* Writes an image with these sections (at most six) and the sections that every image has. */
static inline void cubin_image_of(unsigned char image[CUBIN_IMAGE_BYTES], const char *kernel,
                                  const cubin_section_image *sections, size_t count)
{
    const size_t names = sizeof(Elf64_Ehdr) + CUBIN_IMAGE_SECTIONS * sizeof(Elf64_Shdr);
    size_t name = names + 1, at = names + 512;
    memset(image, 0, CUBIN_IMAGE_BYTES);
    Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                    .e_machine = 190, /* machine number of CUDA */
                    .e_shoff = sizeof h,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = (Elf64_Half)(count + 2),
                    .e_shstrndx = 1};
    memcpy(image, &h, sizeof h);
    Elf64_Shdr table = {.sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = 512};
    memcpy(image + sizeof h + sizeof table, &table, sizeof table);
    for (size_t i = 0; i < count; i++) {
        Elf64_Shdr s = {.sh_name = (Elf64_Word)(name - names),
                        .sh_type = sections[i].type,
                        .sh_offset = at,
                        .sh_addralign = 4,
                        .sh_size = sections[i].size_bytes};
        char *text = (char *)image + name;
        name += (size_t)sprintf(text, sections[i].name, kernel) + 1;
        memcpy(image + sizeof h + (i + 2) * sizeof s, &s, sizeof s);
        if (sections[i].type == SHT_NOBITS || s.sh_size == 0)
            continue;
        memcpy(image + at, sections[i].bytes, s.sh_size);
        at += s.sh_size;
    }
}

/* Writes an image whose instructions are `code`. */
static inline void cubin_image_make(unsigned char image[CUBIN_IMAGE_BYTES], const char *kernel,
                                    unsigned code)
{
    cubin_image_of(image, kernel,
                   &(cubin_section_image){".text.%s", SHT_PROGBITS, &code, sizeof code}, 1);
}

#endif
