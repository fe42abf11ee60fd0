#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"
#include "fake_stream.h"

/* Returns an argument by its index and type. */
#define POINTER(l, i) (*(unsigned char **)(l)->arguments[i])
#define U64(l, i) (*(const uint64_t *)(l)->arguments[i])
#define U32(l, i) (*(const uint32_t *)(l)->arguments[i])
#define F64(l, i) (*(const double *)(l)->arguments[i])

/* Fields of the result block of templates/device_support.cu. */
enum { WRONG, FIRST_INVERTED, MAGNITUDE, SUM, BEFORE_INVERTED, AFTER_INVERTED };

enum {
    TYPE_FLOAT = 10,
    TYPES = 12,
    FILL_VALUES = 4
}; /* values of dtype (base/value.h) and of buffer_fill (device/plan.h) */

static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void raise_to(uint64_t *word, uint64_t v)
{
    if (v > *word)
        *word = v;
}

/* support kernels, with the arguments of templates/device_support.cu */

static fake_end fill(const fake_launch *l)
{
    static const unsigned char bytes[TYPES] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    uint64_t count = U64(l, 1), seed = U64(l, 5);
    uint32_t type = U32(l, 2), size = bytes[type];
    for (uint64_t i = 0; i < count; i++) {
        uint64_t r = U32(l, 3) == FILL_VALUES ? 0 : random_bits(seed, i);
        float x = (float)(int64_t)(r >> 40) * 0x1p-23f - 1.0f;
        double wide = x;
        memcpy(POINTER(l, 0) + size * i,
               type < 10            ? (const void *)&r
               : type == TYPE_FLOAT ? (const void *)&x
                                    : (const void *)&wide,
               size);
    }
    return FAKE_OK;
}

enum { BAND_BYTES = 1 << 16 };

/* Returns the contents of a guard band of BAND_BYTES. The bands of all buffers and patterns start
 * at different positions of the same noise. */
static const unsigned char *band_of(const fake_launch *l, bool after)
{
    static uint64_t noise[2 * BAND_BYTES / sizeof(uint64_t)];
    for (uint64_t i = 0; noise[0] == 0 && i < sizeof noise / sizeof *noise; i++)
        noise[sizeof noise / sizeof *noise - 1 - i] = random_bits(1, i);
    return (const unsigned char *)noise +
           random_bits(U64(l, 5) + U32(l, 4) + after, 0) % BAND_BYTES;
}

static void set_band(const fake_launch *l, bool after)
{
    uint64_t size = U64(l, 2);
    for (uint64_t i = 0; i < size; i += BAND_BYTES)
        memcpy(POINTER(l, after) + i, band_of(l, after),
               size - i < BAND_BYTES ? size - i : BAND_BYTES);
}

static fake_end guards_set(const fake_launch *l)
{
    set_band(l, false);
    set_band(l, true);
    return FAKE_OK;
}

static void check_band(const fake_launch *l, bool after)
{
    const unsigned char *found = POINTER(l, after), *right = band_of(l, after);
    uint64_t *results = (uint64_t *)POINTER(l, 6), size = U64(l, 2);
    for (uint64_t i = 0; i < size; i += BAND_BYTES) {
        uint64_t count = size - i < BAND_BYTES ? size - i : BAND_BYTES;
        if (memcmp(found + i, right, count) == 0)
            continue;
        for (uint64_t k = 0; k < count; k++)
            if (found[i + k] != right[k])
                raise_to(&results[after ? AFTER_INVERTED : BEFORE_INVERTED],
                         after ? ~(i + k + 1) : ~(size - i - k));
    }
}

static fake_end guards_check(const fake_launch *l)
{
    check_band(l, false);
    check_band(l, true);
    return FAKE_OK;
}

