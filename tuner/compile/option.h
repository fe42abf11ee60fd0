/* Which compiler options a pattern script may pass, and what NVRTC gets of them.
 *
 * Scripts and records come from other people: what they pass to the compiler may change code
 * generation and nothing else. Include paths, output files and other architectures are refused.
 * Options of nvcc mean here what they mean to it: NVRTC's spelling takes their place, and those
 * that are about host code, linking or messages are left out. */
#ifndef AUTOTUNE_COMPILE_OPTION_H
#define AUTOTUNE_COMPILE_OPTION_H

#include "base/error.h"

enum { COMPILE_OPTION_BYTES = 1024 };

/* Reads one option ("--maxrregcount=64", "-DTILE=32", "-Xptxas -dlcm=cg", "-O3") and writes it as
 * NVRTC takes it; "": device code does not depend on it. AT_SCRIPT with what to do instead. */
at_status compile_option_read(const char *option, char out[COMPILE_OPTION_BYTES], at_error *error);

#endif
