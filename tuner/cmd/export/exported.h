/* The model of an exported pattern, with constraints in C, and the problems of its kernels. */
#ifndef AUTOTUNE_CMD_EXPORT_EXPORTED_H
#define AUTOTUNE_CMD_EXPORT_EXPORTED_H

#include "export/model.h"
#include "script/launch_c.h"
#include "script/script.h"

/* Makes the model, which borrows from the records and from `s`; `s` may be NULL. Errors are those
 * of export_model_init(). */
at_status exported_model(const char *pattern_name, const record_set *records, const script *s,
                         export_model *out, at_error *error);

/* Writes a name of the export_model `model` in C. The function is a term_leaf. */
bool exported_spell(void *model, const char *name, term_type *type, char *text, size_t size_bytes);

struct options;

enum { KERNELS_MOST_PROBLEMS = 1000 };

/* Problems whose kernels are exported. Values borrow from the records, the script and `texts`. */
typedef struct kernel_problems {
    size_t count, wanted; /* the first `wanted` problems are from records or --over */
    record_values *problems;
    size_t text_count;
    char **texts;
} kernel_problems;

/* Lists the problems of records, of --over, and of the samples for portfolios. AT_USAGE if --over
 * names a variable that does not exist or gives a wrong value. */
at_status exported_problems(const struct options *o, const export_model *m,
                            const record_set *records, const script *s, kernel_problems *p,
                            at_error *error);
void kernel_problems_deinit(kernel_problems *p); /* `p` may be zeroed */

#endif
