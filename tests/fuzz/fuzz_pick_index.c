/* What is kept of records comes from a folder of the user's: any bytes are refused, or a table that
 * can be picked from. */
#include <stdint.h>
#include <stdlib.h>

#include "record/pick.h"
#include "record/pick_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool ask(void *context, const record_feature *feature, const record_values *configuration,
                double *out)
{
    (void)context;
    (void)feature;
    *out = (double)configuration->count;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pack bytes = {0};
    pick_table t;
    at_error error = {0};
    record_pair pairs[] = {{"n", {.kind = VALUE_INTEGER, .integer = 4096}},
                           {"dtype", {.kind = VALUE_STRING, .string = "float"}}};
    const record_values problem = {2, pairs};
    const pick_target target = {.gpu = "NVIDIA H200", .major = 9, .problem = &problem, .ask = ask};
    pack_append(&bytes, data, size);
    at_status status = pick_index_get(&bytes, &t, &error);
    if (status && status != AT_FORMAT)
        abort();
    if (!status) {
        pick_walk w;
        pick_candidate found;
        pick_walk_begin(&w, &t, &target);
        while (pick_walk_next(&w, &found))
            (void)pick_judge(&w, &found, NULL);
        pick_walk_end(&w);
        (void)pick_from(&t, &target, &found);
    }
    pick_table_deinit(&t);
    pack_deinit(&bytes);
    return 0;
}
