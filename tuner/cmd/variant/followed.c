#include "cmd/variant/followed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "compile/kernel_names.h"
#include "cpp/usage.h"
#include "record/record.h"
#include "script/kernel_file.h"

enum { MOST_LAUNCHES = 16 };

/* A kernel's launch in the pattern, and the parameters on which it depends, by its parts. */
typedef struct shape {
    const pattern *pattern;
    char kernel[KERNEL_NAME_BYTES];
    const kernel_launch *wanted;
    const uint16_t *indices;
    const bool *is_macro;
    bool grid[PATTERN_MAX_PARAMETERS], block[PATTERN_MAX_PARAMETERS],
        shared[PATTERN_MAX_PARAMETERS], entry[PATTERN_MAX_PARAMETERS];
    bool is_block[PATTERN_MAX_PARAMETERS]; /* the first side of the block is the parameter */
} shape;

/* A launch in the file, and where changes of its unit go. */
typedef struct change {
    const kernel_file *file;
    const cpp_launch *launch;
    edit_list *edits;
    long before, after; /* the number that is replaced, and by which */
} change;

static void add_number(const change *c, cpp_span at, long number)
{
    char text[32];
    const size_t begin = (size_t)(at.text - c->file->texts[c->launch->unit]);
    for (size_t i = 0; i < c->edits->count; i++)
        if (c->edits->edits[i].begin == begin)
            return;
    snprintf(text, sizeof text, "%ld", number);
    edit_add(c->edits, begin, at.length, text);
}

/* Replaces the number in the text, in the values of variables that it names and in those of the
 * file's constants; one less, where that is added to round up. Returns how many there are. */
static size_t change_numbers(const change *c, cpp_span text, int depth)
{
    enum { MOST_DEPTH = 4, MOST_VALUES = 4 };
    size_t found = 0;
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token last = {0};
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; last = t, t = cpp_next(&l)) {
        char *end;
        const long number = t.kind == CPP_NUMBER ? strtol(t.span.text, &end, 10) : -1;
        const bool is_whole =
            number > 0 && end + strspn(end, "uUlL") >= t.span.text + t.span.length;
        const bool is_less = is_whole && number == c->before - 1 && cpp_is(last, "+");
        if (is_whole && (number == c->before || is_less)) {
            add_number(c, t.span, c->after - is_less);
            found++;
        }
        cpp_assignment values[MOST_VALUES];
        const size_t n = t.kind == CPP_WORD && depth < MOST_DEPTH && !cpp_is(last, ".")
                             ? cpp_assignments(c->launch->before, t.span, values, MOST_VALUES)
                             : 0;
        for (size_t i = 0; i < n && n < MOST_VALUES; i++)
            found += change_numbers(c, values[i].value, depth + 1);
        const cpp_unit *u = &c->file->units[c->launch->unit];
        const cpp_macro *m = n == 0 && t.kind == CPP_WORD ? cpp_find_macro(u, 1, t.span) : NULL;
        if (m && !m->has_parameters && depth < MOST_DEPTH)
            found += change_numbers(c, m->value, depth + 1);
    }
    return found;
}

/* Does another parameter have the same number, so that it does not say which is meant? */
static bool is_ambiguous(const shape *s, size_t parameter)
{
    const pattern *p = s->pattern;
    const value own = p->parameters[parameter].values[p->baseline[parameter]];
    for (size_t i = 0; i < p->parameter_count; i++)
        if (i != parameter && value_equal(own, p->parameters[i].values[p->baseline[i]]) &&
            !value_equal(p->parameters[i].values[s->indices[i]],
                         p->parameters[parameter].values[s->indices[parameter]]))
            return true;
    return false;
}

/* The number that the first side of the launch's block is, through a variable; 0: it is none. */
static long block_number(const change *c, cpp_span text, int depth)
{
    cpp_assignment of[2];
    cpp_lexer l = cpp_lexer_make(text.text, text.length, 1);
    cpp_token t = cpp_next(&l), next = cpp_next(&l);
    if (cpp_is(t, "dim3") && cpp_is(next, "(")) {
        t = cpp_next(&l);
        next = cpp_next(&l);
    }
    const bool alone = next.kind == CPP_END || cpp_is(next, ",") || cpp_is(next, ")");
    if (alone && t.kind == CPP_NUMBER)
        return strtol(t.span.text, NULL, 10);
    return alone && t.kind == CPP_WORD && depth < 4 &&
                   cpp_assignments(c->launch->before, t.span, of, 2) == 1
               ? block_number(c, of[0].value, depth + 1)
               : 0;
}

/* Changes the launch for the parameter, which is no macro. False if a part of it that depends on it
 * has no such number. */
static bool change_launch(const shape *s, size_t parameter, change *c)
{
    const pattern *p = s->pattern;
    const value before = p->parameters[parameter].values[p->baseline[parameter]],
                after = p->parameters[parameter].values[s->indices[parameter]];
    if (before.kind != VALUE_INTEGER || after.kind != VALUE_INTEGER)
        return value_equal(before, after);
    const cpp_launch *l = c->launch;
    /* What the file has goes before what the pattern says of it. */
    const long own =
        s->block[parameter] && s->is_block[parameter] ? block_number(c, l->parts[1], 0) : 0;
    c->before = own > 0 ? own : (long)before.integer;
    c->after = (long)after.integer;
    if (c->before == c->after)
        return true;
    if (is_ambiguous(s, parameter))
        return false;
    bool all = !s->entry[parameter] || change_numbers(c, l->instance, 0) > 0;
    all = all && (!s->grid[parameter] || change_numbers(c, l->parts[0], 0) > 0);
    all = all && (!s->block[parameter] || change_numbers(c, l->parts[1], 0) > 0);
    return all &&
           (!s->shared[parameter] || (l->part_count > 2 && change_numbers(c, l->parts[2], 0) > 0));
}

