/* autotune apply: writes the winner into a kernel's file, as macro defaults and launch numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pack.h"
#include "base/text.h"
#include "cmd/line/edit.h"
#include "cmd/line/known.h"
#include "cmd/line/options.h"
#include "cmd/variant/best.h"
#include "compile/kernel_names.h"
#include "cpp/usage.h"
#include "record/record.h"
#include "run/setup/setup.h"
#include "script/kernel_file.h"

/* ---- launches in the host code, whose numbers depend on parameters ---- */

enum { MOST_LAUNCHES = 16, MOST_USES = 16, MOST_VALUES = 4 };

/* A kernel's launch in the pattern, and the parameters on which each part of the launch depends. */
typedef struct shape {
    const pattern *pattern;
    char kernel[KERNEL_NAME_BYTES];
    const kernel_launch *wanted;
    const uint16_t *indices;
    const bool *is_macro;
    bool grid[PATTERN_MAX_PARAMETERS], block[PATTERN_MAX_PARAMETERS],
        shared[PATTERN_MAX_PARAMETERS], entry[PATTERN_MAX_PARAMETERS];
    bool is_block[PATTERN_MAX_PARAMETERS]; /* whether block.x is the parameter */
} shape;

/* A launch in the file, and the edits of its unit. */
typedef struct change {
    const kernel_file *file;
    const cpp_launch *launch;
    edit_list *edits;
    long before, after; /* the number to replace, and its replacement */
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

/* Replaces the number `c->before` in the text, in variables that the text uses, and in constants;
 * also `c->before` - 1 where it is added to round up. Returns the number of replacements. */
static size_t change_numbers(const change *c, cpp_span text, int depth)
{
    enum { MOST_DEPTH = 4 };
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

/* Returns whether another parameter has the same old value but another new value: then a number in
 * the launch may stand for either parameter. */
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

/* Returns the x size of the launch's block, which may be in a variable; 0 if it is not a number. */
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

/* Changes the launch for a parameter that is not a macro. Returns false if a part of the launch
 * depends on the parameter but does not contain its old value. */
static bool change_launch(const shape *s, size_t parameter, change *c)
{
    const pattern *p = s->pattern;
    const value before = p->parameters[parameter].values[p->baseline[parameter]],
                after = p->parameters[parameter].values[s->indices[parameter]];
    if (before.kind != VALUE_INTEGER || after.kind != VALUE_INTEGER)
        return value_equal(before, after);
    const cpp_launch *l = c->launch;
    /* The old value is the block size in the file, if known, otherwise the pattern's baseline. */
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

static bool change_launches_of(const shape *s, const kernel_file *f, edit_list *edits)
{
    char what[768], names[256];
    cpp_launch all[MOST_LAUNCHES];
    bool complete = true;
    const pattern *p = s->pattern;
    const cpp_span kernel = {s->kernel, strlen(s->kernel)};
    const size_t n = cpp_find_launches(f->units, f->count, kernel, all, MOST_LAUNCHES);
    for (size_t i = 0; i < n; i++) {
        change c = {.file = f, .launch = &all[i], .edits = &edits[all[i].unit]};
        names[0] = '\0';
        for (size_t k = 0; k < p->parameter_count; k++)
            if (depends(s, k) && !(s->is_macro[k] ? cpp_launch_reads(f->units, f->count, &all[i],
                                                                     p->parameters[k].name)
                                                  : change_launch(s, k, &c)))
                add_value(s, k, names, sizeof names);
        if (!*names)
            continue;
        char lines[64] = "";
        cpp_assignment values[MOST_VALUES];
        const char *unit = f->texts[all[i].unit];
        for (size_t k = 0; k < all[i].part_count; k++) {
            cpp_span name = all[i].parts[k];
            for (; name.length > 0 && *name.text == ' '; name.length--)
                name.text++;
            const size_t set = cpp_assignments(all[i].before, name, values, MOST_VALUES);
            for (size_t v = 0; v < set && v < MOST_VALUES; v++)
                text_add(lines, sizeof lines, "%s%zu", *lines ? ", " : " (set in line ",
                         edit_count_lines(unit, 0, (size_t)(values[v].value.text - unit)));
        }
        snprintf(what, sizeof what, "the launch <<<%.*s>>>%s%s was not changed: adapt it to %s",
                 (int)(all[i].all.length < 200 ? all[i].all.length : 200), all[i].all.text, lines,
                 *lines ? ")" : "", names);
        warn(s, f->paths[all[i].unit], all[i].line, what);
        complete = false;
    }
    names[0] = '\0';
    for (size_t k = 0; n == 0 && k < p->parameter_count; k++)
        if (depends(s, k)) {
            add_value(s, k, names, sizeof names);
            complete = complete && s->is_macro[k];
        }
    if (*names) {
        snprintf(what, sizeof what,
                 "this file has no launch of %s: adapt the launch, in another file, to %s",
                 s->kernel, names);
        warn(s, f->path, 0, what);
    }
    return complete;
}

/* Finds the parameters on which each part of each launch depends, by changing one at a time. */
static void find_dependences(script *s, const uint16_t *indices, const bool *is_macro,
                             const launch_plan *before, shape *shapes)
{
    const pattern *p = script_pattern(s);
    launch_plan *changed = memory_new(1, sizeof *changed);
    for (size_t i = 0; i < p->parameter_count; i++) {
        uint16_t one[PATTERN_MAX_PARAMETERS];
        at_error ignored = {0};
        /* A macro that keeps its value changes no launch. */
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

/* Adds the changes of the host code's launches for the configuration `indices` to `edits`, which
 * has one list per unit. For parameters that are not macros of the file, numbers change in the
 * launches and in the values that they use. If a launch cannot be changed, or does not use a macro
 * on which it depends, prints its grid and block on stderr and returns false. */
static bool follow_launches(script *s, const uint16_t *indices, const bool *is_macro,
                            edit_list *edits)
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
            kernel_name_of_entry(plan_entry(after, k), shapes[k].kernel);
            complete = change_launches_of(&shapes[k], f, edits) && complete;
        }
    }
    free(before);
    free(after);
    free(shapes);
    return complete;
}

enum { MOST_ARCHES = 16 };

typedef struct choice {
    int major, minor;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
} choice;

typedef struct application {
    const options *o;
    script *s;
    bool is_mix; /* --captured names a folder with several launches: apply the winner of 'mix' */
    const kernel_file *file;
    const char *const *defines;
    size_t define_count;
    choice choices[MOST_ARCHES]; /* one per architecture, or a single one */
    size_t choice_count;
    edit_list *edits; /* one list per unit */
    pack added;       /* definitions of macros that the file does not define */
    bool is_shared;   /* other kernels use a macro that changes */
} application;

/* Writes the value as the C text of a macro. */
static void format(value v, char text[RECORD_TEXT_BYTES])
{
    if (v.kind == VALUE_BOOLEAN)
        strcpy(text, v.boolean ? "1" : "0");
    else
        value_format(v, text, RECORD_TEXT_BYTES);
}

/* Finds the definition of the macro, and its *unit. *out is NULL if the file does not define the
 * macro. AT_USAGE if there are several definitions. */
static at_status find_definition(const application *a, const char *name, const cpp_macro **out,
                                 size_t *unit, at_error *error)
{
    *out = NULL;
    for (size_t u = 0; u < a->file->count; u++)
        for (size_t i = 0; i < a->file->units[u].macro_count; i++) {
            const cpp_macro *m = &a->file->units[u].macros[i];
            if (!cpp_span_is(m->name, name))
                continue;
            if (*out)
                return error_set_at(
                    error, AT_USAGE, a->file->paths[u], m->line,
                    "%s is defined here and also in line %d of %s: remove one of the definitions",
                    name, (*out)->line, a->file->names[*unit]);
            *out = m;
            *unit = u;
        }
    return AT_OK;
}

static bool is_define(const application *a, const char *name)
{
    for (size_t i = 0; i < a->define_count; i++)
        if (strcmp(a->defines[i], name) == 0)
            return true;
    return false;
}

static value value_of(const application *a, size_t number, size_t parameter)
{
    return script_pattern(a->s)
        ->parameters[parameter]
        .values[a->choices[number].indices[parameter]];
}

static bool is_same_everywhere(const application *a, size_t parameter)
{
    for (size_t i = 1; i < a->choice_count; i++)
        if (!value_equal(value_of(a, 0, parameter), value_of(a, i, parameter)))
            return false;
    return true;
}

/* Rejects a macro that has several values and is used by host code, where __CUDA_ARCH__ is not
 * defined. AT_USAGE. */
static at_status check_host(const application *a, const char *name, at_error *error)
{
    const char *const words[] = {name, NULL};
    for (size_t u = 0; u < a->file->count; u++)
        for (size_t i = 0; i < a->file->units[u].declaration_count; i++) {
            const cpp_declaration *d = &a->file->units[u].declarations[i];
            if (d->wanted || d->member || d->kind != CPP_FUNCTION ||
                !cpp_text_has(a->file->units, a->file->count, d->span, words))
                continue;
            return error_set_at(
                error, AT_USAGE, a->file->paths[u], d->line,
                "the host's code here reads %s, whose value differs between architectures, and "
                "__CUDA_ARCH__ is defined in device code alone: apply for one (--arch), or let the "
                "program choose ('autotune export')",
                name);
        }
    return AT_OK;
}

/* Returns the definition with the new value, or with an #if per architecture. Caller frees it. */
static char *redefined(const application *a, size_t parameter, const cpp_macro *m)
{
    char text[RECORD_TEXT_BYTES];
    pack out = {0};
    const char *after = m->value.text + m->value.length;
    const size_t before_bytes = (size_t)(m->value.text - m->span.text),
                 after_bytes = (size_t)(m->span.text + m->span.length - after);
    for (size_t i = 0; i < a->choice_count && a->choice_count > 1; i++) {
        char line[64];
        snprintf(line, sizeof line, "#%s __CUDA_ARCH__ == %d%d0\n", i ? "elif" : "if",
                 a->choices[i].major, a->choices[i].minor);
        format(value_of(a, i, parameter), text);
        pack_append_text(&out, line);
        pack_append(&out, m->span.text, before_bytes);
        pack_append_text(&out, text);
        pack_append(&out, after, after_bytes);
        pack_append_text(&out, "\n");
    }
    if (a->choice_count > 1) {
        pack_append_text(&out, "#else\n");
        pack_append(&out, m->span.text, m->span.length);
        pack_append_text(&out, "\n#endif");
    }
    return memory_require(pack_take_text(&out));
}

/* Names the places at which the macro's new value changes other kernels. */
static void warn_of_others(application *a, const char *name)
{
    cpp_place others[MOST_USES];
    const size_t n = cpp_find_other_uses(a->file->units, a->file->count, name, others, MOST_USES);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr,
                "autotune: %s:%d: another kernel uses %s here, too: give one of the two kernels a "
                "macro of its own\n",
                a->file->paths[others[i].unit], others[i].line, name);
    a->is_shared = a->is_shared || n > 0;
}

static at_status apply_parameter(application *a, size_t parameter, at_error *error)
{
    const char *name = script_pattern(a->s)->parameters[parameter].name;
    const cpp_macro *m;
    size_t unit = 0;
    char text[RECORD_TEXT_BYTES], was[RECORD_TEXT_BYTES];
    if (!is_define(a, name)) /* no macro: the launches contain its value */
        return AT_OK;
    const bool same = is_same_everywhere(a, parameter);
    at_status status = find_definition(a, name, &m, &unit, error);
    if (!status && !same)
        status = check_host(a, name, error);
    if (status)
        return status;
    format(value_of(a, 0, parameter), text);
    if (!m && same) {
        char line[2 * RECORD_TEXT_BYTES + 64];
        snprintf(line, sizeof line, "#ifndef %s\n#define %s %s\n#endif\n", name, name, text);
        pack_append_text(&a->added, line);
        return AT_OK;
    }
    if (!m)
        return error_set_at(
            error, AT_USAGE, a->file->path, 0,
            "no file defines %s, whose value differs between architectures: define a default",
            name);
    snprintf(was, sizeof was, "%.*s", (int)m->value.length, m->value.text);
    const cpp_unit *u = &a->file->units[unit];
    if (!same || !value_equal(value_parse(was), value_parse(text)))
        warn_of_others(a, name);
    if (same && !value_equal(value_parse(was), value_parse(text)))
        edit_add(&a->edits[unit], (size_t)(m->value.text - u->text), m->value.length, text);
    if (same)
        return AT_OK;
    char *all = redefined(a, parameter, m);
    edit_add(&a->edits[unit], (size_t)(m->span.text - u->text), m->span.length, all);
    free(all);
    return AT_OK;
}

/* Adds definitions of macros that the file takes from -D, after its first comment, if any. */
static void add_definitions(application *a)
{
    char *text = memory_require(pack_take_text(&a->added));
    const cpp_unit *u = &a->file->units[0];
    if (*text) {
        const char *at = u->own_comment.text + u->own_comment.length;
        at += *at == '\n';
        edit_add(&a->edits[0], (size_t)(at - u->text), 0, text);
    }
    free(text);
}

/* Writes the new values into `baseline` in the file's comment: the file now launches them. */
static void change_baseline(application *a)
{
    const cpp_unit *u = &a->file->units[0];
    const pattern *p = script_pattern(a->s);
    cpp_lexer l = cpp_lexer_make(u->own_comment.text + 2, u->own_comment.length - 2, 1);
    bool is_inside = false, begins = false;
    size_t parameter = p->parameter_count;
    cpp_token last = {0};
    for (cpp_token t = cpp_next(&l); t.kind != CPP_END; last = t, t = cpp_next(&l)) {
        char text[RECORD_TEXT_BYTES];
        begins = cpp_is(t, "baseline") || (begins && (cpp_is(t, "=") || cpp_is(t, "{")));
        is_inside = begins || (is_inside && !cpp_is(t, "}"));
        for (size_t i = 0; is_inside && t.kind == CPP_WORD && i < p->parameter_count; i++)
            if (cpp_span_is(t.span, p->parameters[i].name))
                parameter = i;
        if (!is_inside || t.kind != CPP_NUMBER || !cpp_is(last, "=") ||
            parameter == p->parameter_count)
            continue;
        format(value_of(a, 0, parameter), text);
        if (!cpp_span_is(t.span, text))
            edit_add(&a->edits[0], (size_t)(t.span.text - u->text), t.span.length, text);
    }
}

static at_status choose(application *a, const arch_limits *arch, at_error *error)
{
    pick_rule rule;
    choice *c = &a->choices[a->choice_count];
    *c = (choice){.major = arch->major, .minor = arch->minor};
    at_status status = AT_OK;
    if (a->o->configuration) {
        status = script_parse_configuration(a->s, a->o->configuration, c->indices, error);
    } else if (a->is_mix) {
        status = best_find_mix(a->o, a->s, arch, c->indices, error);
    } else {
        status = best_find(a->o, a->s, arch, c->indices, &rule, error);
        if (!status && rule == PICK_DEFAULT)
            status = error_set(
                error, AT_USAGE,
                "there is no record of %s for %s%s. Tune it on that GPU (runs on simulated devices "
                "record nothing), or give the values, --config %s=...",
                script_pattern(a->s)->name, arch->name,
                !a->o->run.machine.arch && strncmp(arch->name, "sm_", 3) == 0
                    ? ", which is assumed because no GPU is here and --arch is missing"
                    : "",
                script_pattern(a->s)->parameters[0].name);
    }
    a->choice_count += !status;
    return status;
}

static int older_first(const void *a, const void *b)
{
    const choice *x = a, *y = b;
    return x->major != y->major ? x->major - y->major : x->minor - y->minor;
}

/* Chooses a configuration for each recorded architecture. */
static at_status choose_each(application *a, at_error *error)
{
    record_set records = {0};
    at_status status = known_records(a->o, script_pattern(a->s)->name, false, &records, error);
    for (size_t i = 0; !status && i < records.count; i++) {
        const record *r = &records.records[i];
        bool known = a->choice_count == MOST_ARCHES;
        for (size_t k = 0; k < a->choice_count; k++)
            known = known || (a->choices[k].major == r->major && a->choices[k].minor == r->minor);
        arch_limits arch;
        char name[32];
        snprintf(name, sizeof name, "sm_%d%d", r->major, r->minor);
        if (known || arch_find(name, &arch, NULL))
            continue;
        snprintf(arch.name, sizeof arch.name, "%s", r->gpu);
        status = choose(a, &arch, error);
    }
    if (!status && a->choice_count == 0)
        status = error_set(error, AT_USAGE, "there is no record of %s: tune it first",
                           script_pattern(a->s)->name);
    record_set_deinit(&records);
    qsort(a->choices, a->choice_count, sizeof *a->choices, older_first);
    return status;
}

static at_status write_units(const application *a, bool complete, at_error *error)
{
    bool any = false;
    at_status status = AT_OK;
    for (size_t u = 0; u < a->file->count; u++) {
        any = any || a->edits[u].count > 0;
        edit_print(&a->edits[u], a->file->texts[u], a->file->paths[u], stdout);
    }
    for (size_t u = 0; !status && a->o->write && u < a->file->count; u++) {
        if (a->edits[u].count == 0)
            continue;
        char *after = edit_apply(&a->edits[u], a->file->texts[u]);
        status = edit_write(a->file->paths[u], a->file->texts[u], after, error);
        free(after);
    }
    if (!status && !any && complete)
        fprintf(stderr, "autotune: %s has these values already\n", a->file->path);
    else if (!status && any && !a->o->write)
        fprintf(stderr, "autotune: %s is not changed: --write changes it\n", a->file->path);
    else if (!status && any && !complete)
        fprintf(stderr,
                "autotune: %s has the new values, but not at the places above: change them by hand "
                "before you build\n",
                a->file->path);
    return status;
}

static bool change_launches(const application *a)
{
    bool is_macro[PATTERN_MAX_PARAMETERS], complete = true;
    const pattern *p = script_pattern(a->s);
    for (size_t i = 0; i < p->parameter_count; i++)
        is_macro[i] = is_define(a, p->parameters[i].name);
    for (size_t i = 0; i < a->choice_count; i++)
        complete = follow_launches(a->s, a->choices[i].indices, is_macro, a->edits) && complete;
    return complete;
}

static at_status apply(const options *o, int *exit_code, at_error *error)
{
    arch_limits arch;
    application a = {.o = o};
    at_status status = o->run.machine.arch ? target_find(o->run.machine.arch, &arch, error)
                                           : target_here(&arch, error);
    if (!status && o->per_arch && o->configuration)
        status = error_set(error, AT_USAGE,
                           "--per-arch takes its values from the records: leave out --config");
    settings asked = o->run;
    char first[BEST_NAME_BYTES];
    a.is_mix = !status && best_take_mix(&asked, first);
    if (!status)
        status = target_load_script(&asked, &arch, &a.s, error);
    if (!status && !script_file(a.s, &a.file, &a.defines, &a.define_count))
        status = error_set(error, AT_USAGE,
                           "the kernel of %s is a template, which apply cannot change; 'autotune "
                           "export' writes the best kernels",
                           o->operand);
    if (!status)
        status = o->per_arch ? choose_each(&a, error) : choose(&a, &arch, error);
    if (!status)
        a.edits = memory_new(a.file->count, sizeof *a.edits);
    const size_t parameters = status ? 0 : script_pattern(a.s)->parameter_count;
    for (size_t i = 0; !status && i < parameters; i++)
        status = apply_parameter(&a, i, error);
    if (!status) {
        add_definitions(&a);
        const bool complete = change_launches(&a) && !a.is_shared;
        if (a.choice_count == 1 && a.file->units[0].own_comment.length > 2)
            change_baseline(&a);
        *exit_code = complete ? 0 : 1;
        status = write_units(&a, complete, error);
    }
    for (size_t u = 0; a.edits && u < a.file->count; u++)
        edit_list_deinit(&a.edits[u]);
    free(a.edits);
    pack_deinit(&a.added);
    script_free(a.s);
    return status;
}

const command cmd_apply = {
    .name = "apply",
    .operand = "FILE.cu",
    .summary = "Write the best values into a kernel's own file",
    .options = "describe config captured per-arch write results set include arch no-cache",
    .raw = true,
    .answer = apply,
};
