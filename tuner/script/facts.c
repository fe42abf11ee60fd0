#include "script/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_text.h"
#include "device/field.h"
#include "script/expression/scalar.h"
#include "script/state.h"

/* Changes with what is written. */
static const uint32_t facts_version = 1;

enum { MOST_INPUTS = PATTERN_MAX_PARAMETERS + PATTERN_MAX_VARIABLES + DEVICE_MOST_FIELDS };
enum { MOST_STEPS = 2048 }; /* 32 KiB of a thread's stack */

/* Inputs of expressions: the parameters, then the problem's variables, then the device's fields. */
struct script_facts {
    unsigned char *bytes; /* texts point into them */
    pattern pattern;
    space_parameter *parameters;
    value *values; /* of parameters and domains */
    pattern_variable *problem;
    pattern_domain *domains;
    uint16_t *baseline;
    space_constraint *constraints;
    pattern_feature *features;
    uint32_t *roots; /* steps: of the constraints, then of the features */
    scalar_program program;
};

/* ---- making ---- */

/* True where all values are of one kind; then *type is theirs. */
static bool type_of_values(const value *values, size_t count, term_type *type)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind != values[0].kind)
            return false;
    *type = term_type_of(values[0].kind);
    return true;
}

static size_t place_of(const pattern *p, const char *name)
{
    for (size_t i = 0; i < p->parameter_count; i++)
        if (strcmp(p->parameters[i].name, name) == 0)
            return i;
    for (size_t i = 0; i < p->problem_count; i++)
        if (strcmp(p->problems[PROBLEM_TUNED][i].name, name) == 0)
            return p->parameter_count + i;
    return SIZE_MAX;
}

static bool type_of_input(const pattern *p, size_t place, term_type *type)
{
    if (place < p->parameter_count)
        return type_of_values(p->parameters[place].values, p->parameters[place].value_count, type);
    return type_of_values(&p->problems[PROBLEM_TUNED][place - p->parameter_count].value, 1, type);
}

/* A term_leaf. Derived values are put in place. */
static bool type_of_leaf(void *context, const char *name, term_type *type, char *text,
                         size_t size_bytes)
{
    (void)text;
    (void)size_bytes;
    const pattern *p = &((const script *)context)->pattern;
    const size_t place = place_of(p, name);
    return place != SIZE_MAX && type_of_input(p, place, type);
}

static bool find_input(void *context, const node *leaf, uint32_t *place)
{
    const pattern *p = &((const script *)context)->pattern;
    size_t found = SIZE_MAX, count;
    const device_field *field = leaf->op == NODE_DEVICE ? device_field_find(leaf->name) : NULL;
    if (leaf->op != NODE_DEVICE)
        found = place_of(p, leaf->name);
    else if (field)
        found = p->parameter_count + p->problem_count + (size_t)(field - device_fields(&count));
    *place = (uint32_t)found;
    return found != SIZE_MAX;
}

/* *made is false where there is no term, or none of that type (`truth`; else a number). */
static at_status add_expression(script *s, scalar_program *to, const expression *e, bool truth,
                                uint32_t *root, bool *made, at_error *error)
{
    const node *term;
    term_type type;
    at_status status = term_make(s->expressions, e->root, type_of_leaf, s, &type, &term, error);
    *made = !status && term &&
            (truth ? type == TERM_TRUTH : type == TERM_WHOLE || type == TERM_NUMBER) &&
            scalar_add(to, term, find_input, s, root) && to->step_count <= MOST_STEPS;
    return status;
}

/* The file of a script may leave out the device's fields that this program has. */
static uint64_t fields_key(void)
{
    size_t count;
    uint64_t key = 0;
    const device_field *fields = device_fields(&count);
    for (size_t i = 0; i < count; i++)
        for (const char *c = fields[i].name; *c; c++)
            key = key * 31 + (unsigned char)*c + (uint64_t)fields[i].kind;
    return key;
}

static void put_value(pack *to, value v)
{
    pack_put_u32(to, (uint32_t)v.kind);
    if (v.kind == VALUE_STRING)
        pack_put_string(to, v.string);
    else if (v.kind == VALUE_NUMBER)
        pack_put_f64(to, v.number);
    else
        pack_put_u64(to, v.kind == VALUE_BOOLEAN ? v.boolean : (uint64_t)v.integer);
}

static void put_values(pack *to, const value *values, size_t count)
{
    pack_put_u32(to, (uint32_t)count);
    for (size_t i = 0; i < count; i++)
        put_value(to, values[i]);
}

