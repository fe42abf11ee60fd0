/* A library's own function beside the kernel that autotune recorded for the same problem.
 *
 * A program of this folder is harness.cu, linked with one file that defines rows(). Each row is
 * checked (the peer's result against ours) and timed: ours, the peer and a ceiling in random order,
 * each sample with a cold L2 and on a busy stream. A row that fails says why, and the next goes on.
 */
#ifndef PEER_H
#define PEER_H

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "autotune.h"

/* What a peer may use while it prepares; all memory is the bench's and lives as long as the row. */
class Bench
{
  public:
    cudaStream_t stream = nullptr;
    void *output = nullptr; /* where the peer's result belongs when it is compared */

    /* The buffer that ours calls `name`. */
    template <class T> T *buffer(const char *name)
    {
        auto found = buffers.find(name);
        if (found == buffers.end())
            throw std::runtime_error(std::string("the pattern has no buffer ") + name);
        return static_cast<T *>(found->second);
    }
    /* Device memory of the peer's own. */
    void *memory(size_t bytes);

    std::map<std::string, void *> buffers;
    std::vector<void *> owned;
};

enum class Element { Bytes, Floats, Doubles }; /* what is compared, bytes exactly */
enum class Ceiling { None, Copy, Read };       /* of as many bytes in all */

struct Row {
    std::string pattern;
    std::vector<at_variable> problem; /* all of the pattern's variables */
    std::string shown;                /* the problem, in words */
    std::string peer;                 /* its name */
    /* The peer is the pattern's own baseline, for this problem where it is another. */
    bool is_baseline = false;
    std::vector<at_variable> baseline_problem;
    double least_ratio = 0;      /* of the peer's speed; 0: none is asked */
    double least_share = 0;      /* of the ceiling's */
    double bytes = 0, flops = 0; /* that must be moved, or computed, in a launch */
    Ceiling ceiling = Ceiling::Copy;
    Element fill = Element::Floats; /* of inputs: uniform in [-1, 1), or bytes below `values` */
    unsigned int values = 256;
    std::vector<std::string> zeroed; /* buffers that begin with zeros */
    std::string cleared;  /* one that is set to zero before each launch, which is timed */
    std::string compared; /* the buffer of ours that the peer's output must equal; or "" */
    Element element = Element::Floats;
    double tolerance = 0; /* of floats, relative to the largest magnitude */
    /* Prepares the peer; returns what is timed. Not for a baseline. */
    std::function<std::function<void()>(Bench &)> make;
};

std::vector<Row> rows();

/* Throws with the name of what failed. */
void check(cudaError_t result, const char *what);

#endif
