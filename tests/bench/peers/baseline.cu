/* Compares patterns with their own baseline, the kernel that a programmer would write first. */
#include "peer.h"

static Row beside_default(const char *pattern, std::vector<at_variable> problem, const char *shown,
                          double bytes, double least_ratio, double least_share)
{
    Row row;
    row.pattern = pattern;
    row.problem = std::move(problem);
    row.shown = shown;
    row.peer = "the default";
    row.is_baseline = true;
    row.bytes = bytes;
    row.least_ratio = least_ratio;
    row.least_share = least_share;
    return row;
}

std::vector<Row> rows()
{
    std::vector<Row> list;
    static const char *const shown[] = {"stride 2", "stride 4", "stride 8", "stride 16",
                                        "stride 32"};
    for (int i = 0; i < 5; ++i) {
        /* `read` is the number of bytes read for each output, in whole sectors of 32 bytes. */
        const int64_t n = 1 << 24, stride = 2 << i, read = stride < 8 ? stride * 4 : 32;
        list.push_back(beside_default(
            "strided",
            {at_integer("n", n), at_integer("stride", stride), at_text("dtype", "float")}, shown[i],
            (double)n * (read + 4), 0, 0.95));
        list.back().fetched = stride < 16 ? 0 : (double)n * (64 + 4);
        list.back().shapes = [=](Bench &bench) {
            return strides(bench, bench.buffer<float>("src"), bench.buffer<float>("dst"),
                           (unsigned int)n, (unsigned int)stride);
        };
    }
    Row rgb = beside_default("rgb", {at_integer("n", 1 << 28), at_text("layout", "packed")},
                             "2^28 pixels", 6.0 * (1 << 28), 2.0, 0.90);
    rgb.fill = Element::Bytes;
    rgb.shapes = [](Bench &bench) {
        const size_t bytes = 3 * (size_t)(1 << 28);
        return streams(bench, {bench.buffer<void>("src")}, bench.memory(bytes), bytes);
    };
    list.push_back(rgb);
    list.push_back(beside_default(
        "stencil1d", {at_integer("n", 1 << 27), at_integer("radius", 3), at_text("dtype", "float")},
        "2^27 floats, radius 3", 8.0 * (1 << 27), 1.0, 0.92));
    Row conv = beside_default("conv2d",
                              {at_integer("rows", 16384), at_integer("cols", 16384),
                               at_integer("size", 3), at_text("dtype", "float")},
                              "16384^2 floats, 3x3", 8.0 * 16384 * 16384, 1.0, 0.92);
    list.push_back(conv);
    /* Structs of 24 bytes, stored as arrays. Half of the fields are changed by the other half,
     * changed by themselves, or overwritten. In the last rows, all fields are copied from one
     * layout to the other. */
    const int64_t particles = 1 << 24;
    const auto particles_as = [=](const char *operation, const char *layout, const char *to) {
        return std::vector<at_variable>{
            at_integer("n", particles), at_integer("fields", 6), at_text("operation", operation),
            at_text("layout", layout),  at_text("to", to),       at_integer("tile", 32),
            at_text("dtype", "float")};
    };
    static const struct {
        const char *name, *shown;
        double bytes;
    } operations[] = {{"update", "update, 2^24 as arrays", 36},
                      {"scale", "scale, 2^24 as arrays", 24},
                      {"set", "set, 2^24 as arrays", 12}};
    for (const auto &operation : operations) {
        Row half = beside_default("aos_soa", particles_as(operation.name, "soa", "soa"),
                                  operation.shown, operation.bytes * particles, 3.0, 0.95);
        half.peer = "the default on structs";
        half.baseline_problem = particles_as(operation.name, "aos", "soa");
        /* Three of the fields are written; three or six are read. */
        const size_t bytes = 12 * (size_t)particles, arrays = (size_t)operation.bytes / 12 - 1;
        if (arrays > 0)
            half.shapes = [=](Bench &bench) {
                std::vector<const void *> from;
                for (unsigned int i = 0; i < arrays; ++i)
                    from.push_back(bench.floats(bytes, i));
                return streams(bench, from, bench.memory(bytes), bytes);
            };
        list.push_back(half);
    }
    list.push_back(beside_default("aos_soa", particles_as("convert", "aos", "soa"),
                                  "structs to arrays, 2^24", 12.0 * 4 * particles, 1.0, 0.95));
    list.push_back(beside_default("aos_soa", particles_as("convert", "soa", "aos"),
                                  "arrays to structs, 2^24", 12.0 * 4 * particles, 1.0, 0.95));
    return list;
}