static void put_pattern(pack *to, const pattern *p)
{
    pack_put_string(to, p->path);
    pack_put_string(to, p->name);
    pack_put_u32(to, (uint32_t)p->parameter_count);
    for (size_t i = 0; i < p->parameter_count; i++) {
        pack_put_string(to, p->parameters[i].name);
        pack_put_u32(to, p->baseline[i]);
        put_values(to, p->parameters[i].values, p->parameters[i].value_count);
    }
    pack_put_u32(to, (uint32_t)p->problem_count);
    for (size_t i = 0; i < p->problem_count; i++) {
        const pattern_domain *d = &p->domains[i];
        pack_put_string(to, p->problems[PROBLEM_TUNED][i].name);
        put_value(to, p->problems[PROBLEM_TUNED][i].value);
        pack_put_u32(to, d->is_range);
        put_values(to, d->is_range ? (const value[]){d->least, d->most} : d->values,
                   d->is_range ? 2 : d->value_count);
    }
    pack_put_u32(to, (uint32_t)p->constraint_count);
    for (size_t i = 0; i < p->constraint_count; i++) {
        pack_put_string(to, p->constraints[i].text);
        pack_put_u32(to, (uint32_t)p->constraints[i].line);
    }
    pack_put_u32(to, (uint32_t)p->feature_count);
    for (size_t i = 0; i < p->feature_count; i++) {
        pack_put_string(to, p->features[i].name);
        pack_put_string(to, p->features[i].definition);
        pack_put_u32(to, p->features[i].of_configuration);
    }
}

at_status script_facts_put(script *s, pack *to, at_error *error)
{
    scalar_program program = {0};
    const pattern *p = &s->pattern;
    const size_t count = p->constraint_count + p->feature_count;
    uint32_t *roots = calloc(count + 1, sizeof *roots);
    at_status status = roots ? AT_OK : error_no_memory(error);
    bool made = true;
    for (size_t i = 0; i < count && !status && made; i++) {
        const bool truth = i < p->constraint_count;
        const expression *e =
            truth ? &s->constraint_tests[i] : &s->features[i - p->constraint_count];
        status = add_expression(s, &program, e, truth, &roots[i], &made, error);
    }
    if (!status && !made)
        status = error_set(error, AT_NOT_FOUND, "only Lua can evaluate all of %s", p->path);
    if (!status) {
        pack_put_u32(to, facts_version);
        pack_put_u64(to, fields_key());
        put_pattern(to, p);
        scalar_put(to, &program);
        for (size_t i = 0; i < count; i++)
            pack_put_u32(to, roots[i]);
        if (to->failed)
            status = error_no_memory(error);
    }
    scalar_deinit(&program);
    free(roots);
    return status;
}

/* ---- reading ---- */

static value get_value(pack *from)
{
    value v = {.kind = (value_kind)pack_get_u32(from)};
    switch (v.kind) {
    case VALUE_STRING:
        v.string = pack_get_string(from);
        break;
    case VALUE_NUMBER:
        v.number = pack_get_f64(from);
        break;
    case VALUE_INTEGER:
        v.integer = (int64_t)pack_get_u64(from);
        break;
    case VALUE_BOOLEAN:
        v.boolean = pack_get_u64(from) != 0;
        break;
    default:
        from->failed = true;
    }
    return v;
}

/* The values go to the end of those that there are: there is room for all that the bytes hold. */
static const value *get_values(pack *from, value **next, size_t *count)
{
    const value *first = *next;
    *count = pack_get_count(from, UINT16_MAX, 12);
    for (size_t i = 0; i < *count && !from->failed; i++)
        *(*next)++ = get_value(from);
    return first;
}

static void *make(pack *from, size_t count, size_t size)
{
    void *made = calloc(count + 1, size);
    from->failed = from->failed || !made;
    return made;
}

static void get_parameters(pack *from, script_facts *f, value **next)
{
    pattern *p = &f->pattern;
    const size_t count = pack_get_count(from, PATTERN_MAX_PARAMETERS, 1);
    f->parameters = make(from, count, sizeof *f->parameters);
    f->baseline = make(from, count, sizeof *f->baseline);
    for (size_t i = 0; i < count && !from->failed; i++) {
        space_parameter *to = &f->parameters[p->parameter_count++];
        to->name = pack_get_string(from);
        const uint32_t at = pack_get_u32(from);
        to->values = get_values(from, next, &to->value_count);
        f->baseline[i] = (uint16_t)at;
        from->failed = from->failed || at >= to->value_count;
    }
    p->parameters = f->parameters;
    p->baseline = f->baseline;
}

