/* Prints the exported header of one pattern; the CUDA exporter adds to it. */
#ifndef AUTOTUNE_EXPORT_HEADER_H
#define AUTOTUNE_EXPORT_HEADER_H

#include <stdio.h>

#include "export/model.h"

/* Prints it with its include guard. In a model with kernels, configurations without one are left
 * out. */
void export_print_header(const export_model *m, FILE *to);

#endif