static fake_end compare_exact(const fake_launch *l)
{
    uint64_t *results = (uint64_t *)POINTER(l, 4), width = U32(l, 3);
    for (uint64_t i = 0; i < U64(l, 2) / width; i++)
        if (memcmp(POINTER(l, 0) + i * width, POINTER(l, 1) + i * width, width) != 0) {
            results[WRONG]++;
            raise_to(&results[FIRST_INVERTED], ~i);
        }
    return FAKE_OK;
}

static fake_end magnitude(const fake_launch *l)
{
    const float *expected = (const float *)POINTER(l, 0);
    double largest = 0;
    for (uint64_t i = 0; i < U64(l, 1); i++)
        largest = fmax(largest, fabs((double)expected[i]));
    memcpy((uint64_t *)POINTER(l, 3) + MAGNITUDE, &largest, sizeof largest);
    return FAKE_OK;
}

/* Kinds of tolerance that the fake supports: relative to the largest magnitude, and in ULPs. */
enum { SCALED = 1, ULPS = 4 };

static fake_end compare_close(const fake_launch *l)
{
    const float *found = (const float *)POINTER(l, 0), *expected = (const float *)POINTER(l, 1);
    uint64_t *results = (uint64_t *)POINTER(l, 6);
    double largest;
    memcpy(&largest, &results[MAGNITUDE], sizeof largest);
    for (uint64_t i = 0; i < U64(l, 2); i++) {
        float next = expected[i];
        for (double steps = 0; U32(l, 4) == ULPS && steps < F64(l, 5) && next != found[i]; steps++)
            next = nextafterf(next, found[i]);
        double error = fabs((double)found[i] - (double)next);
        if (error <= (U32(l, 4) == SCALED ? F64(l, 5) * largest : 0))
            continue;
        results[WRONG]++;
        raise_to(&results[FIRST_INVERTED], ~i);
    }
    return FAKE_OK;
}

static fake_end checksum(const fake_launch *l)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < U64(l, 1); i++)
        sum += random_bits(POINTER(l, 0)[i], i);
    ((uint64_t *)POINTER(l, 2))[SUM] = sum;
    return FAKE_OK;
}

static fake_end flush(const fake_launch *l)
{
    (void)l;
    return FAKE_OK;
}

static fake_end gate(const fake_launch *l)
{
    fake_gate((const volatile uint32_t *)POINTER(l, 0), U32(l, 1));
    return FAKE_OK;
}

static fake_end clock_reading(const fake_launch *l)
{
    uint64_t *out = (uint64_t *)POINTER(l, 0);
    for (uint32_t sm = 0; sm < U32(l, 1); sm++) {
        out[2 * sm] = fake_time_ns() * 3 / 2;
        out[2 * sm + 1] = fake_time_ns();
    }
    return FAKE_OK;
}

/* Variants with the arguments (const float *src, float *dst, uint64_t count). The right result is
 * dst = src. */

static fake_end good(const fake_launch *l)
{
    memcpy(POINTER(l, 1), POINTER(l, 0), 4 * U64(l, 2));
    return FAKE_OK;
}

/* Arguments: (src, dst, count, time_ns). */
static fake_end timed(const fake_launch *l)
{
    fake_spend(U64(l, 3));
    return good(l);
}

static fake_end skips_last(const fake_launch *l)
{
    memcpy(POINTER(l, 1), POINTER(l, 0), 4 * U64(l, 2) - 4);
    return FAKE_OK;
}

/* Is right only if the count is a multiple of 32. */
static fake_end skips_edge(const fake_launch *l)
{
    memcpy(POINTER(l, 1), POINTER(l, 0), 4 * (U64(l, 2) / 32 * 32));
    return FAKE_OK;
}

/* Arguments: (src, dst, count, time_ns, whole). Acts like skips_edge(), unless `whole` is set. */
static fake_end timed_edge(const fake_launch *l)
{
    fake_spend(U64(l, 3));
    return U64(l, 4) ? good(l) : skips_edge(l);
}

