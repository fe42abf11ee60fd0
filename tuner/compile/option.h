/* Which NVRTC options a pattern script may pass.
 *
 * Scripts and records come from other people: what they pass to the compiler may change code
 * generation and nothing else. Include paths, output files and other architectures are refused. */
#ifndef AUTOTUNE_COMPILE_OPTION_H
#define AUTOTUNE_COMPILE_OPTION_H

#include <stdbool.h>

/* True for an option of the list (one string: "--maxrregcount=64", "-DTILE=32",
 * "-use_fast_math"). */
bool compile_option_allowed(const char *option);

#endif
