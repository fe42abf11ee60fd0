/* Fuzzes headers of data files. Any bytes must be read or refused. A header that was read must
 * satisfy its contract. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_header h;
    dtype type = DTYPE_COUNT;
    char name[NPY_NAME_BYTES];
    at_error error = {0};
    at_status status = npy_parse(data, size, &h, &error);
    if (status)
        return status != AT_FORMAT || !error.message[0] ? abort(), 1 : 0;
    uint64_t count = 1;
    if (h.rank > NPY_MAX_RANK || h.data_offset > size || h.item_bytes == 0)
        abort();
    for (uint32_t i = 0; i < h.rank; i++)
        count *= h.shape[i];
    if (count != h.count || h.count > INT64_MAX / h.item_bytes)
        abort();
    if (npy_dtype(&h, &type) && (h.big_endian || dtype_get(type)->size_bytes != h.item_bytes))
        abort();
    if (strlen(npy_name(&h, name)) == 0)
        abort();
    return 0;
}