/* Copies, but swaps two neighbours, so the sum of the elements stays the same. */
static fake_end swaps_pair(const fake_launch *l)
{
    good(l);
    float *dst = (float *)POINTER(l, 1);
    float first = dst[10];
    dst[10] = dst[11];
    dst[11] = first;
    return FAKE_OK;
}

static fake_end writes_past(const fake_launch *l)
{
    good(l);
    POINTER(l, 1)[4 * U64(l, 2)] ^= 1;
    return FAKE_OK;
}

/* Also copies the bytes after the end of src to the bytes after the end of dst. */
static fake_end copies_past(const fake_launch *l)
{
    good(l);
    memcpy(POINTER(l, 1) + 4 * U64(l, 2), POINTER(l, 0) + 4 * U64(l, 2), 64);
    return FAKE_OK;
}

/* Is right unless the value after the input is a NaN. */
static fake_end reads_past(const fake_launch *l)
{
    float behind;
    good(l);
    memcpy(&behind, POINTER(l, 0) + 4 * U64(l, 2), sizeof behind);
    if (behind != 0)
        POINTER(l, 1)[0] ^= 1;
    return FAKE_OK;
}

static fake_end fails_the_sixth_time(const fake_launch *l)
{
    static int launches;
    good(l);
    if (++launches % 6 == 0)
        POINTER(l, 1)[0] ^= 1;
    return FAKE_OK;
}

/* Is right only if the module's variable has the value that the module defines. */
static fake_end right_once(const fake_launch *l)
{
    good(l);
    if (l->variable[0]++)
        POINTER(l, 1)[0] ^= 1;
    return FAKE_OK;
}

static fake_end into_variable(const fake_launch *l)
{
    memcpy(l->variable, POINTER(l, 0), 4 * U64(l, 2));
    return FAKE_OK;
}

static fake_end writes_before(const fake_launch *l)
{
    good(l);
    POINTER(l, 1)[-3] ^= 1;
    return FAKE_OK;
}

static fake_end changes_input(const fake_launch *l)
{
    good(l);
    POINTER(l, 0)[0] += 1;
    return FAKE_OK;
}

static fake_end zeros(const fake_launch *l)
{
    memset(POINTER(l, 1), 0, 4 * U64(l, 2));
    return FAKE_OK;
}

/* Increments a byte in the middle of every allocation. */
static fake_end wild(const fake_launch *l)
{
    const unsigned char **starts;
    const size_t *sizes;
    size_t count = fake_allocations(&starts, &sizes);
    for (size_t i = 0; i < count; i++)
        *(unsigned char *)(uintptr_t)(starts[i] + sizes[i] / 2) += 1;
    return good(l);
}

/* Is right within 1e-6, with other results in each launch. */
static fake_end unstable(const fake_launch *l)
{
    static int launches;
    good(l);
    ((float *)POINTER(l, 1))[5] += ++launches % 2 ? 1e-7f : 2e-7f;
    return FAKE_OK;
}

static fake_end close_to(const fake_launch *l)
{
    good(l);
    ((float *)POINTER(l, 1))[5] += 1e-7f;
    return FAKE_OK;
}

static fake_end not_a_number(const fake_launch *l)
{
    good(l);
    ((float *)POINTER(l, 1))[5] = NAN;
    return FAKE_OK;
}

/* Adds src to dst, which is an input and an output. */
static fake_end add(const fake_launch *l)
{
    const float *src = (const float *)POINTER(l, 0);
    float *dst = (float *)POINTER(l, 1);
    for (uint64_t i = 0; i < U64(l, 2); i++)
        dst[i] += src[i];
    return FAKE_OK;
}

static fake_end hang(const fake_launch *l)
{
    (void)l;
    return FAKE_HANGS;
}

static fake_end illegal(const fake_launch *l)
{
    (void)l;
    return FAKE_ILLEGAL_ADDRESS;
}