static bool depends(const shape *s, size_t i)
{
    return s->grid[i] || s->block[i] || s->shared[i] || s->entry[i];
}

/* Appends the parameter and its value: "BLOCK = 512". */
static void add_value(const shape *s, size_t i, char *text, size_t size_bytes)
{
    char number[RECORD_TEXT_BYTES];
    value_format(s->pattern->parameters[i].values[s->indices[i]], number, sizeof number);
    text_add(text, size_bytes, "%s%s = %s", *text ? ", " : "", s->pattern->parameters[i].name,
             number);
}

static void warn(const shape *s, const char *path, int line, const char *what)
{
    const kernel_launch *l = s->wanted;
    char place[32] = "";
    if (line > 0)
        snprintf(place, sizeof place, ":%d", line);
    fprintf(stderr,
            "autotune: %s%s: %s. The tuned problem then has grid %u x %u x %u, block %u x %u x %u, "
            "%u bytes of dynamic shared memory\n",
            path, place, what, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
            l->block[2], l->dynamic_shared_bytes);
}

static bool change_launches(const shape *s, const kernel_file *f, edit_list *edits)
{
    char what[768];
    cpp_launch all[MOST_LAUNCHES];
    bool complete = true;
    const cpp_span kernel = {s->kernel, strlen(s->kernel)};
    const size_t n = cpp_find_launches(f->units, f->count, kernel, all, MOST_LAUNCHES);
    for (size_t i = 0; i <= n; i++) {
        char names[256] = "";
        change c = {.file = f, .launch = &all[i]};
        for (size_t k = 0; k < s->pattern->parameter_count; k++) {
            if (!depends(s, k))
                continue;
            if (i < n)
                c.edits = &edits[all[i].unit];
            const bool follows =
                i < n ? (s->is_macro[k] ? cpp_launch_reads(f->units, f->count, &all[i],
                                                           s->pattern->parameters[k].name)
                                        : change_launch(s, k, &c))
                      : n > 0;
            if (!follows)
                add_value(s, k, names, sizeof names);
        }
        bool only_macros = true;
        for (size_t k = 0; k < s->pattern->parameter_count; k++)
            only_macros = only_macros && (!depends(s, k) || s->is_macro[k]);
        complete = complete && (!*names || (i == n && only_macros));
        if (*names && i < n) {
            snprintf(what, sizeof what,
                     "the launch <<<%.*s>>> does not follow by itself: change it for %s",
                     (int)(all[i].all.length < 200 ? all[i].all.length : 200), all[i].all.text,
                     names);
            warn(s, f->paths[all[i].unit], all[i].line, what);
        } else if (*names) {
            snprintf(what, sizeof what,
                     "nothing in it launches %s: change it where that is, for %s", s->kernel,
                     names);
            warn(s, f->path, 0, what);
        }
    }
    return complete;
}

/* Sets which parameters, each changed alone, change which part of which launch. */
static void find_dependences(script *s, const uint16_t *indices, const bool *is_macro,
                             const launch_plan *before, shape *shapes)
{
    const pattern *p = script_pattern(s);
    launch_plan *changed = memory_new(1, sizeof *changed);
    for (size_t i = 0; i < p->parameter_count; i++) {
        uint16_t one[PATTERN_MAX_PARAMETERS];
        at_error ignored = {0};
        /* A macro that keeps its value changes nothing; what a launch has for another is not known.
         */
        if ((indices[i] == p->baseline[i] && is_macro[i]) || p->parameters[i].value_count < 2)
            continue;
        memcpy(one, p->baseline, p->parameter_count * sizeof *one);
        one[i] = indices[i] != p->baseline[i] ? indices[i] : p->baseline[i] == 0;
        if (script_launch_plan(s, PROBLEM_TUNED, one, changed, &ignored) ||
            changed->launch_count != before->launch_count)
            continue;
        for (uint32_t k = 0; k < before->launch_count; k++) {
            const kernel_launch *x = &before->launches[k], *y = &changed->launches[k];
            shapes[k].grid[i] = memcmp(x->grid, y->grid, sizeof x->grid) != 0;
            shapes[k].block[i] = memcmp(x->block, y->block, sizeof x->block) != 0;
            const value *of = p->parameters[i].values;
            shapes[k].is_block[i] = of[one[i]].kind == VALUE_INTEGER &&
                                    of[one[i]].integer == (int64_t)y->block[0] &&
                                    of[p->baseline[i]].integer == (int64_t)x->block[0];
            shapes[k].shared[i] = x->dynamic_shared_bytes != y->dynamic_shared_bytes;
            shapes[k].entry[i] = strcmp(plan_entry(before, k), plan_entry(changed, k)) != 0;
        }
    }
    free(changed);
}

bool followed_change(script *s, const uint16_t *indices, const bool *is_macro, edit_list *edits)
{
    const kernel_file *f;
    const char *const *defines;
    size_t define_count;
    at_error ignored = {0};
    bool complete = true;
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
            shapes[k].indices = indices;
            shapes[k].is_macro = is_macro;
            kernel_own_name(plan_entry(after, k), shapes[k].kernel);
            complete = change_launches(&shapes[k], f, edits) && complete;
        }
    }
    free(before);
    free(after);
    free(shapes);
    return complete;
}
