#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/image.h"
#include "check.h"

enum { PTX = 1, CUBIN = 2, LZ4 = 0x2000, ZSTD = 0x8000, ROOM = 1 << 16 };

static const char with_a[] = ".version 8.0\n.visible .entry a(\n)\n{ ret; }\n";
static const char with_b[] = ".version 8.0\n.visible .entry ab(\n)\n{ ret; }\n";

typedef struct fatbin {
    char bytes[ROOM];
    size_t size_bytes;
} fatbin;

static void put(char *at, uint64_t v, size_t bytes)
{
    memcpy(at, &v, bytes);
}

static void begin(fatbin *f)
{
    memset(f, 0, sizeof *f);
    put(f->bytes, 0xba55ed50, 4);
    put(f->bytes + 4, 1, 2);
    put(f->bytes + 6, 16, 2);
    f->size_bytes = 16;
}

static void add(fatbin *f, int kind, unsigned arch, unsigned flags, const void *payload,
                size_t payload_bytes, size_t unpacked_bytes)
{
    enum { HEADER = 80 };
    char *at = f->bytes + f->size_bytes;
    const size_t padded = (payload_bytes + 7) / 8 * 8;
    put(at, (uint64_t)kind, 2);
    put(at + 4, HEADER, 4);
    put(at + 8, padded, 8);
    put(at + 16, flags ? payload_bytes : 0, 4);
    put(at + 28, arch, 4);
    put(at + 40, flags, 8);
    put(at + 56, unpacked_bytes, 8);
    memcpy(at + HEADER, payload, payload_bytes);
    f->size_bytes += HEADER + padded;
    put(f->bytes + 8, f->size_bytes - 16, 8);
}

static char *ptx_of(const fatbin *f, const char *kernel, const char *arch, at_error *error)
{
    char *ptx = NULL;
    image_ptx(f->bytes, f->size_bytes, kernel, arch, "module", &ptx, error);
    return ptx;
}

TEST(text_is_taken_as_it_is)
{
    at_error error = {0};
    char *ptx = NULL;
    assert_ok(image_ptx(with_a, sizeof with_a - 1, "a", "sm_90", "module", &ptx, &error), error);
    assert_string_equal(ptx, with_a);
    free(ptx);
}

TEST(a_kernel_name_that_is_only_a_prefix_is_another_kernel)
{
    at_error error = {0};
    char *ptx = NULL;
    assert_int_equal(image_ptx(with_b, sizeof with_b - 1, "a", "sm_90", "module", &ptx, &error),
                     AT_NOT_FOUND);
    assert_null(ptx);
}

TEST(the_newest_image_that_the_gpu_supports_is_used)
{
    static const char newer[] = ".version 8.1\n.visible .entry a(\n)\n{ ret; }\n";
    at_error error = {0};
    fatbin f;
    begin(&f);
    add(&f, PTX, 80, 0, newer, sizeof newer, 0);
    add(&f, PTX, 70, 0, with_a, sizeof with_a, 0);
    add(&f, PTX, 86, 0, with_b, sizeof with_b, 0);
    add(&f, PTX, 100, 0, with_a, sizeof with_a, 0);
    char *ptx = ptx_of(&f, "a", "sm_90", &error);
    assert_string_equal(ptx, newer);
    free(ptx);
    ptx = ptx_of(&f, "a", "sm_75", &error);
    assert_string_equal(ptx, with_a);
    free(ptx);
}

TEST(without_ptx_the_error_names_the_compiler_option_to_add)
{
    at_error error = {0};
    fatbin f;
    begin(&f);
    add(&f, CUBIN, 90, 0, "\177ELF", 4, 0);
    assert_null(ptx_of(&f, "a", "sm_90", &error));
    assert_int_equal(error.status, AT_NO_DEVICE);
    assert_non_null(strstr(error.message, "-gencode arch=compute_90,code=compute_90"));
}

