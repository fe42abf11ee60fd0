#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile/cubin.h"

enum { SECTIONS = 6, IMAGE_BYTES = 1024 };

static const char *const names[SECTIONS] = {
    "", ".shstrtab", ".nv.constant3", ".nv.constant0.k", ".nv.constant0.k2", ".nv.constantx.k"};
static const uint64_t sizes[SECTIONS] = {0, 0, 400, 364, 368, 5};

static void make_image(unsigned char image[IMAGE_BYTES])
{
    memset(image, 0, IMAGE_BYTES);
    Elf64_Ehdr h = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                    .e_machine = 190, /* machine number of CUDA */
                    .e_shoff = 64,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = SECTIONS,
                    .e_shstrndx = 1};
    memcpy(image, &h, sizeof h);
    size_t strings = 64 + SECTIONS * sizeof(Elf64_Shdr), at = strings;
    for (size_t i = 0; i < SECTIONS; i++) {
        Elf64_Shdr s = {.sh_name = (Elf64_Word)(at - strings), .sh_size = sizes[i]};
        strcpy((char *)image + at, names[i]);
        at += strlen(names[i]) + 1;
        memcpy(image + 64 + i * sizeof s, &s, sizeof s);
    }
    Elf64_Shdr s;
    memcpy(&s, image + 64 + sizeof s, sizeof s);
    s.sh_offset = strings;
    s.sh_size = at - strings;
    memcpy(image + 64 + sizeof s, &s, sizeof s);
}

TEST(the_kernels_own_banks_and_the_modules_are_added)
{
    unsigned char image[IMAGE_BYTES];
    make_image(image);
    assert_int_equal(cubin_constant_bytes(image, sizeof image, "k"), 764);
    assert_int_equal(cubin_constant_bytes(image, sizeof image, "k2"), 768);
    assert_int_equal(cubin_constant_bytes(image, sizeof image, "other"), 400);
}

TEST(a_cut_or_damaged_image_is_safe)
{
    unsigned char image[IMAGE_BYTES];
    for (size_t n = 0; n < IMAGE_BYTES; n++) {
        make_image(image);
        unsigned char *cut = malloc(n + 1); /* the sanitizer detects reads behind its end */
        assert_non_null(cut);
        memcpy(cut, image, n);
        unsigned char *exact = realloc(cut, n ? n : 1);
        assert_non_null(exact);
        uint32_t bytes = cubin_constant_bytes(exact, n, "k");
        assert_true(bytes <= 764);
        cubin_is_whole(exact, n);
        free(exact);
    }
    for (size_t i = 0; i < IMAGE_BYTES; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            make_image(image);
            image[i] ^= (unsigned char)(1u << bit);
            cubin_constant_bytes(image, sizeof image, "k");
            cubin_is_whole(image, sizeof image);
        }
    assert_int_equal(cubin_constant_bytes("", 0, "k"), 0);
}

static bool is_whole_with(size_t at, const void *bytes, size_t size_bytes)
{
    unsigned char image[IMAGE_BYTES];
    make_image(image);
    memcpy(image + at, bytes, size_bytes);
    return cubin_is_whole(image, sizeof image);
}

TEST(only_an_image_whose_parts_lie_within_it_is_whole)
{
    const uint64_t beyond = IMAGE_BYTES, around = UINT64_MAX - 63;
    const uint16_t many = 60000, other_machine = 62, one = 1;
    unsigned char image[IMAGE_BYTES];
    make_image(image);
    assert_true(cubin_is_whole(image, sizeof image));
    for (size_t n = 0; n < 64 + SECTIONS * sizeof(Elf64_Shdr); n++)
        assert_false(cubin_is_whole(image, n));
    assert_false(is_whole_with(offsetof(Elf64_Ehdr, e_machine), &other_machine, 2));
    assert_false(is_whole_with(offsetof(Elf64_Ehdr, e_shoff), &beyond, 8));
    assert_false(is_whole_with(offsetof(Elf64_Ehdr, e_shoff), &around, 8));
    assert_false(is_whole_with(offsetof(Elf64_Ehdr, e_shnum), &many, 2));
    assert_false(is_whole_with(offsetof(Elf64_Ehdr, e_shstrndx), &many, 2));
    /* The table of segments is too short, or its entries have another size. */
    assert_false(is_whole_with(offsetof(Elf64_Ehdr, e_phnum), &one, 2));
    const struct {
        uint16_t size, count;
    } segments = {sizeof(Elf64_Phdr), many};
    assert_false(is_whole_with(offsetof(Elf64_Ehdr, e_phentsize), &segments, 4));
    for (size_t i = 1; i < SECTIONS; i++) {
        size_t section = 64 + i * sizeof(Elf64_Shdr);
        const uint32_t contents = SHT_PROGBITS;
        make_image(image);
        memcpy(image + section + offsetof(Elf64_Shdr, sh_type), &contents, 4);
        memcpy(image + section + offsetof(Elf64_Shdr, sh_offset), &beyond, 8);
        if (sizes[i] > 0)
            assert_false(cubin_is_whole(image, sizeof image));
        make_image(image);
        memcpy(image + section + offsetof(Elf64_Shdr, sh_type), &contents, 4);
        memcpy(image + section + offsetof(Elf64_Shdr, sh_size), &around, 8);
        assert_false(cubin_is_whole(image, sizeof image));
        assert_false(is_whole_with(section + offsetof(Elf64_Shdr, sh_link), &many, 2));
    }
}
