/* The version of autotune. */
#ifndef AUTOTUNE_BASE_VERSION_H
#define AUTOTUNE_BASE_VERSION_H

const char *version_text(void); /* "0.1.0"; static storage */

#endif
