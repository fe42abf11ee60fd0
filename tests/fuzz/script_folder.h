/* A temporary folder and low limits, for fuzz targets that load scripts. */
#ifndef AUTOTUNE_SCRIPT_FOLDER_H
#define AUTOTUNE_SCRIPT_FOLDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "script/script.h"

static char folder[64];

static inline void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command))
        perror(folder);
}

/* Writes a file into the temporary folder, which the first call makes. Returns the file's path. */
static inline const char *write_input(const char *name, const void *bytes, size_t size_bytes)
{
    static char path[128];
    if (!folder[0]) {
        strcpy(folder, "/tmp/autotune-fuzz.XXXXXX");
        if (!mkdtemp(folder))
            abort();
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size_bytes, f) != size_bytes || fclose(f))
        abort();
    return path;
}

static inline script_options tight_options(void)
{
    return (script_options){
        .lua_dir = FUZZ_SOURCE_DIR "/lua",
        .template_dir = FUZZ_SOURCE_DIR "/tests/fixtures",
        .memory_limit_bytes = 8 << 20,
        .instruction_limit = 1000000,
        .device = {.name = "sm_90",
                   .major = 9,
                   .max_threads_per_block = 1024,
                   .max_shared_per_block_bytes = 232448},
    };
}

#endif
