#include "export/prelude.h"

#include <string.h>

#include "device/field.h"
#include "record/pick.h"

static const char arithmetic[] =
    "/* Lua's arithmetic: it wraps around, and division rounds down. */\n"
    "AUTOTUNE_FUNCTION int64_t autotune_add(int64_t a, int64_t b)\n"
    "{\n"
    "    return (int64_t)((uint64_t)a + (uint64_t)b);\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_subtract(int64_t a, int64_t b)\n"
    "{\n"
    "    return (int64_t)((uint64_t)a - (uint64_t)b);\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_multiply(int64_t a, int64_t b)\n"
    "{\n"
    "    return (int64_t)((uint64_t)a * (uint64_t)b);\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_divide(int64_t a, int64_t b, int *failed)\n"
    "{\n"
    "    if (b == 0)\n"
    "        *failed = 1;\n"
    "    if (b == 0 || b == -1)\n"
    "        return b == 0 ? 0 : autotune_subtract(0, a);\n"
    "    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_remainder(int64_t a, int64_t b, int *failed)\n"
    "{\n"
    "    if (b == 0)\n"
    "        *failed = 1;\n"
    "    if (b == 0 || b == -1)\n"
    "        return 0;\n"
    "    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;\n"
    "}\n"
    "\n"
    "/* By n bits to the left, for a negative n to the right; zeros move in. */\n"
    "AUTOTUNE_FUNCTION int64_t autotune_shift(int64_t a, int64_t n)\n"
    "{\n"
    "    if (n <= -64 || n >= 64)\n"
    "        return 0;\n"
    "    return (int64_t)(n < 0 ? (uint64_t)a >> -n : (uint64_t)a << n);\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_ceil_div(int64_t a, int64_t b, int *failed)\n"
    "{\n"
    "    if (a < 0 || b <= 0) {\n"
    "        *failed = 1;\n"
    "        return 0;\n"
    "    }\n"
    "    return a / b + (a % b != 0 ? 1 : 0);\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_round_up(int64_t a, int64_t b, int *failed)\n"
    "{\n"
    "    if (a < 0 || b <= 0 || a > INT64_MAX - b) {\n"
    "        *failed = 1;\n"
    "        return 0;\n"
    "    }\n"
    "    return (a + b - 1) / b * b;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_log2(int64_t n, int *failed)\n"
    "{\n"
    "    int64_t exponent = 0;\n"
    "    if (n <= 0)\n"
    "        *failed = 1;\n"
    "    for (; n > 1; n /= 2)\n"
    "        exponent += 1;\n"
    "    return exponent;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION bool autotune_is_pow2(int64_t n)\n"
    "{\n"
    "    return n > 0 && (n & (n - 1)) == 0;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_min(int64_t a, int64_t b)\n"
    "{\n"
    "    return b < a ? b : a;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION int64_t autotune_max(int64_t a, int64_t b)\n"
    "{\n"
    "    return b > a ? b : a;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION double autotune_min_number(double a, double b)\n"
    "{\n"
    "    return b < a ? b : a;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION double autotune_max_number(double a, double b)\n"
    "{\n"
    "    return b > a ? b : a;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION double autotune_floor(double x)\n"
    "{\n"
    "    double whole = x;\n"
    "    if (x > -9e15 && x < 9e15) {\n"
    "        whole = (double)(int64_t)x;\n"
    "        whole -= whole > x ? 1 : 0;\n"
    "    }\n"
    "    return whole;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION bool autotune_same_text(const char *a, const char *b)\n"
    "{\n"
    "    while (*a && *a == *b) {\n"
    "        a++;\n"
    "        b++;\n"
    "    }\n"
    "    return *a == *b;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION bool autotune_text_before(const char *a, const char *b)\n"
    "{\n"
    "    while (*a && *a == *b) {\n"
    "        a++;\n"
    "        b++;\n"
    "    }\n"
    "    return (unsigned char)*a < (unsigned char)*b;\n"
    "}\n"
    "\n"
    "AUTOTUNE_FUNCTION bool autotune_contains(const char *text, const char *part)\n"
    "{\n"
    "    for (;; text++) {\n"
    "        size_t i = 0;\n"
    "        while (part[i] && text[i] == part[i])\n"
    "            i++;\n"
    "        if (!part[i])\n"
    "            return true;\n"
    "        if (!*text)\n"
    "            return false;\n"
    "    }\n"
    "}\n";