static fake_end misaligned(const fake_launch *l)
{
    (void)l;
    return FAKE_MISALIGNED;
}

/* Hangs from the second launch on, so the variant passes its check and hangs in a race. */
static fake_end late_hang(const fake_launch *l)
{
    static int launches;
    good(l);
    return ++launches > 1 ? FAKE_HANGS : FAKE_OK;
}

static fake_end late_fault(const fake_launch *l)
{
    static int launches;
    good(l);
    return ++launches > 1 ? FAKE_ILLEGAL_ADDRESS : FAKE_OK;
}

/* Hangs after a number of launches that is enough for a check and a few samples. */
static fake_end tires(const fake_launch *l)
{
    static int launches;
    good(l);
    return ++launches > 30 ? FAKE_HANGS : FAKE_OK;
}

static fake_end abort_driver(const fake_launch *l)
{
    (void)l;
    abort();
}

/* kernels of lua/transfer.lua */

static uint32_t mix(uint32_t x, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

/* Arguments: (src, dst, piece_bytes, src_pitch, dst_pitch, rounds), the index of the chunk's first
 * byte, and the chunk's size in bytes. */
static fake_end transfer(const fake_launch *l)
{
    for (uint64_t at = U64(l, 6); at < U64(l, 6) + U64(l, 7); at += 4) {
        uint64_t piece = at / U64(l, 2), within = at % U64(l, 2);
        uint32_t x;
        memcpy(&x, POINTER(l, 0) + piece * U64(l, 3) + within, sizeof x);
        x = mix(x, U64(l, 5));
        memcpy(POINTER(l, 1) + piece * U64(l, 4) + within, &x, sizeof x);
    }
    return FAKE_OK;
}

/* Does the same as transfer(), and copies the word after the chunk. */
static fake_end transfer_past(const fake_launch *l)
{
    uint32_t x = 0x12345678;
    memcpy(POINTER(l, 1) + U64(l, 6) + U64(l, 7), &x, sizeof x);
    return transfer(l);
}

/* Returns the time of the kernel: 1 ns for 100 bytes in each round, plus 1 ns for 20 bytes in host
 * memory. */
static uint64_t transfer_ns(const fake_launch *l)
{
    bool mapped = fake_is_pinned(POINTER(l, 0)) || fake_is_pinned(POINTER(l, 1));
    return U64(l, 7) * (1 + U64(l, 5)) / 100 + (mapped ? U64(l, 7) / 20 : 0);
}

/* Arguments: (src, dst, words, rounds). */
static fake_end transfer_reference(const fake_launch *l)
{
    for (uint64_t i = 0; i < U64(l, 2); i++)
        ((uint32_t *)POINTER(l, 1))[i] = mix(((const uint32_t *)POINTER(l, 0))[i], U64(l, 3));
    return FAKE_OK;
}

/* kernels of lua/ceilings and their references */

/* Arguments: (src, sum, n, passes). */
static fake_end sum_passes(const fake_launch *l, uint64_t passes)
{
    uint32_t own = 0, word;
    for (uint64_t i = 0; i < U64(l, 2); i++) {
        memcpy(&word, POINTER(l, 0) + 4 * i, sizeof word);
        own += word;
    }
    memcpy(&word, POINTER(l, 1), sizeof word);
    word += own * (uint32_t)passes;
    memcpy(POINTER(l, 1), &word, sizeof word);
    return FAKE_OK;
}

static fake_end ceiling_read(const fake_launch *l)
{
    return sum_passes(l, 1);
}

static fake_end ceiling_l2(const fake_launch *l)
{
    return sum_passes(l, U64(l, 3));
}

static fake_end ceiling_l1(const fake_launch *l)
{
    return sum_passes(l, U64(l, 3));
}

static fake_end ceiling_write(const fake_launch *l)
{
    for (uint32_t i = 0; i < U64(l, 1); i++)
        ((uint32_t *)POINTER(l, 0))[i] = i * 2654435761u;
    return FAKE_OK;
}

/* Arguments: (src, sums, warps, passes). */
static fake_end ceiling_shared(const fake_launch *l)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 1024; i++)
        sum += ((const uint32_t *)POINTER(l, 0))[i];
    for (uint64_t i = 0; i < U64(l, 2); i++)
        ((uint32_t *)POINTER(l, 1))[i] = sum * (uint32_t)U64(l, 3);
    return FAKE_OK;
}

