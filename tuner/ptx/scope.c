#include "ptx/scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ptx_scope_deinit(ptx_scope *s)
{
    free(s->names);
    *s = (ptx_scope){0};
}

/* FNV-1a, folded to a bucket. */
static unsigned bucket_of(ptx_text text)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < text.length; i++)
        h = (h ^ (unsigned char)text.at[i]) * 16777619u;
    return (h ^ h >> 16) % PTX_SCOPE_BUCKETS;
}

void ptx_scope_put(ptx_scope *s, ptx_text text, int kind, int index, int count)
{
    unsigned b = bucket_of(text);
    const ptx_name name = {text, kind, index, count, s->buckets[b]};
    memory_add(&s->names, &s->count, &name, sizeof name);
    s->buckets[b] = (int)s->count;
}

static const ptx_name *find(const ptx_scope *s, ptx_text text, bool range)
{
    for (int i = s->buckets[bucket_of(text)]; i != 0; i = s->names[i - 1].next) {
        const ptx_name *n = &s->names[i - 1];
        if ((n->count > 0) == range && n->text.length == text.length &&
            memcmp(n->text.at, text.at, text.length) == 0)
            return n;
    }
    return NULL;
}

bool ptx_scope_find(const ptx_scope *s, ptx_text text, int *kind, int *index)
{
    const ptx_name *n = find(s, text, false);
    if (n) {
        *kind = n->kind;
        *index = n->index;
        return true;
    }
    uint32_t stem = text.length;
    while (stem > 0 && text.at[stem - 1] >= '0' && text.at[stem - 1] <= '9')
        stem--;
    uint32_t digits = text.length - stem;
    if (digits == 0 || digits > 7 || (digits > 1 && text.at[stem] == '0'))
        return false;
    int number = 0;
    for (uint32_t i = stem; i < text.length; i++)
        number = number * 10 + (text.at[i] - '0');
    n = find(s, (ptx_text){text.at, stem}, true);
    if (!n || number >= n->count)
        return false;
    *kind = n->kind;
    *index = n->index + number;
    return true;
}

void ptx_scope_pop(ptx_scope *s, size_t mark)
{
    while (s->count > mark) {
        const ptx_name *n = &s->names[--s->count];
        s->buckets[bucket_of(n->text)] = n->next;
    }
}
