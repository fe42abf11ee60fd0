/* A captured launch as a problem of the script that describes its kernel. */
#ifndef AUTOTUNE_RUN_SETUP_CAPTURED_H
#define AUTOTUNE_RUN_SETUP_CAPTURED_H

#include "capture/capture.h"
#include "script/script.h"

typedef struct captured_script {
    captured_launch read;   /* owned */
    script_captured launch; /* the launch in the script's form; borrows from the other members */
    script_captured_argument *arguments; /* owned */
    script_captured_pointer *pointers;   /* pointers of all arguments; owned */
    script_captured_variable *variables; /* owned */
} captured_script;

/* Reads a captured launch, as captured_read(). The caller frees it after loading the script. */
at_status captured_script_read(const char *name, captured_script *out, at_error *error);
void captured_script_deinit(captured_script *c);

/* Compares the launch of the script's baseline with the captured launch. Reports a difference on
 * stderr: the program may have other values. Returns AT_SCRIPT for a script of several launches. */
at_status captured_script_compare(const captured_script *c, script *s, at_error *error);

#endif
