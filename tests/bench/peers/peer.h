/* Compares a library's function with the kernel that autotune recorded for the same problem.
 *
 * A program of this folder is harness.cu, linked with one file that defines rows(). Each row is
 * checked (the peer's result against ours) and timed: ours, the peer and a ceiling in random order,
 * each sample with a cold L2 and on a busy stream. A row that fails says why, and the next row
 * follows. With --bounds, rows with shapes also time their fastest shape. */
#ifndef PEER_H
#define PEER_H

#include <memory>

#include "autotune.h"
#include "bench.h"
#include "shapes.h"

enum class Element {
    Bytes,
    Floats,
    Doubles
};                                       /* type of the compared elements; bytes must be
                                            equal */
enum class Ceiling { None, Copy, Read }; /* a kernel that moves this many bytes in total */

struct Row {
    std::string pattern;
    std::vector<at_variable> problem; /* all variables of the pattern */
    std::string shown;                /* the problem, in words */
    std::string peer;                 /* name of the peer */
    /* Whether the peer is the pattern's own baseline, and the baseline's problem if it differs. */
    bool is_baseline = false;
    std::vector<at_variable> baseline_problem;
    double least_ratio = 0; /* target relative to the peer's speed on the H200; 0 for no target */
    double least_share = 0; /* target relative to the ceiling's speed */
    /* On other GPUs, a row with a star has the same target, unless another ratio is given. Other
     * rows have no target there. */
    bool star = false;
    double star_ratio = 0;
    double bytes = 0, flops = 0; /* bytes or operations that a launch needs */
    double fetched = 0; /* bytes moved if each sector that is read is alone in its 64 bytes, or 0 */
    Ceiling ceiling = Ceiling::Copy;
    Element fill = Element::Floats; /* contents of inputs: uniform in [-1, 1), or bytes below
                                       `values` */
    unsigned int values = 256;
    std::vector<std::string> zeroed; /* buffers that start as zeros */
    std::string cleared;             /* buffer that is zeroed before each launch, which is timed */
    std::string compared; /* our buffer that the peer's output must equal; "" if results are not
                             compared */
    Element element = Element::Floats;
    double tolerance = 0; /* tolerance of floats, relative to the largest magnitude */
    /* Prepares the peer. Returns the timed function. Not called for a baseline. */
    std::function<std::function<void()>(Bench &)> make;
    /* Kernels that move the bytes of this row and do nothing else; the fastest of them is the
     * bound. They are made after the peer, from its buffers, and may write to outputs. */
    std::function<std::vector<Shape>(Bench &)> shapes;
};

std::vector<Row> rows();

#endif
