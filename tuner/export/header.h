/* The exported header of one pattern, for those who write more beside it. */
#ifndef AUTOTUNE_EXPORT_HEADER_H
#define AUTOTUNE_EXPORT_HEADER_H

#include <stdio.h>

#include "export/model.h"

/* With its guard. Where the model has kernels, a configuration without one is passed over. */
void export_print_header(const export_model *m, FILE *to);

#endif
