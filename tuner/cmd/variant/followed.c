#include "cmd/variant/followed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "compile/kernel_names.h"
#include "cpp/launch.h"
#include "script/kernel_file.h"

enum { MOST_LAUNCHES = 16 };

static bool same_shape(const kernel_launch *a, const kernel_launch *b)
{
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           a->dynamic_shared_bytes == b->dynamic_shared_bytes;
}

/* A kernel's launch in the pattern, and the parameters on which its shape depends. */
typedef struct shape {
    const pattern *pattern;
    char kernel[KERNEL_NAME_BYTES];
    const kernel_launch *wanted;
    bool depends[PATTERN_MAX_PARAMETERS];
} shape;

/* The parameters that the launch in the file does not read, or all: "BLOCK, VEC". Returns how many.
 */
static size_t tell_unread(const shape *s, const kernel_file *f, const cpp_launch *launch,
                          char *text, size_t size_bytes)
{
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < s->pattern->parameter_count; i++) {
        const char *name = s->pattern->parameters[i].name;
        if (!s->depends[i] || (launch && cpp_launch_reads(f->units, f->count, launch, name)))
            continue;
        text_add(text, size_bytes, "%s%s", n++ ? ", " : "", name);
    }
    return n;
}

static void warn(const shape *s, const char *path, int line, const char *what)
{
    const kernel_launch *l = s->wanted;
    char place[32] = "";
    if (line > 0)
        snprintf(place, sizeof place, ":%d", line);
    fprintf(stderr,
            "autotune: warning: %s%s: %s. With what is applied the tuned problem has grid "
            "%u x %u x %u, block %u x %u x %u, %u bytes of dynamic shared memory\n",
            path, place, what, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
            l->block[2], l->dynamic_shared_bytes);
}

static void check_launches(const shape *s, const kernel_file *f)
{
    char names[256], what[768];
    cpp_launch all[MOST_LAUNCHES];
    const cpp_span kernel = {s->kernel, strlen(s->kernel)};
    const size_t n = cpp_find_launches(f->units, f->count, kernel, all, MOST_LAUNCHES);
    for (size_t i = 0; i < n; i++) {
        if (tell_unread(s, f, &all[i], names, sizeof names) == 0)
            continue;
        snprintf(what, sizeof what, "the launch <<<%.*s>>> does not read %s: change it, too",
                 (int)(all[i].all.length < 200 ? all[i].all.length : 200), all[i].all.text, names);
        warn(s, f->paths[all[i].unit], all[i].line, what);
    }
    if (n > 0 || tell_unread(s, f, NULL, names, sizeof names) == 0)
        return;
    snprintf(what, sizeof what, "nothing in it launches %s: who does has to follow %s", s->kernel,
             names);
    warn(s, f->path, 0, what);
}

/* Sets which parameters, each changed alone, change the shape of which launch. */
static void find_dependences(script *s, const uint16_t *indices, const bool *is_macro,
                             const launch_plan *before, shape *shapes)
{
    const pattern *p = script_pattern(s);
    launch_plan *changed = memory_new(1, sizeof *changed);
    for (size_t i = 0; i < p->parameter_count; i++) {
        uint16_t one[PATTERN_MAX_PARAMETERS];
        at_error ignored = {0};
        if (!is_macro[i] || indices[i] == p->baseline[i])
            continue;
        memcpy(one, p->baseline, p->parameter_count * sizeof *one);
        one[i] = indices[i];
        if (script_launch_plan(s, PROBLEM_TUNED, one, changed, &ignored) ||
            changed->launch_count != before->launch_count)
            continue;
        for (uint32_t k = 0; k < before->launch_count; k++)
            shapes[k].depends[i] = !same_shape(&before->launches[k], &changed->launches[k]);
    }
    free(changed);
}

void followed_warn(script *s, const uint16_t *indices, const bool *is_macro)
{
    const kernel_file *f;
    const char *const *defines;
    size_t define_count;
    at_error ignored = {0};
    launch_plan *before = memory_new(1, sizeof *before), *after = memory_new(1, sizeof *after);
    shape *shapes = memory_new(PLAN_MAX_LAUNCHES, sizeof *shapes);
    if (script_file(s, &f, &defines, &define_count) &&
        !script_launch_plan(s, PROBLEM_TUNED, script_pattern(s)->baseline, before, &ignored) &&
        !script_launch_plan(s, PROBLEM_TUNED, indices, after, &ignored) &&
        after->launch_count == before->launch_count) {
        find_dependences(s, indices, is_macro, before, shapes);
        for (uint32_t k = 0; k < after->launch_count; k++) {
            shapes[k].pattern = script_pattern(s);
            shapes[k].wanted = &after->launches[k];
            kernel_own_name(plan_entry(after, k), shapes[k].kernel);
            check_launches(&shapes[k], f);
        }
    }
    free(before);
    free(after);
    free(shapes);
}
