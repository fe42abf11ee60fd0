#include "differences.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

const char *const difference_names[STATE_COUNT] = {"equal", "nan", "near", "differs", "refused"};

static bool read_line(difference *e, const char *line)
{
    char name[16];
    int taken = 0, more = 0;
    /* A pattern ends at a tab, because it may contain blanks. */
    if (sscanf(line, "%63[^\t]%*[\t]%15s%n", e->pattern, name, &taken) != 2)
        return false;
    e->alone = strcmp(name, "alone") == 0;
    e->among = strcmp(name, "among") == 0       ? AMONG_ALWAYS
               : strcmp(name, "among-nan") == 0 ? AMONG_NAN
                                                : AMONG_NEVER;
    bool equal = e->alone || e->among != AMONG_NEVER;
    for (e->state = STATE_EQUAL;
         e->state < STATE_COUNT && !equal && strcmp(name, difference_names[e->state]) != 0;)
        e->state++;
    if (e->state == STATE_COUNT)
        return false;
    if (e->state == STATE_NEAR &&
        sscanf(line + taken, "%lf%lf%n", &e->ulps, &e->absolute, &more) != 2)
        return false;
    return sscanf(line + taken + more, " %159[^\n]", e->reason) == 1;
}

bool differences_read(differences *d, const char *path)
{
    char line[400];
    FILE *f = fopen(path, "r");
    bool ok = f != NULL;
    d->count = 0;
    if (!f)
        fprintf(stderr, "cannot read %s\n", path);
    for (int number = 1; ok && fgets(line, sizeof line, f); number++) {
        if (line[0] == '#' || line[0] == '\n')
            continue;
        ok = d->count < DIFFERENCES_MOST && read_line(&d->lines[d->count++], line);
        if (!ok)
            fprintf(stderr,
                    "%s:%d: a pattern, a tab, nan, near ULPS ABSOLUTE, differs, refused, alone, "
                    "among or among-nan, and a reason\n",
                    path, number);
    }
    if (f)
        fclose(f);
    return ok;
}

const difference *differences_find(const differences *d, const char *name)
{
    static const difference equal = {.state = STATE_EQUAL};
    for (size_t i = 0; i < d->count; i++)
        if (fnmatch(d->lines[i].pattern, name, 0) == 0)
            return &d->lines[i];
    return &equal;
}
