/* The measured ceilings of a GPU: results/<gpu>/device.json. The file follows the rules of the
 * GPU's records beside it (record/record.h). docs/development/records.md documents its members. */
#ifndef AUTOTUNE_RECORD_CEILINGS_H
#define AUTOTUNE_RECORD_CEILINGS_H

#include <stddef.h>

#include "base/error.h"
#include "device/ceiling.h"
#include "record/merge.h"
#include "record/summary.h"

/* The name of the file. No pattern may have this name. */
#define CEILINGS_FILE "device.json"

typedef struct ceiling_rates {
    double rates[CEILING_KINDS]; /* 10^9 bytes, flops or items per second; 0 if not measured */
} ceiling_rates;

/* Reads the ceilings of a GPU. Without a file, every rate is 0. AT_FORMAT if the file is damaged,
 * or of another GPU or version; AT_IO, AT_NO_MEMORY. */
at_status ceilings_read(const char *results_dir, const char *gpu, ceiling_rates *out,
                        at_error *error);

/* Parses the text of a file of ceilings; `path` is for messages. Errors as ceilings_read(). */
at_status ceilings_parse(const char *text, size_t size_bytes, const char *path, ceiling_rates *out,
                         at_error *error);

/* Records the rate of a run's best variant as the GPU's ceiling `kind`, with driver, compiler,
 * date, problem and configuration. Writes the file's path to `path`. AT_USAGE if the times are
 * predicted or the run has no best variant; otherwise as ceilings_read(). */
at_status ceilings_merge(const char *results_dir, const run_summary *s, ceiling_kind kind,
                         char *path, size_t path_bytes, at_error *error);

/* Called for each ceiling with the change and its reason. */
typedef void ceilings_reporter(void *context, const char *gpu, const char *ceiling,
                               combine_change change, const char *why);

/* Merges the ceilings in the folder `from` (of one GPU or all) into the ceilings under
 * `results_dir`. The newer of two ceilings wins. If `dry`, only calls `tell`. `*count` is the
 * number of files read; unreadable files are added to `faults`. Errors as ceilings_read(), for
 * files under `results_dir`. */
at_status ceilings_combine(const char *from, const char *results_dir, bool dry,
                           ceilings_reporter *tell, void *context, record_faults *faults,
                           size_t *count, at_error *error);

#endif