/* Returns the number of bytes from `at` to the end of its buffer, where a guard band begins. Only
 * the source has the size of the elements, and the fake cannot read the source. */
static size_t room_behind(const unsigned char *at)
{
    enum { GUARD_BYTES = 64 * 1024 };
    const unsigned char **starts;
    const size_t *sizes;
    size_t count = fake_allocations(&starts, &sizes);
    for (size_t i = 0; i < count; i++)
        if (at >= starts[i] && at < starts[i] + sizes[i])
            return (size_t)(starts[i] + sizes[i] - at) - GUARD_BYTES;
    return 0;
}

/* Arguments: (src, dst, n, rounds). Only tests on the simulated device check the arithmetic. */
static fake_end ceiling_flops(const fake_launch *l)
{
    uint64_t n = U64(l, 2);
    bool wide = room_behind(POINTER(l, 1)) >= 8 * n;
    memcpy(POINTER(l, 1), POINTER(l, 0), (wide ? 8 : 4) * n);
    return FAKE_OK;
}

/* Arguments: (counts, last, n, words). */
static fake_end ceiling_atomics(const fake_launch *l)
{
    for (uint64_t i = 0; i < U64(l, 3); i++)
        ((uint32_t *)POINTER(l, 0))[i] += (uint32_t)(U64(l, 2) / U64(l, 3));
    return FAKE_OK;
}

static fake_end ceiling_launches(const fake_launch *l)
{
    ((uint32_t *)POINTER(l, 0))[U64(l, 1)] = (uint32_t)U64(l, 1) + 1;
    return FAKE_OK;
}

static fake_end launches_reference(const fake_launch *l)
{
    for (uint32_t i = 0; i < U64(l, 1); i++)
        ((uint32_t *)POINTER(l, 0))[i] = i + 1;
    return FAKE_OK;
}

/* Arguments: (dst, n). */
static fake_end ceiling_blocks(const fake_launch *l)
{
    *(uint32_t *)POINTER(l, 0) = (uint32_t)U64(l, 1);
    return FAKE_OK;
}

/* Arguments: (src, place, n, steps). All words are equal, because only the source has the stride,
 * and the fake cannot read the source. */
static fake_end ceiling_round_trips(const fake_launch *l)
{
    uint32_t sum = 0;
    for (uint64_t i = 0; i < U64(l, 3); i++)
        sum += ((const uint32_t *)POINTER(l, 0))[i % U64(l, 2)];
    *(uint32_t *)POINTER(l, 1) = sum;
    return FAKE_OK;
}

static fake_end round_trips_reference(const fake_launch *l)
{
    *(uint32_t *)POINTER(l, 1) = ((const uint32_t *)POINTER(l, 0))[U64(l, 2) - 1];
    return FAKE_OK;
}

/* Arguments: (words, sum, n, runs). Writes the words even if the source only reads them. */
static fake_end ceiling_pieces(const fake_launch *l)
{
    const uint32_t places = (uint32_t)(U64(l, 2) / 8);
    for (uint32_t i = 0; i < 2 * U64(l, 3); i++) {
        const uint32_t vector[4] = {i, 1, 2, 3};
        const size_t place = i / 2 * 2654435761u % places;
        memcpy(POINTER(l, 0) + 32 * place + 16 * (i % 2), vector, sizeof vector);
    }
    return FAKE_OK;
}

