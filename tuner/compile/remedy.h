/* Remedies for what the compiler's first error says: names and headers that programs for nvcc have
 * and NVRTC, which compiles for the device alone, has elsewhere or not at all. */
#ifndef AUTOTUNE_COMPILE_REMEDY_H
#define AUTOTUNE_COMPILE_REMEDY_H

/* Adds what to do about it, if that is known, to the line of the first error of NVRTC's log: "...;
 * ", then the remedy. `include_dir` has the Toolkit's headers ("": there are none). *log is owned
 * and may move; without memory it stays as it is. */
void compile_log_add_remedy(char **log, const char *include_dir);

#endif
