#include "script/t1.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/json_text.h"
#include "device/field.h"
#include "script/expression/python_text.h"
#include "script/state.h"

enum { MOST_TEXT = 512, INDENT = 4 };

/* The first failure is kept in `status`. */
typedef struct writer {
    script *s;
    t1_left_out left_out;
    void *context;
    problem_plan problem;
    launch_plan launch;
    at_status status;
    at_error *error;
} writer;

static void tell(const writer *w, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(const writer *w, int line, const char *format, ...)
{
    char text[MOST_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->left_out(w->context, line, text);
}

static void refuse(writer *w, const expression *e, const char *why)
{
    if (!w->status)
        w->status = error_set_at(w->error, AT_SCRIPT, w->s->path, e->line, "%s: %s: %.200s",
                                 e->what, why, e->text);
}

/* ---- expressions ---- */

/* A value as Python writes it; false: a text with what Python would read otherwise. */
static bool spell_value(value v, char *text, size_t size_bytes)
{
    char plain[MOST_TEXT];
    value_format(v, plain, sizeof plain);
    const char *form = v.kind == VALUE_STRING ? "'%s'" : *plain == '-' ? "(%s)" : "%s";
    if (v.kind == VALUE_BOOLEAN)
        snprintf(text, size_bytes, "%s", v.boolean ? "True" : "False");
    else if (v.kind == VALUE_NUMBER && !strpbrk(plain, ".en"))
        snprintf(text, size_bytes, *plain == '-' ? "(%s.0)" : "%s.0", plain);
    else
        snprintf(text, size_bytes, form, plain);
    return v.kind != VALUE_STRING || !strpbrk(plain, "'\\");
}

/* Parameters by their names, variables of the problem by their values; derived values in place. */
static bool spell(void *context, const char *name, term_type *type, char *text, size_t size_bytes)
{
    const script *s = ((writer *)context)->s;
    for (size_t i = 0; i < s->pattern.parameter_count; i++) {
        const space_parameter *p = &s->parameters[i];
        if (strcmp(p->name, name) != 0)
            continue;
        *type = term_type_of(p->values[0].kind);
        for (size_t v = 1; v < p->value_count; v++) {
            term_type other = term_type_of(p->values[v].kind);
            bool numbers = other <= TERM_NUMBER && *type <= TERM_NUMBER;
            if (other != *type && !numbers)
                return false;
            *type = other != *type ? TERM_NUMBER : *type;
        }
        if (text)
            snprintf(text, size_bytes, "%s", name);
        return true;
    }
    for (size_t i = 0; i < s->pattern.problem_count; i++) {
        const pattern_variable *variable = &s->problems[PROBLEM_TUNED][i];
        if (strcmp(variable->name, name) != 0)
            continue;
        *type = term_type_of(variable->value.kind);
        return !text || spell_value(variable->value, text, size_bytes);
    }
    return false;
}

static bool spell_field(void *context, const char *name, char *text, size_t size_bytes)
{
    const arch_limits *device = &((writer *)context)->s->options.device;
    const device_field *field = device_field_find(name);
    return field && spell_value(device_field_value(field, device), text, size_bytes);
}

/* New reference; NULL after a failure. */
static json_t *python(writer *w, const expression *e)
{
    char *text = NULL;
    if (!w->status)
        w->status =
            python_text_write(w->s->expressions, e->root, spell, spell_field, w, &text, w->error);
    if (!text)
        refuse(w, e, "this cannot be said in Python");
    json_t *made = text ? json_string(text) : NULL;
    free(text);
    if (made && e->device_fields)
        tell(w, e->line, "%s reads the device, which the file does not: %s has its values", e->what,
             w->s->options.device.name);
    return made;
}

/* ---- the space ---- */

static const char *type_name(const space_parameter *p)
{
    static const char *const names[] = {[VALUE_INTEGER] = "int",
                                        [VALUE_NUMBER] = "float",
                                        [VALUE_BOOLEAN] = "bool",
                                        [VALUE_STRING] = "string"};
    value_kind kind = p->values[0].kind;
    for (size_t v = 1; v < p->value_count; v++)
        if (p->values[v].kind == VALUE_NUMBER)
            kind = VALUE_NUMBER;
    return names[kind];
}

static json_t *parameter(writer *w, size_t place)
{
    const space_parameter *p = &w->s->parameters[place];
    json_t *made = json_object();
    char *list = malloc(p->value_count * (MOST_TEXT + 2) + 3);
    if (!list) {
        json_decref(made);
        return NULL;
    }
    strcpy(list, "[");
    size_t length = 1;
    for (size_t v = 0; v < p->value_count; v++) {
        char text[MOST_TEXT];
        if (!spell_value(p->values[v], text, sizeof text) && !w->status)
            w->status = error_set_at(w->error, AT_SCRIPT, w->s->path, 0,
                                     "%s: Python would read the value %s otherwise", p->name, text);
        length += (size_t)sprintf(list + length, "%s%s", v ? ", " : "", text);
    }
    strcpy(list + length, "]");
    json_put(&made, "Name", json_string(p->name));
    json_put(&made, "Type", json_string(type_name(p)));
    json_put(&made, "Values", json_string(list));
    json_put(&made, "Default", json_from_value(p->values[w->s->pattern.baseline[place]]));
    free(list);
    return made;
}

static json_t *condition(writer *w, const expression *e)
{
    json_t *made = json_object(), *names = json_array();
    for (size_t i = 0; i < e->input_count; i++)
        if (e->inputs[i].is_parameter)
            json_append(&names, json_string(expression_input_name(w->s, e->inputs[i])));
    json_put(&made, "Parameters", names);
    json_put(&made, "Expression", python(w, e));
    return made;
}

static json_t *configuration_space(writer *w)
{
    json_t *made = json_object(), *parameters = json_array(), *conditions = json_array();
    for (size_t i = 0; i < w->s->pattern.parameter_count; i++)
        json_append(&parameters, parameter(w, i));
    for (size_t i = 0; i < w->s->pattern.constraint_count; i++)
        json_append(&conditions, condition(w, &w->s->constraint_tests[i]));
    json_put(&made, "TuningParameters", parameters);
    json_put(&made, "Conditions", conditions);
    return made;
}

/* ---- arguments ---- */

static void put_fill(writer *w, json_t **to, const buffer_plan *b)
{
    const int line = w->s->buffers[b - w->problem.buffers].line;
    if (b->fill == FILL_INDEX) {
        json_put(to, "FillType", json_string("Generator"));
        json_put(to, "DataSource", json_string("i"));
        return;
    }
    bool is_constant = b->fill == FILL_VALUES && b->value_count == 1;
    if (b->fill != FILL_UNIFORM && !is_constant)
        tell(w, line, "buffers.%s: the file has no such fill; its values there are random",
             b->name);
    json_put(to, "FillType", json_string(is_constant ? "Constant" : "Random"));
    json_put(to, "FillValue", json_real(is_constant ? b->values[0] : 1.0));
}

static json_t *vector(writer *w, uint32_t place, bool is_symbol, const char *variable)
{
    static const char *const access[] = {[BUFFER_INPUT] = "ReadOnly",
                                         [BUFFER_OUTPUT] = "WriteOnly",
                                         [BUFFER_INOUT] = "ReadWrite",
                                         [BUFFER_SCRATCH] = "ReadWrite"};
    const buffer_plan *b = &w->problem.buffers[place];
    json_t *made = json_object();
    json_put(&made, "Name", json_string(variable));
    json_put(&made, "Type", json_string(dtype_get(b->type)->name));
    json_put(&made, "MemoryType", json_string(is_symbol ? "Symbol" : "Vector"));
    json_put(&made, "AccessType", json_string(access[b->role]));
    json_put(&made, "Size", json_integer((json_int_t)b->count));
    if (b->role == BUFFER_OUTPUT || b->role == BUFFER_SCRATCH) {
        json_put(&made, "FillType", json_string("Constant"));
        json_put(&made, "FillValue", json_real(0));
    } else {
        put_fill(w, &made, b);
    }
    if (plan_is_compared(b))
        json_put(&made, "Output", json_integer(1));
    return made;
}

static json_t *scalar_value(argument_type type, uint64_t bits)
{
    float narrow;
    double number;
    memcpy(&narrow, &bits, sizeof narrow);
    memcpy(&number, &bits, sizeof number);
    switch (type) {
    case ARGUMENT_BOOL:
        return json_integer(bits != 0);
    case ARGUMENT_HALF:
        return json_exact(half_to_float((uint16_t)bits));
    case ARGUMENT_FLOAT:
        return json_exact((double)narrow);
    case ARGUMENT_DOUBLE:
        return json_exact(number);
    case ARGUMENT_INT8:
        return json_integer((int8_t)bits);
    case ARGUMENT_INT16:
        return json_integer((int16_t)bits);
    case ARGUMENT_PLAIN:
    case ARGUMENT_INT32:
        return json_integer((int32_t)bits);
    default:
        return json_integer((json_int_t)bits);
    }
}

static json_t *scalar(writer *w, const script_argument *a, uint64_t bits, size_t place)
{
    static const char *const names[ARGUMENT_TYPES] = {
        [ARGUMENT_PLAIN] = "int32",   [ARGUMENT_INT8] = "int8",     [ARGUMENT_UINT8] = "uint8",
        [ARGUMENT_INT16] = "int16",   [ARGUMENT_UINT16] = "uint16", [ARGUMENT_INT32] = "int32",
        [ARGUMENT_UINT32] = "uint32", [ARGUMENT_INT64] = "int64",   [ARGUMENT_UINT64] = "uint64",
        [ARGUMENT_HALF] = "half",     [ARGUMENT_FLOAT] = "float",   [ARGUMENT_DOUBLE] = "double",
        [ARGUMENT_BOOL] = "bool"};
    char name[PLAN_NAME_BYTES];
    bool has_name = a->value.root && a->value.root->op == NODE_INPUT;
    snprintf(name, sizeof name, "%s", has_name ? a->value.root->name : "");
    if (!has_name)
        snprintf(name, sizeof name, "argument_%zu", place + 1);
    if (!names[a->type])
        refuse(w, &a->value, "the format has no argument of this type");
    else if (a->value.reads_parameters)
        refuse(w, &a->value, "an argument there is the same for all configurations");
    json_t *made = json_object();
    json_put(&made, "Name", json_string(name));
    json_put(&made, "Type", json_string(names[a->type] ? names[a->type] : ""));
    json_put(&made, "MemoryType", json_string("Scalar"));
    json_put(&made, "AccessType", json_string("ReadOnly"));
    json_put(&made, "FillType", json_string("Constant"));
    json_put(&made, "FillValue", scalar_value(a->type, bits));
    return made;
}

static json_t *arguments(writer *w, const script_launch *l)
{
    json_t *made = json_array();
    const argument_plan *plans = w->launch.arguments + w->launch.launches[0].first_argument;
    for (size_t i = 0; i < l->argument_count; i++) {
        const script_argument *a = &l->arguments[i];
        if (a->type == ARGUMENT_BUFFER)
            json_append(&made, vector(w, a->buffer, false, w->problem.buffers[a->buffer].name));
        else if (a->type == ARGUMENT_STRUCT || a->view)
            w->status = w->status ? w->status
                                  : error_set_at(w->error, AT_SCRIPT, w->s->path, 0,
                                                 "kernel.args[%zu]: the format has no structs, "
                                                 "tensor maps, textures and surfaces",
                                                 i + 1);
        else
            json_append(&made, scalar(w, a, plans[i].bits, i));
    }
    for (size_t i = 0; i < w->s->kernel.constant_count; i++)
        json_append(&made, vector(w, w->s->kernel.constants[i].buffer, true,
                                  w->s->kernel.constants[i].name));
    return made;
}

/* ---- the kernel ---- */

static json_t *axes(writer *w, const expression *list)
{
    static const char *const names[] = {"X", "Y", "Z"};
    json_t *made = json_object();
    for (size_t i = 0; i < 3; i++)
        json_put(&made, names[i], list[i].text ? python(w, &list[i]) : json_string("1"));
    return made;
}

static json_t *options(writer *w)
{
    json_t *made = json_array();
    for (size_t i = 0; i < w->s->kernel.option_count; i++) {
        const expression *e = &w->s->kernel.options[i];
        if (e->root && e->root->op == NODE_TEXT)
            json_append(&made, json_string(e->root->name));
        else
            tell(w, e->line, "%s: an option there cannot depend on anything", e->what);
    }
    return made;
}

static json_t *kernel_specification(writer *w)
{
    const script_kernel *k = &w->s->kernel;
    const script_launch *l = &k->launches[0];
    json_t *made = json_object();
    json_put(&made, "Language", json_string("CUDA"));
    json_put(&made, "CompilerOptions", options(w));
    json_put(&made, "KernelName", json_string(l->entry_text));
    json_put(&made, "KernelFile", json_string(k->template_name));
    json_put(&made, "GlobalSizeType", json_string("CUDA"));
    json_put(&made, "GlobalSize", axes(w, l->grid));
    json_put(&made, "LocalSize", axes(w, l->block));
    if (l->shared.text && l->shared.root && l->shared.root->op == NODE_WHOLE)
        json_put(&made, "SharedMemory", json_integer(l->shared.root->bits));
    else if (l->shared.text)
        json_put(&made, "SharedMemory", python(w, &l->shared));
    json_put(&made, "Arguments", arguments(w, l));
    return made;
}

static void tell_left_out(const writer *w)
{
    const script *s = w->s;
    const script_launch *l = &s->kernel.launches[0];
    const struct {
        bool has;
        const char *what;
    } left_out[] = {
        {s->reference.template_path, "a reference: there the baseline or another tuner's check is"},
        {s->filler.template_path, "a kernel that fills inputs"},
        {s->pattern.ragged_count > 0, "ragged problems"},
        {s->pattern.has_problem[PROBLEM_SIMULATED], "a smaller problem for simulation"},
        {s->pattern.start_count > 0, "starts"},
        {s->layout_count > 0, "a layout of the data"},
        {l->cluster[0].text || l->balanced.text, "clusters of blocks"},
        {l->cooperative.text, "cooperative launches"},
        {l->when.text || l->times.text, "launches that run in rounds or not at all"},
    };
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        if (left_out[i].has)
            tell(w, 0, "the format does not know %s", left_out[i].what);
}

static void write_all(writer *w, char **out)
{
    const pattern *p = &w->s->pattern;
    json_t *root = json_object(), *general = json_object(), *problem = json_object();
    json_put(&general, "BenchmarkName", json_string(p->name));
    json_put(&general, "FormatVersion", json_integer(1));
    for (size_t i = 0; i < p->problem_count; i++)
        json_put(&problem, p->problems[PROBLEM_TUNED][i].name,
                 json_from_value(p->problems[PROBLEM_TUNED][i].value));
    json_put(&root, "General", general);
    json_put(&root, "ConfigurationSpace", configuration_space(w));
    json_put(&root, "BenchmarkConfig", problem);
    json_put(&root, "KernelSpecification", kernel_specification(w));
    if (!w->status && !root)
        w->status = error_no_memory(w->error);
    if (!w->status)
        w->status = json_text_format(root, INDENT, out, w->error);
    json_decref(root);
}

at_status t1_write(script *s, t1_left_out left_out, void *context, char **out, at_error *error)
{
    *out = NULL;
    writer *w = calloc(1, sizeof *w);
    if (!w)
        return error_no_memory(error);
    *w = (writer){.s = s, .left_out = left_out, .context = context, .error = error};
    const pattern *p = &s->pattern;
    if (p->transfers || s->kernel.launch_count != 1)
        w->status = error_set_at(error, AT_SCRIPT, p->path, 0,
                                 "the format describes one launch of one kernel; %s has %s",
                                 p->name, p->transfers ? "a transfer" : "several");
    if (!w->status)
        w->status = script_problem_plan(s, PROBLEM_TUNED, NULL, 0, &w->problem, error);
    if (!w->status)
        w->status = script_launch_plan(s, PROBLEM_TUNED, p->baseline, &w->launch, error);
    if (!w->status) {
        write_all(w, out);
        tell_left_out(w);
    }
    at_status status = w->status;
    free(w);
    return status;
}