static void get_problem(pack *from, script_facts *f, value **next)
{
    pattern *p = &f->pattern;
    const size_t count = pack_get_count(from, PATTERN_MAX_VARIABLES, 1);
    f->problem = make(from, count, sizeof *f->problem);
    f->domains = make(from, count, sizeof *f->domains);
    for (size_t i = 0; i < count && !from->failed; i++) {
        pattern_domain *d = &f->domains[p->problem_count];
        pattern_variable *v = &f->problem[p->problem_count++];
        v->name = pack_get_string(from);
        v->value = get_value(from);
        d->is_range = pack_get_u32(from) != 0;
        d->values = get_values(from, next, &d->value_count);
        if (!d->is_range || from->failed)
            continue;
        from->failed = d->value_count != 2;
        d->least = d->values[0];
        d->most = d->values[from->failed ? 0 : 1];
        d->value_count = 0;
    }
    p->problems[PROBLEM_TUNED] = f->problem;
    p->has_problem[PROBLEM_TUNED] = true;
    p->domains = f->domains;
}

static void get_expressions(pack *from, script_facts *f)
{
    pattern *p = &f->pattern;
    const size_t constraints = pack_get_count(from, SCRIPT_MAX_CONSTRAINTS, 1);
    f->constraints = make(from, constraints, sizeof *f->constraints);
    for (size_t i = 0; i < constraints && !from->failed; i++) {
        f->constraints[i].text = pack_get_string(from);
        f->constraints[i].line = (int)pack_get_u32(from);
    }
    const size_t features = pack_get_count(from, PATTERN_MAX_FEATURES, 1);
    f->features = make(from, features, sizeof *f->features);
    for (size_t i = 0; i < features && !from->failed; i++) {
        f->features[i].name = pack_get_string(from);
        f->features[i].definition = pack_get_string(from);
        f->features[i].of_configuration = pack_get_u32(from) != 0;
    }
    p->constraint_count = constraints;
    p->constraints = f->constraints;
    p->feature_count = features;
    p->features = f->features;
}

static void get_program(pack *from, script_facts *f)
{
    const pattern *p = &f->pattern;
    term_type types[MOST_INPUTS] = {0};
    size_t count, inputs = 0;
    const device_field *fields = device_fields(&count);
    /* A parameter of several kinds is no input: whatever reads it is beyond terms. */
    bool mixed[MOST_INPUTS] = {false};
    for (; inputs < p->parameter_count + p->problem_count; inputs++)
        mixed[inputs] = !type_of_input(p, inputs, &types[inputs]);
    for (size_t i = 0; i < count; i++)
        types[inputs++] = term_type_of(device_field_value_kind(&fields[i]));
    scalar_get(from, types, inputs, &f->program);
    for (size_t i = 0; i < f->program.step_count; i++) {
        const scalar_step *s = &f->program.steps[i];
        if (s->op == NODE_INPUT && mixed[s->input])
            from->failed = true;
    }
    const size_t roots = p->constraint_count + p->feature_count;
    f->roots = make(from, roots, sizeof *f->roots);
    from->failed = from->failed || f->program.step_count > MOST_STEPS;
    for (size_t i = 0; i < roots && !from->failed; i++) {
        f->roots[i] = pack_get_u32(from);
        from->failed = from->failed || f->roots[i] >= f->program.step_count;
        const term_type type = from->failed ? TERM_TEXT : f->program.steps[f->roots[i]].type;
        if (i < p->constraint_count ? type != TERM_TRUTH
                                    : type != TERM_WHOLE && type != TERM_NUMBER)
            from->failed = true;
    }
}

at_status script_facts_read(const void *bytes, size_t size_bytes, script_facts **out,
                            at_error *error)
{
    *out = NULL;
    script_facts *f = calloc(1, sizeof *f);
    if (!f)
        return error_no_memory(error);
    /* No value takes less. */
    f->values = calloc(size_bytes / 12 + 1, sizeof *f->values);
    f->bytes = malloc(size_bytes + 1);
    if (!f->values || !f->bytes) {
        script_facts_free(f);
        return error_no_memory(error);
    }
    memcpy(f->bytes, bytes, size_bytes);
    pack from = {.bytes = f->bytes, .size_bytes = size_bytes, .capacity_bytes = size_bytes};
    value *next = f->values;
    from.failed = pack_get_u32(&from) != facts_version || pack_get_u64(&from) != fields_key();
    f->pattern.path = pack_get_string(&from);
    f->pattern.name = pack_get_string(&from);
    get_parameters(&from, f, &next);
    get_problem(&from, f, &next);
    get_expressions(&from, f);
    if (!from.failed)
        get_program(&from, f);
    if (!pack_complete(&from)) {
        script_facts_free(f);
        return error_set(error, AT_FORMAT, "these are no facts of a pattern");
    }
    *out = f;
    return AT_OK;
}

void script_facts_free(script_facts *f)
{
    if (!f)
        return;
    scalar_deinit(&f->program);
    free(f->bytes);
    free(f->parameters);
    free(f->values);
    free(f->problem);
    free(f->domains);
    free(f->baseline);
    free(f->constraints);
    free(f->features);
    free(f->roots);
    free(f);
}

const pattern *script_facts_pattern(const script_facts *f)
{
    return &f->pattern;
}

