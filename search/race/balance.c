#include "search/race/balance.h"

size_t balance_rows(size_t items)
{
    if (items < 2)
        return 1;
    return items % 2 ? 2 * items : items;
}

void balance_row(size_t items, size_t row, uint32_t *order)
{
    row %= balance_rows(items);
    size_t shift = row % (items ? items : 1);
    /* An odd design is the rows of the zigzag 0, 1, n-1, 2, n-2, ... and their mirror images. */
    int mirrored = row >= items;
    for (size_t i = 0; i < items; i++) {
        size_t zigzag = i % 2 ? (i + 1) / 2 : (items - i / 2) % items;
        order[mirrored ? items - 1 - i : i] = (uint32_t)((zigzag + shift) % items);
    }
}
