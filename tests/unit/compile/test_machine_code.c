/* Tests the notes on machine code at the ends of PTX lines. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "compile/machine_code.h"
#include "cubin_image.h"

enum { NO_BARRIER = 7, WORD = 4, TWO_WORDS = 5, TEXT = 2, LINE_BYTES = 80 };

static uint64_t upper(uint64_t size, uint64_t sets, uint64_t awaits)
{
    return size << 9 | sets << 46 | awaits << 52;
}

static const char ptx[] = "{\nld.global; ld.global;\nadd;\nfma; st.global;\n}\n";

/* Annotates PTX. Line 2 has two loads, line 3 an addition, and line 4 a store and an instruction
 * that waits for both loads. */
static char *annotate(unsigned char image[CUBIN_IMAGE_BYTES], size_t size_bytes)
{
    return machine_code_annotate(image, size_bytes, ptx);
}

/* Makes the cubin. Its last `own` instructions belong to a function that ptxas added. */
static void make(unsigned char image[CUBIN_IMAGE_BYTES], unsigned own)
{
    const uint64_t code[] = {0x981, upper(WORD, 0, 0),       0x981, upper(TWO_WORDS, 1, 0),
                             0x210, upper(0, NO_BARRIER, 0), 0x223, upper(0, NO_BARRIER, 3),
                             0x986, upper(0, NO_BARRIER, 0)};
    static const unsigned char lines[] = {
        /* length of the unit, version 2, length of the header */
        56, 0, 0, 0, 2, 0, 16, 0, 0, 0,
        /* instruction size, is_stmt, line base, line range, opcode base, operand counts */
        1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0,
        /* address 0, which is relocated; line 2 */
        0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 1, 1,
        /* 32 bytes on: line 3; 16 bytes on: line 4; end of the sequence */
        2, 32, 3, 1, 1, 2, 16, 3, 1, 1, 2, 32, 0, 1, 1, 0, 0, 0, 0, 0};
    _Static_assert(sizeof lines == 60, "its length is that of the unit");
    const Elf64_Rela relocation = {.r_offset = 29, .r_info = ELF64_R_INFO(1, 2)};
    static const char names[] = "\0$__internal_0_$slowpath";
    const Elf64_Sym symbols[] = {{0},
                                 {.st_shndx = TEXT},
                                 {.st_name = 1,
                                  .st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC),
                                  .st_shndx = TEXT,
                                  .st_value = sizeof code - own * 16,
                                  .st_size = own * 16}};
    const cubin_section_image sections[] = {
        {".text.%s", SHT_PROGBITS, code, sizeof code},
        {".nv_debug_line_sass", SHT_PROGBITS, lines, sizeof lines},
        {".rela.nv_debug_line_sass", SHT_RELA, &relocation, sizeof relocation},
        {".symtab", SHT_SYMTAB, symbols, sizeof symbols},
        {".strtab", SHT_STRTAB, names, sizeof names}};
    cubin_image_of(image, "k", sections, 5);
}

TEST(each_line_names_its_machine_instructions)
{
    unsigned char image[CUBIN_IMAGE_BYTES];
    make(image, 0);
    char *found = annotate(image, sizeof image);
    assert_non_null(found);
    assert_string_equal(found, "{\n"
                               "ld.global; ld.global; //@ 2 0 0 0 0 0 3\n"
                               "add; //@ 0 1 0 0 0 0 0\n"
                               "fma; st.global; //@ 2 0 0 0 0 0 0\n"
                               "}\n");
    free(found);
}

TEST(a_function_that_ptxas_added_belongs_to_no_line)
{
    unsigned char image[CUBIN_IMAGE_BYTES];
    make(image, 1);
    char *found = annotate(image, sizeof image);
    assert_non_null(found);
    assert_non_null(strstr(found, "fma; st.global; //@ 1 0 0 0 0 0 0\n"));
    free(found);
}

TEST(a_cubin_without_lines_says_nothing)
{
    unsigned char image[CUBIN_IMAGE_BYTES];
    cubin_image_make(image, "k", 1);
    assert_null(annotate(image, sizeof image));
    assert_null(machine_code_annotate("", 0, ptx));
}

TEST(a_damaged_cubin_is_safe)
{
    /* The image is on the heap, so that the sanitizer sees reads behind its end. */
    unsigned char *image = malloc(CUBIN_IMAGE_BYTES);
    assert_non_null(image);
    for (size_t i = 0; i < CUBIN_IMAGE_BYTES; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            make(image, 1);
            image[i] ^= (unsigned char)(1u << bit);
            free(annotate(image, CUBIN_IMAGE_BYTES));
        }
    free(image);
}
