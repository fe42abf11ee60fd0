/* The measured ceilings of a GPU: results/<gpu>/device.json.
 *
 * The file stands beside the GPU's records and follows the same rules (record/record.h): it is
 * bounded and checked when it is read, replaced atomically under a lock of its folder, and members
 * that this version does not know are kept. results/README.md documents its members. */
#ifndef AUTOTUNE_RECORD_CEILINGS_H
#define AUTOTUNE_RECORD_CEILINGS_H

#include <stddef.h>

#include "base/error.h"
#include "device/ceiling.h"
#include "record/combine.h"
#include "record/summary.h"

/* The name of the file; no pattern's record has it. */
#define CEILINGS_FILE "device.json"

typedef struct ceiling_rates {
    double rates[CEILING_KINDS]; /* 10^9 bytes, flops or items a second; 0: not measured */
} ceiling_rates;

/* Reads what is kept for a GPU; without a file every rate is 0. AT_FORMAT for a file that is
 * damaged, or of another GPU or version; AT_IO, AT_NO_MEMORY. */
at_status ceilings_read(const char *results_dir, const char *gpu, ceiling_rates *out,
                        at_error *error);

/* Like ceilings_read(), from a text. */
at_status ceilings_parse(const char *text, size_t size_bytes, const char *path, ceiling_rates *out,
                         at_error *error);

/* Keeps the rate that the best of a run reached as the GPU's `kind`, in place of an earlier one,
 * with driver, compiler, date, problem and configuration. Writes the file's path to `path`.
 * AT_USAGE for predicted times or without a best; otherwise as ceilings_read(). */
at_status ceilings_merge(const char *results_dir, const run_summary *s, ceiling_kind kind,
                         char *path, size_t path_bytes, at_error *error);

/* Is told what is done with a ceiling, and why. */
typedef void ceilings_tell(void *context, const char *gpu, const char *ceiling,
                           combine_change change, const char *why);

/* Merges the ceilings in the folder `from`, of one GPU or all, into those under `results_dir`: of
 * two the newer one is taken. `dry`: only reports. *count is how many files were read; those that
 * cannot be are noted in `faults`. Otherwise as ceilings_read(), of files under `results_dir`. */
at_status ceilings_combine(const char *from, const char *results_dir, bool dry, ceilings_tell *tell,
                           void *context, record_faults *faults, size_t *count, at_error *error);

#endif
