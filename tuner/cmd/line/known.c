#include "cmd/line/known.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

bool known_gpu(const char *gpu, const char *asked, bool *exactly)
{
    char slug[PATHS_SLUG_BYTES + 2] = "-", words[PATHS_SLUG_BYTES + 2] = "-";
    paths_slug(gpu, slug + 1);
    paths_slug(asked, words + 1);
    text_add(slug, sizeof slug, "-");
    text_add(words, sizeof words, "-");
    *exactly = strcmp(slug, words) == 0;
    return strstr(slug, words) != NULL;
}

void known_folders(const options *o, record_folders *out)
{
    paths own;
    at_error none = {0};
    bool found = paths_find(&own, &none) == AT_OK;
    record_folders_find(o->results, found ? &own : NULL, out);
}

void known_folders_text(const options *o, char *text, size_t size_bytes)
{
    record_folders folders;
    known_folders(o, &folders);
    record_folders_text(&folders, text, size_bytes);
}

at_status known_records(const options *o, const char *pattern_name, bool may_be_none,
                        record_set *out, at_error *error)
{
    record_folders folders;
    known_folders(o, &folders);
    at_status status = record_search(&folders, pattern_name, out, error);
    if (may_be_none)
        status = error_forgive(status, AT_NOT_FOUND, error);
    for (size_t i = 0; i < out->faults.count; i++)
        fprintf(stderr, "autotune: warning: left out: %s\n", out->faults.items[i].text);
    return status;
}
