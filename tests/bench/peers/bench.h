/* Memory on the GPU and cold samples, for the programs of this folder. */
#ifndef BENCH_H
#define BENCH_H

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/* Throws with the name of what failed. */
void check(cudaError_t result, const char *what);

double median(std::vector<double> list);

/* A stream, and memory that lives as long as it. */
class Bench
{
  public:
    Bench();
    ~Bench();
    Bench(const Bench &) = delete;
    Bench &operator=(const Bench &) = delete;

    /* The buffer that ours calls `name`. */
    template <class T> T *buffer(const char *name)
    {
        auto found = buffers.find(name);
        if (found == buffers.end())
            throw std::runtime_error(std::string("the pattern has no buffer ") + name);
        return static_cast<T *>(found->second);
    }
    /* Device memory. */
    void *memory(size_t bytes);
    /* The same with floats uniform in [-1, 1), which follow from `salt`; bytes / 4 of them. */
    void *floats(size_t bytes, unsigned int salt);

    cudaStream_t stream = nullptr;
    int sms = 0;
    void *output = nullptr; /* where the peer's result belongs when it is compared */
    std::map<std::string, void *> buffers;

  private:
    std::vector<void *> owned;
};

/* Fills `count` floats as Bench::floats() does. */
void fill_floats(cudaStream_t stream, float *to, size_t count, unsigned int salt);

class Timer
{
  public:
    explicit Timer(Bench &bench);
    ~Timer();
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    /* Reads all of it once, in whole words of 16 bytes. */
    void read(const void *data, size_t bytes);
    /* Microseconds of one run, behind a flush that leaves L2 full of clean lines of other data. The
     * flush is queued twice, so that it still runs when the last of what is timed is queued. */
    double sample(const std::function<void()> &run);

  private:
    Bench &bench;
    size_t flush_count = 0;
    uint4 *to = nullptr, *from = nullptr;
    unsigned int *never = nullptr;
    cudaEvent_t start{}, stop{};
};

#endif
