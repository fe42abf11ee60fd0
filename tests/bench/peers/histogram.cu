/* histogram beside cub::DeviceHistogram. Both zero their counts first, which is timed. */
#include <cub/device/device_histogram.cuh>

#include "peer.h"

static Row bytes(int64_t values, const char *shown, double least_ratio)
{
    const int64_t n = 1 << 27;
    Row row;
    row.pattern = "histogram";
    row.problem = {at_integer("n", n), at_integer("values", values)};
    row.shown = shown;
    row.peer = "cub::DeviceHistogram";
    row.least_ratio = least_ratio;
    row.bytes = n;
    row.ceiling = Ceiling::Read;
    row.fill = Element::Bytes;
    row.values = (unsigned int)values;
    row.zeroed = {"counts"};
    row.cleared = "counts";
    row.compared = "counts";
    row.element = Element::Bytes;
    row.make = [n](Bench &bench) -> std::function<void()> {
        const unsigned char *src = bench.buffer<unsigned char>("src");
        int *to = static_cast<int *>(bench.output);
        cudaStream_t stream = bench.stream;
        size_t temporary_bytes = 0;
        check(cub::DeviceHistogram::HistogramEven(nullptr, temporary_bytes, src, to, 257, 0, 256,
                                                  (int)n, stream),
              "cub::DeviceHistogram");
        void *temporary = bench.memory(temporary_bytes + 1);
        return [=]() mutable {
            check(cub::DeviceHistogram::HistogramEven(temporary, temporary_bytes, src, to, 257, 0,
                                                      256, (int)n, stream),
                  "cub::DeviceHistogram");
        };
    };
    return row;
}

std::vector<Row> rows()
{
    return {bytes(256, "2^27 bytes, uniform", 1.30), bytes(1, "2^27 bytes, one value", 1.00)};
}