/* The rest of the look-up, and the device that a program that has the CUDA runtime is on. */
static const char lookup[] =
    "\n"
    "/* log2(1 + |x|), linear between powers of two, with the sign of x: sizes compare by\n"
    " * their ratio. */\n"
    "AUTOTUNE_FUNCTION double autotune_scale(double x)\n"
    "{\n"
    "    double size = 1 + (x < 0 ? -x : x), power = 0;\n"
    "    if (!(size < 1e30))\n"
    "        size = 1e30;\n"
    "    while (size >= 2) {\n"
    "        size /= 2;\n"
    "        power += 1;\n"
    "    }\n"
    "    power += size - 1;\n"
    "    return x < 0 ? -power : power;\n"
    "}\n"
    "\n"
    "/* How far two sizes are apart. */\n"
    "AUTOTUNE_FUNCTION double autotune_apart(double a, double b)\n"
    "{\n"
    "    double d = autotune_scale(a) - autotune_scale(b);\n"
    "    return d < 0 ? -d : d;\n"
    "}\n"
    "\n"
    "#if defined(CUDART_VERSION) && !defined(__CUDACC_RTC__)\n"
    "/* Fills in a device of the CUDA runtime; the name is in `properties`, which must outlive it. */\n"
    "AUTOTUNE_UNUSED static inline cudaError_t\n"
    "autotune_device_of(int ordinal, struct cudaDeviceProp *properties, autotune_device *out)\n"
    "{\n"
    "    static const struct {\n"
    "        enum cudaDeviceAttr attribute;\n"
    "        size_t offset;\n"
    "    } fields[] = {\n"
    "        {cudaDevAttrComputeCapabilityMajor, offsetof(autotune_device, major)},\n"
    "        {cudaDevAttrComputeCapabilityMinor, offsetof(autotune_device, minor)},\n"
    "        {cudaDevAttrMultiProcessorCount, offsetof(autotune_device, sm_count)},\n"
    "        {cudaDevAttrWarpSize, offsetof(autotune_device, warp_size)},\n"
    "        {cudaDevAttrMaxThreadsPerBlock, offsetof(autotune_device, max_threads_per_block)},\n"
    "        {cudaDevAttrMaxThreadsPerMultiProcessor, offsetof(autotune_device, max_threads_per_sm)},\n"
    "        {cudaDevAttrMaxBlocksPerMultiprocessor, offsetof(autotune_device, max_blocks_per_sm)},\n"
    "        {cudaDevAttrMaxRegistersPerMultiprocessor, offsetof(autotune_device, registers_per_sm)},\n"
    "        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, offsetof(autotune_device, shared_per_sm)},\n"
    "        {cudaDevAttrMaxSharedMemoryPerBlockOptin,\n"
    "         offsetof(autotune_device, max_shared_per_block)},\n"
    "        {cudaDevAttrL2CacheSize, offsetof(autotune_device, l2_bytes)},\n"
    "        {cudaDevAttrClockRate, offsetof(autotune_device, clock_khz)},\n"
    "    };\n"
    "    int memory_khz = 0, bus_bits = 0;\n"
    "    size_t i;\n"
    "    cudaError_t status = cudaGetDeviceProperties(properties, ordinal);\n"
    "    memset(out, 0, sizeof *out);\n"
    "    for (i = 0; i < sizeof fields / sizeof *fields && status == cudaSuccess; i++) {\n"
    "        int v = 0;\n"
    "        int64_t wide;\n"
    "        status = cudaDeviceGetAttribute(&v, fields[i].attribute, ordinal);\n"
    "        wide = v;\n"
    "        memcpy((char *)out + fields[i].offset, &wide, sizeof wide);\n"
    "    }\n"
    "    if (status == cudaSuccess)\n"
    "        status = cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, ordinal);\n"
    "    if (status == cudaSuccess)\n"
    "        status = cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal);\n"
    "    out->name = properties->name;\n"
    "    out->max_registers_per_thread = 255;\n"
    "    out->global_bytes = (int64_t)properties->totalGlobalMem;\n"
    "    out->bandwidth = 2.0 * memory_khz * 1000.0 * bus_bits / 8.0;\n"
    "    return status;\n"
    "}\n"
    "#endif\n";