/* Packs literals, then a copy that overlaps its own output, then more literals: "ab" * 10 and
 * `tail`. */
static size_t pack_lz4(unsigned char *to, const char *tail)
{
    size_t n = 0, length = strlen(tail);
    to[n++] = 2 << 4 | 14; /* 2 literals, then a copy of 18 bytes from 2 bytes before */
    to[n++] = '/';
    to[n++] = '/';
    to[n++] = 2;
    to[n++] = 0;
    to[n++] = 15 << 4;
    to[n++] = (unsigned char)(length - 15);
    memcpy(to + n, tail, length);
    return n + length;
}

TEST(lz4_is_unpacked)
{
    at_error error = {0};
    fatbin f;
    unsigned char packed[512];
    char whole[512];
    snprintf(whole, sizeof whole, "////////////////////%s", with_a);
    const size_t bytes = pack_lz4(packed, with_a);
    begin(&f);
    add(&f, PTX, 80, LZ4, packed, bytes, strlen(whole));
    char *ptx = ptx_of(&f, "a", "sm_90", &error);
    assert_non_null(ptx);
    assert_string_equal(ptx, whole);
    free(ptx);
}

TEST(damage_is_found_at_every_byte_or_does_no_harm)
{
    fatbin f;
    unsigned char packed[512];
    const size_t bytes = pack_lz4(packed, with_a);
    for (size_t i = 0; i < 16 + 80 + bytes; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            at_error error = {0};
            begin(&f);
            add(&f, PTX, 80, LZ4, packed, bytes, 20 + strlen(with_a));
            f.bytes[i] ^= (char)(1 << bit);
            char *ptx = ptx_of(&f, "a", "sm_90", &error);
            assert_true(ptx || error.status != AT_OK);
            free(ptx);
        }
}

TEST(zstandard_is_unpacked_if_its_library_is_installed)
{
    size_t (*compress)(void *, size_t, const void *, size_t, int);
    void *library = dlopen("libzstd.so.1", RTLD_NOW);
    void *address = library ? dlsym(library, "ZSTD_compress") : NULL;
    at_error error = {0};
    fatbin f;
    char packed[512];
    memcpy(&compress, &address, sizeof compress);
    begin(&f);
    if (!address) {
        add(&f, PTX, 80, ZSTD, with_a, sizeof with_a, sizeof with_a);
        assert_null(ptx_of(&f, "a", "sm_90", &error));
        assert_non_null(strstr(error.message, "libzstd1"));
        return;
    }
    const size_t bytes = compress(packed, sizeof packed, with_a, sizeof with_a, 1);
    add(&f, PTX, 80, ZSTD, packed, bytes, sizeof with_a);
    char *ptx = ptx_of(&f, "a", "sm_90", &error);
    assert_string_equal(ptx, with_a);
    free(ptx);
    f.bytes[16 + 80 + 5] ^= 0x55;
    assert_null(ptx_of(&f, "a", "sm_90", &error));
    dlclose(library);
}

TEST(variables_are_those_of_the_module)
{
    static const char ptx[] = ".version 8.0\n"
                              ".const .align 4 .b8 weights[20] = {0, 1, 2};\n"
                              ".visible .global .align 4 .u32 counter;\n"
                              ".extern .shared .align 16 .b8 pool[];\n"
                              ".global .texref none;\n"
                              ".global .align 8 .u64 table[2] = {generic(weights), 0};\n"
                              ".visible .entry a()\n{\n\t.global .u32 inner;\n}\n";
    static const char *const names[] = {"weights", "counter", "none", "table"};
    char name[IMAGE_NAME_BYTES];
    size_t i = 0;
    for (const char *at = ptx; (at = image_next_variable(at, name)) != NULL; i++) {
        assert_true(i < sizeof names / sizeof *names);
        assert_string_equal(name, names[i]);
    }
    assert_int_equal(i, sizeof names / sizeof *names);
}
