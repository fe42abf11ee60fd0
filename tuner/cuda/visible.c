#include "cuda/visible.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver shows what the list names up to the first entry that is none: a negative number, or
 * nothing. */
static bool is_entry(const char *entry, size_t length, size_t present)
{
    if (length == 0 || !isalnum((unsigned char)*entry))
        return false;
    return !isdigit((unsigned char)*entry) || present == 0 || strtoul(entry, NULL, 10) < present;
}

/* Writes what the list has to be; false: as it is. */
static bool name_alone(const char *visible, size_t present, int ordinal, char *out,
                       size_t size_bytes)
{
    if (ordinal < 0)
        return false;
    if (!visible)
        return present > 1 && (size_t)ordinal < present &&
               snprintf(out, size_bytes, "%d", ordinal) < (int)size_bytes;
    if (!strchr(visible, ','))
        return false;
    for (const char *entry = visible;; entry++, ordinal--) {
        size_t length = strcspn(entry, ",");
        if (!is_entry(entry, length, present))
            return false;
        if (ordinal == 0)
            return snprintf(out, size_bytes, "%.*s", (int)length, entry) < (int)size_bytes;
        entry += length;
        if (!*entry)
            return false;
    }
}

/* The driver of Linux has a file for each: /dev/nvidia0, ... */
size_t visible_present(void)
{
    size_t count = 0;
    DIR *devices = opendir("/dev");
    if (!devices)
        return 0;
    for (struct dirent *e; (e = readdir(devices));)
        count += strncmp(e->d_name, "nvidia", 6) == 0 && isdigit((unsigned char)e->d_name[6]);
    closedir(devices);
    return count;
}

int visible_show_alone(size_t present, int ordinal)
{
    char alone[128];
    if (!name_alone(getenv("CUDA_VISIBLE_DEVICES"), present, ordinal, alone, sizeof alone))
        return ordinal;
    setenv("CUDA_VISIBLE_DEVICES", alone, 1);
    return 0;
}
