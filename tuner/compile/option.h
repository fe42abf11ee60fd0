/* Compiler options in pattern scripts: which are allowed, and how NVRTC spells them.
 *
 * Scripts and records may come from other people, so their options may change code generation and
 * nothing else. Include paths, output files and other architectures are refused. nvcc's options are
 * translated to NVRTC; options for host code, linking or messages are dropped. */
#ifndef AUTOTUNE_COMPILE_OPTION_H
#define AUTOTUNE_COMPILE_OPTION_H

#include "base/error.h"

enum { COMPILE_OPTION_BYTES = 1024 };

/* Reads an option ("--maxrregcount=64", "-DTILE=32", "-Xptxas -dlcm=cg", "-O3") and writes it in
 * NVRTC's form. Writes "" if device code does not depend on the option. Returns AT_SCRIPT with an
 * alternative if the option is refused. */
at_status compile_option_read(const char *option, char out[COMPILE_OPTION_BYTES], at_error *error);

#endif