bool script_facts_path(const char *lua_dir, const char *script_path, char *out, size_t out_bytes)
{
    const char *name = strrchr(script_path, '/');
    const int n = snprintf(out, out_bytes, "%s/.facts/%s", lua_dir, name ? name + 1 : script_path);
    return n > 0 && (size_t)n < out_bytes;
}

/* ---- asking ---- */

static scalar scalar_of(value v)
{
    switch (v.kind) {
    case VALUE_NUMBER:
        return (scalar){.number = v.number};
    case VALUE_STRING:
        return (scalar){.text = v.string};
    case VALUE_BOOLEAN:
        return (scalar){.whole = v.boolean};
    default:
        return (scalar){.whole = v.integer};
    }
}

static void fill_inputs(const script_facts_case *c, const uint16_t *indices,
                        scalar inputs[MOST_INPUTS])
{
    const pattern *p = &c->facts->pattern;
    size_t count, n = 0;
    const device_field *fields = device_fields(&count);
    for (size_t i = 0; i < p->parameter_count; i++)
        inputs[n++] = scalar_of(p->parameters[i].values[indices ? indices[i] : 0]);
    for (size_t i = 0; i < p->problem_count; i++)
        inputs[n++] = scalar_of(c->problem[i]);
    for (size_t i = 0; i < count; i++)
        inputs[n++] = scalar_of(device_field_value(&fields[i], c->device));
}

/* Does the steps up to the root, from *done on. */
static scalar value_at(const script_facts *f, const scalar *inputs, uint32_t root, size_t *done,
                       scalar *values)
{
    if (root >= *done) {
        scalar_evaluate(&f->program, inputs, *done, root, values);
        *done = root + 1;
    }
    return values[root];
}

bool script_facts_valid(const script_facts_case *c, const uint16_t *indices, size_t *broken)
{
    const script_facts *f = c->facts;
    scalar inputs[MOST_INPUTS], values[MOST_STEPS];
    size_t done = 0;
    fill_inputs(c, indices, inputs);
    for (size_t i = 0; i < f->pattern.constraint_count; i++) {
        const scalar holds = value_at(f, inputs, f->roots[i], &done, values);
        if (!holds.failed && holds.whole)
            continue;
        if (broken)
            *broken = i;
        return false;
    }
    return true;
}

double script_facts_feature(const script_facts_case *c, size_t feature, const uint16_t *indices)
{
    const script_facts *f = c->facts;
    scalar inputs[MOST_INPUTS], values[MOST_STEPS];
    size_t done = 0;
    const uint32_t root = f->roots[f->pattern.constraint_count + feature];
    fill_inputs(c, indices, inputs);
    const scalar v = value_at(f, inputs, root, &done, values);
    const bool whole = f->program.steps[root].type == TERM_WHOLE;
    const double out = whole ? (double)v.whole : v.number;
    return v.failed || !isfinite(out) ? INFINITY : out;
}

/* ---- what a problem's variables may be ---- */

static bool is_in(const pattern_domain *d, value v)
{
    if (d->is_range)
        return value_is_number(v) && value_number(v) >= value_number(d->least) &&
               value_number(v) <= value_number(d->most);
    for (size_t i = 0; i < d->value_count; i++)
        if (value_equal(d->values[i], v))
            return true;
    return d->value_count == 0;
}

/* 4K is 4 << 10. */
static bool read_unit(const char *text, value *out)
{
    static const char units[] = "KMG";
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    if (digits == 0 || digits >= 10 || !unit || text[digits + 1])
        return false;
    *out = (value){.kind = VALUE_INTEGER,
                   .integer = (int64_t)strtoll(text, NULL, 10) << (10 * (unit - units + 1))};
    return true;
}

/* lua/lib/problem.lua reads it likewise. */
bool pattern_read_setting(const pattern *p, size_t place, const char *text, value *out)
{
    const value is = p->problems[PROBLEM_TUNED][place].value;
    value v = value_parse(text);
    if (is.kind == VALUE_STRING)
        v = (value){.kind = VALUE_STRING, .string = text};
    else if (is.kind == VALUE_INTEGER)
        (void)read_unit(text, &v);
    if (is.kind == VALUE_NUMBER && v.kind == VALUE_INTEGER)
        v = (value){.kind = VALUE_NUMBER, .number = (double)v.integer};
    if (is.kind == VALUE_INTEGER && v.kind == VALUE_NUMBER && floor(v.number) == v.number &&
        fabs(v.number) < 0x1p63)
        v = (value){.kind = VALUE_INTEGER, .integer = (int64_t)v.number};
    *out = v;
    if (v.kind == VALUE_STRING && (strlen(text) >= 256 || !plain_text_is_line(text, strlen(text))))
        return false;
    return v.kind == is.kind && is_in(&p->domains[place], v);
}
