/* Memory on the GPU and cold samples, for the programs of this folder. */
#ifndef BENCH_H
#define BENCH_H

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/* Throws an exception that names the failed call. */
void check(cudaError_t result, const char *what);

double median(std::vector<double> list);

/* A stream, and memory that lives as long as the stream. */
class Bench
{
  public:
    Bench();
    ~Bench();
    Bench(const Bench &) = delete;
    Bench &operator=(const Bench &) = delete;

    /* Returns our kernel's buffer `name`. */
    template <class T> T *buffer(const char *name)
    {
        auto found = buffers.find(name);
        if (found == buffers.end())
            throw std::runtime_error(std::string("the pattern has no buffer ") + name);
        return static_cast<T *>(found->second);
    }
    /* Returns device memory. */
    void *memory(size_t bytes);
    /* Returns memory with bytes / 4 floats, uniform in [-1, 1). Equal salts give equal floats. */
    void *floats(size_t bytes, unsigned int salt);

    cudaStream_t stream = nullptr;
    int sms = 0;
    void *output = nullptr; /* buffer for the peer's result; NULL if it is not compared */
    std::map<std::string, void *> buffers;

  private:
    std::vector<void *> owned;
};

/* Fills `count` floats in the same way as Bench::floats(). */
void fill_floats(cudaStream_t stream, float *to, size_t count, unsigned int salt);

class Timer
{
  public:
    explicit Timer(Bench &bench);
    ~Timer();
    Timer(const Timer &) = delete;
    Timer &operator=(const Timer &) = delete;

    /* Reads the memory once, in whole words of 16 bytes. */
    void read(const void *data, size_t bytes);
    /* Returns microseconds of one run, after a flush that leaves L2 full of clean lines of other
     * data. The flush is queued twice, so that it still runs when the last timed work is queued. */
    double sample(const std::function<void()> &run);

  private:
    Bench &bench;
    size_t flush_count = 0;
    uint4 *to = nullptr, *from = nullptr;
    unsigned int *never = nullptr;
    cudaEvent_t start{}, stop{};
};

#endif