/* Arguments: (sum) or (sum, n). Stores the sum as words, even if the source has another type. */
static fake_end ceiling_one_address(const fake_launch *l)
{
    *(uint32_t *)POINTER(l, 0) += (uint32_t)l->threads;
    return FAKE_OK;
}

static fake_end one_address_reference(const fake_launch *l)
{
    *(uint32_t *)POINTER(l, 0) += (uint32_t)U64(l, 1);
    return FAKE_OK;
}

/* Transposes a matrix of 4-byte elements. */
static void transpose(const unsigned char *src, uint64_t stride_bytes, uint64_t rows, uint64_t cols,
                      unsigned char *dst)
{
    for (uint64_t y = 0; y < rows; y++)
        for (uint64_t x = 0; x < cols; x++)
            memcpy(dst + 4 * (x * rows + y), src + y * stride_bytes + 4 * x, 4);
}

static fake_end tensor_tiles(const fake_launch *l)
{
    const fake_view *map = fake_view_find(U64(l, 0));
    if (!map || map->is_texture)
        return FAKE_ILLEGAL_ADDRESS;
    transpose(map->address, map->stride_bytes[0], map->size[1], map->size[0], POINTER(l, 1));
    return FAKE_OK;
}

static fake_end tensor_tiles_reference(const fake_launch *l)
{
    transpose(POINTER(l, 0), 4 * U64(l, 3), U64(l, 2), U64(l, 3), POINTER(l, 1));
    return FAKE_OK;
}

static void filter(const unsigned char *src, uint64_t stride_bytes, uint64_t rows, uint64_t cols,
                   float *dst)
{
    for (uint64_t i = 0; i < rows * cols; i++) {
        float sum = 0;
        for (uint64_t n = 0; n < 9; n++) {
            uint64_t y = i / cols + n / 3, x = i % cols + n % 3; /* coordinates plus 1 */
            y = y > rows ? rows - 1 : y ? y - 1 : 0;
            x = x > cols ? cols - 1 : x ? x - 1 : 0;
            sum += (float)((n / 3 == 1 ? 2 : 1) * (n % 3 == 1 ? 2 : 1)) *
                   *(const float *)(const void *)(src + y * stride_bytes + 4 * x);
        }
        dst[i] = sum;
    }
}

/* Arguments: (src, texture, dst). Reads through the texture even if the variant reads src. */
static fake_end textured(const fake_launch *l)
{
    const fake_view *image = fake_view_find(U64(l, 1));
    if (!image || !image->is_texture || !image->clamps)
        return FAKE_ILLEGAL_ADDRESS;
    filter(image->address, image->stride_bytes[0], image->size[1], image->size[0],
           (float *)(void *)POINTER(l, 2));
    return FAKE_OK;
}

/* Argument: (surface). Doubles each float of the surface. */
static fake_end surfaced(const fake_launch *l)
{
    const fake_view *image = fake_view_find(U64(l, 0));
    if (!image || !image->is_surface || image->element_bytes != 4)
        return FAKE_ILLEGAL_ADDRESS;
    for (uint64_t i = 0; i < image->size[0] * image->size[1]; i++)
        ((float *)(void *)image->address)[i] *= 2;
    return FAKE_OK;
}

/* Arguments: (dst, count). */
static fake_end surfaced_reference(const fake_launch *l)
{
    for (uint64_t i = 0; i < U64(l, 1); i++)
        ((float *)(void *)POINTER(l, 0))[i] *= 2;
    return FAKE_OK;
}

/* Arguments: (src, dst, rows, columns, pitch). */
static fake_end textured_reference(const fake_launch *l)
{
    filter(POINTER(l, 0), 4 * U64(l, 4), U64(l, 2), U64(l, 3), (float *)(void *)POINTER(l, 1));
    return FAKE_OK;
}

/* __global__ void scale_by(float *out, const float *in, unsigned n, float by) */
static const unsigned char scale_by_sizes[] = {8, 8, 4, 4};

