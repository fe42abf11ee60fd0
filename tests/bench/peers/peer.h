/* A library's own function beside the kernel that autotune recorded for the same problem.
 *
 * A program of this folder is harness.cu, linked with one file that defines rows(). Each row is
 * checked (the peer's result against ours) and timed: ours, the peer and a ceiling in random order,
 * each sample with a cold L2 and on a busy stream. A row that fails says why, and the next goes on.
 * With --bounds the fastest shape of each row that has some is timed among them.
 */
#ifndef PEER_H
#define PEER_H

#include <memory>

#include "autotune.h"
#include "bench.h"
#include "shapes.h"

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
    double least_ratio = 0; /* that is asked of the peer's speed on the H200; 0: none */
    double least_share = 0; /* of the ceiling's */
    /* On other GPUs as much is asked of rows with a star, unless their ratio is another there, and
     * nothing of the rest. */
    bool star = false;
    double star_ratio = 0;
    double bytes = 0, flops = 0; /* that must be moved, or computed, in a launch */
    double fetched =
        0; /* moved where each sector that is read stands alone in its 64 bytes, or 0 */
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
    /* Kernels that move what this row must move and do nothing else: the fastest of them bounds it.
     * They are made after the peer, from its buffers, and may write to outputs. */
    std::function<std::vector<Shape>(Bench &)> shapes;
};

std::vector<Row> rows();

#endif
