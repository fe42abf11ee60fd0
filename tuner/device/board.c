#include "device/board.h"

#include <stdio.h>

/* nvmlClocksThrottleReason* of nvml.h, of which 0x1 (idle), 0x2 (application clocks) and 0x100
 * (display clocks) are no fault. */
static const struct {
    uint64_t bit;
    const char *text;
} reasons[] = {
    {0x04, "power cap"},     {0x08, "hardware slowdown"},      {0x10, "synchronised boost"},
    {0x20, "thermal limit"}, {0x40, "hardware thermal limit"}, {0x80, "power brake"},
};

char *board_throttle_text(uint64_t throttle, char *out, size_t size_bytes)
{
    size_t used = 0;
    if (size_bytes > 0)
        *out = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if ((throttle & reasons[i].bit) && used < size_bytes)
            used += (size_t)snprintf(out + used, size_bytes - used, "%s%s", used ? ", " : "",
                                     reasons[i].text);
    return out;
}