static fake_end scale_by(const fake_launch *l)
{
    float by;
    memcpy(&by, l->arguments[3], sizeof by);
    for (uint32_t i = 0; i < U32(l, 2); i++)
        ((float *)POINTER(l, 0))[i] = by * ((const float *)POINTER(l, 1))[i];
    return FAKE_OK;
}

/* struct view { unsigned n; const float *in; float *out; };
 * __global__ void scale_view(view v, float by) */
static const unsigned char scale_view_sizes[] = {24, 4};

static fake_end scale_view(const fake_launch *l)
{
    struct {
        uint32_t n;
        const float *in;
        float *out;
    } v;
    float by;
    memcpy(&v, l->arguments[0], sizeof v);
    memcpy(&by, l->arguments[1], sizeof by);
    for (uint32_t i = 0; i < v.n; i++)
        v.out[i] = by * v.in[i];
    return FAKE_OK;
}

static const fake_kernel kernels[] = {
    {"_Z8scale_byPfPKfjf", scale_by, 0, 4, NULL, scale_by_sizes},
    {"_Z10scale_view4viewf", scale_view, 0, 2, NULL, scale_view_sizes},
    {"at_fill", fill, 0, 0, NULL, NULL},
    {"at_guards_set", guards_set, 0, 0, NULL, NULL},
    {"at_guards_check", guards_check, 0, 0, NULL, NULL},
    {"at_compare_exact", compare_exact, 0, 0, NULL, NULL},
    {"at_magnitude", magnitude, 0, 0, NULL, NULL},
    {"at_compare_close", compare_close, 0, 0, NULL, NULL},
    {"at_checksum", checksum, 0, 0, NULL, NULL},
    {"at_flush_write", flush, 0, 3, NULL, NULL},
    {"at_flush_read", flush, 0, 3, NULL, NULL},
    {"at_gate", gate, 0, 0, NULL, NULL},
    {"at_empty", flush, 0, 0, NULL, NULL},
    {"at_clock", clock_reading, 0, 0, NULL, NULL},
    {"at_scrub", flush, 0, 0, NULL, NULL},
    {"good", good, 0, 3, NULL, NULL},
    {"reference", good, 0, 3, NULL, NULL},
    {"right_once", right_once, 0, 3, NULL, NULL},
    {"into_variable", into_variable, 0, 3, NULL, NULL},
    {"timed", timed, 0, 4, NULL, NULL},
    {"copy", good, 0, 3, NULL, NULL},
    {"spin", timed, 0, 4, NULL, NULL},
    {"good_shared", good, 65536, 3, NULL, NULL},
    {"skips_last", skips_last, 0, 3, NULL, NULL},
    {"skips_edge", skips_edge, 0, 3, NULL, NULL},
    {"timed_edge", timed_edge, 0, 5, NULL, NULL},
    {"swaps_pair", swaps_pair, 0, 3, NULL, NULL},
    {"writes_past", writes_past, 0, 3, NULL, NULL},
    {"writes_before", writes_before, 0, 3, NULL, NULL},
    {"copies_past", copies_past, 0, 3, NULL, NULL},
    {"reads_past", reads_past, 0, 3, NULL, NULL},
    {"fails_the_sixth_time", fails_the_sixth_time, 0, 3, NULL, NULL},
    {"changes_input", changes_input, 0, 3, NULL, NULL},
    {"zeros", zeros, 0, 3, NULL, NULL},
    {"wild", wild, 0, 3, NULL, NULL},
    {"unstable", unstable, 0, 3, NULL, NULL},
    {"close_to", close_to, 0, 3, NULL, NULL},
    {"not_a_number", not_a_number, 0, 3, NULL, NULL},
    {"add", add, 0, 3, NULL, NULL},
    {"hang", hang, 0, 3, NULL, NULL},
    {"illegal", illegal, 0, 3, NULL, NULL},
    {"misaligned", misaligned, 0, 3, NULL, NULL},
    {"late_hang", late_hang, 0, 3, NULL, NULL},
    {"late_fault", late_fault, 0, 3, NULL, NULL},
    {"tires", tires, 0, 3, NULL, NULL},
    {"abort_driver", abort_driver, 0, 3, NULL, NULL},
    {"transfer", transfer, 0, 8, transfer_ns, NULL},
    {"transfer_reference", transfer_reference, 0, 4, NULL, NULL},
    {"transfer_past", transfer_past, 0, 8, transfer_ns, NULL},
    {"ceiling_copy", good, 0, 3, NULL, NULL},
    {"copy_reference", good, 0, 3, NULL, NULL},
    {"ceiling_read", ceiling_read, 0, 3, NULL, NULL},
    {"read_reference", ceiling_read, 0, 3, NULL, NULL},
    {"ceiling_write", ceiling_write, 0, 2, NULL, NULL},
    {"write_reference", ceiling_write, 0, 2, NULL, NULL},
    {"ceiling_l2", ceiling_l2, 0, 4, NULL, NULL},
    {"ceiling_l1", ceiling_l1, 0, 4, NULL, NULL},
    {"l2_reference", ceiling_l2, 0, 4, NULL, NULL},
    {"ceiling_shared", ceiling_shared, 0, 4, NULL, NULL},
    {"shared_reference", ceiling_shared, 0, 4, NULL, NULL},
    {"ceiling_flops", ceiling_flops, 0, 4, NULL, NULL},
    {"flops_reference", ceiling_flops, 0, 4, NULL, NULL},
    {"ceiling_atomics", ceiling_atomics, 0, 4, NULL, NULL},
    {"atomics_reference", ceiling_atomics, 0, 4, NULL, NULL},
    {"ceiling_launches", ceiling_launches, 0, 2, NULL, NULL},
    {"launches_reference", launches_reference, 0, 2, NULL, NULL},
    {"ceiling_blocks", ceiling_blocks, 0, 2, NULL, NULL},
    {"blocks_reference", ceiling_blocks, 0, 2, NULL, NULL},
    {"ceiling_round_trips", ceiling_round_trips, 0, 4, NULL, NULL},
    {"round_trips_reference", round_trips_reference, 0, 4, NULL, NULL},
    {"ceiling_pieces", ceiling_pieces, 0, 4, NULL, NULL},
    {"pieces_reference", ceiling_pieces, 0, 4, NULL, NULL},
    {"ceiling_one_address", ceiling_one_address, 0, 1, NULL, NULL},
    {"one_address_reference", one_address_reference, 0, 2, NULL, NULL},
    {"tensor_tiles", tensor_tiles, 0, 2, NULL, NULL},
    {"tensor_tiles_reference", tensor_tiles_reference, 0, 4, NULL, NULL},
    {"textured", textured, 0, 3, NULL, NULL},
    {"surfaced", surfaced, 0, 1, NULL, NULL},
    {"surfaced_reference", surfaced_reference, 0, 2, NULL, NULL},
    {"textured_reference", textured_reference, 0, 5, NULL, NULL},
};

const fake_kernel *fake_kernel_find(const char *name)
{
    const char *number = strrchr(name, '_');
    bool timed = number && strspn(number + 1, "0123456789") == strlen(number + 1) && number[1];
    size_t length = timed ? (size_t)(number - name) : strlen(name);
    /* Kernels that were compiled in one source have "_at<number>_" behind their names. */
    const char *place = strstr(name, "_at");
    if (place && place[3 + strspn(place + 3, "0123456789")] == '_')
        length = (size_t)(place - name);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strlen(kernels[i].name) == length && strncmp(kernels[i].name, name, length) == 0)
            return &kernels[i];
    static const fake_kernel any = {"any", flush, 0, 0, NULL, NULL};
    return getenv("FAKE_CUDA_ANY") ? &any : NULL;
}
