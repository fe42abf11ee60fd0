/* A file that CUDA source includes, read beforehand: NVRTC is handed its text and opens no file for
 * it. */
#ifndef AUTOTUNE_BASE_SOURCE_HEADER_H
#define AUTOTUNE_BASE_SOURCE_HEADER_H

/* More than any source has; a message that claims more is corrupt. */
enum { SOURCE_HEADERS_MAX = 512 };

typedef struct source_header {
    const char *name; /* as the #include spells it */
    const char *text; /* NUL-terminated */
} source_header;

#endif
