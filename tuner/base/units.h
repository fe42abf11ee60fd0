/* Numbers as people read them: times, sizes, rates, counts.
 *
 * Each function writes into a caller's buffer of UNITS_BYTES and returns that buffer, so that it
 * can stand among printf's arguments. Never fails. */
#ifndef AUTOTUNE_BASE_UNITS_H
#define AUTOTUNE_BASE_UNITS_H

#include <stdint.h>

enum { UNITS_BYTES = 32 };

/* Four significant digits: "812 ns", "131.4 us", "2.105 ms", "12.34 s". */
char *units_time(int64_t time_ns, char out[UNITS_BYTES]);

/* A run's length: "0.42 s", "73.4 s" below two minutes, then "2 min 13 s", "1 h 02 min"; where it
 * is beyond a million hours "1.2e+20 s". A negative number or none is 0. */
char *units_duration(double seconds, char out[UNITS_BYTES]);

/* Binary units, whole where exact: "0 B", "1000 B", "48 KiB", "1.5 MiB". */
char *units_size(uint64_t size_bytes, char out[UNITS_BYTES]);

/* 10^9 bytes a second, four significant digits at most: "3.142", "93.4", "812", "4057". No unit:
 * it stands in the column's head. */
char *units_rate(double gbps, char out[UNITS_BYTES]);

/* Thousands set apart: "2,048". */
char *units_count(uint64_t count, char out[UNITS_BYTES]);

/* "94.8 %"; 1 is "100.0 %". */
char *units_percent(double fraction, char out[UNITS_BYTES]);

#endif
