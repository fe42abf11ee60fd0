#include "search/table.h"

#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "search/strategies.h"

static const strategy_kind *const kinds[] = {
    &strategy_automatic, &strategy_surrogate, &strategy_neighbourhood,
    &strategy_model,     &strategy_random,    &strategy_exhaustive,
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const strategy_kind *const *strategy_kinds(size_t *count)
{
    *count = KIND_COUNT;
    return kinds;
}

static at_status unknown_name(const char *name, at_error *error)
{
    const char *names[KIND_COUNT];
    for (size_t i = 0; i < KIND_COUNT; i++)
        names[i] = kinds[i]->name;
    const char *nearest = nearest_name(name, names, KIND_COUNT);
    char all[256] = "";
    for (size_t i = 0; i < KIND_COUNT; i++)
        text_add(all, sizeof all, "%s%s", i ? ", " : "", names[i]);
    return error_set(error, AT_USAGE, "there is no strategy '%s'%s%s%s; there are: %s", name,
                     nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                     all);
}

at_status strategy_find(const char *name, const strategy_kind **out, at_error *error)
{
    *out = kinds[0];
    for (size_t i = 0; name && i < KIND_COUNT; i++)
        if (strcmp(name, kinds[i]->name) == 0) {
            *out = kinds[i];
            return AT_OK;
        }
    return name ? unknown_name(name, error) : AT_OK;
}