static void print_rules(FILE *to)
{
    static const struct {
        const char *constant, *meaning;
    } rules[PICK_RULES] = {
        [PICK_EXACT] = {"EXACT", "measured on this GPU and problem"},
        [PICK_PORTFOLIO] = {"PORTFOLIO", "on this GPU, for a range of problems"},
        [PICK_NEAREST] = {"NEAREST", "on this GPU, for the nearest problem"},
        [PICK_CAPABILITY] = {"CAPABILITY", "on a GPU of the same compute capability"},
        [PICK_MAJOR] = {"MAJOR", "on a GPU of the same major compute capability"},
        [PICK_DEFAULT] = {"DEFAULT", "not measured: the pattern's default"},
        [PICK_OTHER] = {"OTHER", "on another GPU; the default is impossible"},
        [PICK_NONE] = {"NONE", "nothing that is known is possible: do not launch"},
    };
    fputs("/* How a configuration was found, best first. */\n"
          "typedef enum autotune_rule {\n",
          to);
    for (int r = 0; r < PICK_RULES; r++)
        fprintf(to, "    AUTOTUNE_RULE_%s%s /* %s */\n", rules[r].constant,
                r + 1 < PICK_RULES ? "," : "", rules[r].meaning);
    fputs("} autotune_rule;\n"
          "\n"
          "AUTOTUNE_FUNCTION const char *autotune_rule_name(autotune_rule rule)\n"
          "{\n"
          "    switch (rule) {\n",
          to);
    for (int r = 0; r < PICK_RULES; r++)
        fprintf(to, "    case AUTOTUNE_RULE_%s:\n        return \"%s\";\n", rules[r].constant,
                pick_rule_name((pick_rule)r));
    fputs("    }\n    return \"\";\n}\n", to);
}

static void print_device(FILE *to)
{
    static const char *const types[] = {[DEVICE_FIELD_INT] = "int64_t ",
                                        [DEVICE_FIELD_SIZE] = "int64_t ",
                                        [DEVICE_FIELD_DOUBLE] = "double ",
                                        [DEVICE_FIELD_TEXT] = "const char *"};
    size_t count;
    const device_field *fields = device_fields(&count);
    fputs("\n"
          "/* The device at hand. `name` is what the driver calls it, `major` and `minor` are its compute\n"
          " * capability, sizes are in bytes; of the rest only what a pattern's constraints read counts. */\n"
          "typedef struct autotune_device {\n",
          to);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "    %s%s;\n", types[fields[i].kind], fields[i].name);
    fputs("} autotune_device;\n"
          "\n"
          "/* A device of which no more is known than this; the rest is 0. */\n"
          "AUTOTUNE_FUNCTION autotune_device\n"
          "autotune_device_named(const char *name, int major, int minor)\n"
          "{\n"
          "    const autotune_device device = {",
          to);
    for (size_t i = 0; i < count; i++) {
        const char *name = fields[i].name;
        bool given = strcmp(name, "name") == 0 || strcmp(name, "major") == 0 ||
                     strcmp(name, "minor") == 0;
        fprintf(to, "%s%s", i ? ", " : "", given ? name : "0");
    }
    fputs("};\n    return device;\n}\n\n", to);
}

static void print_element_types(FILE *to)
{
    fputs("\n"
          "/* Bytes of an element. */\n"
          "AUTOTUNE_FUNCTION int64_t autotune_sizeof(const char *dtype, int *failed)\n"
          "{\n",
          to);
    for (int i = 0; i < DTYPE_COUNT; i++)
        fprintf(to, "    if (autotune_same_text(dtype, \"%s\"))\n        return %zu;\n",
                dtype_get((dtype)i)->name, (size_t)dtype_get((dtype)i)->size_bytes);
    fputs("    *failed = 1;\n"
          "    return 1;\n"
          "}\n"
          "\n"
          "AUTOTUNE_FUNCTION bool autotune_is_float(const char *dtype, int *failed)\n"
          "{\n",
          to);
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (dtype_get((dtype)i)->is_float)
            fprintf(to, "    if (autotune_same_text(dtype, \"%s\"))\n        return true;\n",
                    dtype_get((dtype)i)->name);
    fputs("    (void)autotune_sizeof(dtype, failed);\n"
          "    return false;\n"
          "}\n",
          to);
}

void export_print_prelude(FILE *to)
{
    fputs("#ifndef AUTOTUNE_RULE_DEFINED\n"
          "#define AUTOTUNE_RULE_DEFINED\n"
          "#if defined(__GNUC__)\n"
          "#define AUTOTUNE_UNUSED __attribute__((unused))\n"
          "#else\n"
          "#define AUTOTUNE_UNUSED\n"
          "#endif\n"
          "#if defined(__CUDACC__)\n"
          "#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static __host__ __device__ constexpr\n"
          "#elif defined(__cplusplus)\n"
          "#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static constexpr\n"
          "#else\n"
          "#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static inline\n"
          "#endif\n"
          "\n",
          to);
    print_rules(to);
    print_device(to);
    fputs(arithmetic, to);
    print_element_types(to);
    fputs(lookup, to);
    fprintf(to,
            "\n"
            "/* What a variable adds that is no size and differs. */\n"
            "#define AUTOTUNE_UNLIKE %.1f\n"
            "#endif\n",
            PICK_UNLIKE);
}
