/* Helpers that run exporters. */
#ifndef AUTOTUNE_TESTS_EXPORT_FIXTURE_H
#define AUTOTUNE_TESTS_EXPORT_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "device/arch.h"
#include "export/export.h"
#include "space/pattern.h"

/* Returns the text of file `file` of the format. `size_bytes` may be NULL. The caller frees the
 * text. */
static inline char *exported_text(const char *format, const export_model *const *models,
                                  size_t count, size_t file, size_t *size_bytes)
{
    export_files files = {0};
    at_error error = {0};
    const exporter *e;
    assert_ok(exporter_find(format, &e, &error), error);
    assert_ok(exporter_write(e, models, count, "exported", &files, &error), error);
    assert_true(file < files.count);
    char *text = malloc(files.files[file].size_bytes + 1);
    assert_non_null(text);
    memcpy(text, files.files[file].text, files.files[file].size_bytes + 1);
    if (size_bytes)
        *size_bytes = files.files[file].size_bytes;
    export_files_deinit(&files);
    return text;
}

/* Prints a value of this column as C code. */
static inline void print_c(FILE *to, const export_model *m, const export_column *c, value v)
{
    char text[RECORD_TEXT_BYTES];
    if (c->type == EXPORT_WORD) {
        size_t word = 0;
        value_format(v, text, sizeof text);
        while (word < c->word_count && strcmp(c->words[word].text, text) != 0)
            word++;
        assert_true(word < c->word_count);
        fprintf(to, "(autotune_%s_%s_kind)%zu", m->pattern, c->identifier, word);
        return;
    }
    value_format(v, text, sizeof text);
    fprintf(to, "%s%s", text, c->type == EXPORT_LONG ? "LL" : "");
}

static inline void print_c_problem(FILE *to, const export_model *m, const pattern *p)
{
    fputs("{", to);
    for (size_t i = 0; i < p->problem_count; i++)
        for (size_t k = 0; k < p->problem_count; k++) {
            const pattern_variable *v = &p->problems[PROBLEM_TUNED][k];
            if (strcmp(v->name, m->variables[i].name) != 0)
                continue;
            fputs(i ? ", " : "", to);
            print_c(to, m, &m->variables[i], v->value);
        }
    fputs("}", to);
}

static inline void print_c_configuration(FILE *to, const export_model *m, const pattern *p,
                                         const uint16_t *indices)
{
    fputs("{", to);
    for (size_t i = 0; i < p->parameter_count; i++) {
        fputs(i ? ", " : "", to);
        print_c(to, m, &m->parameters[i], p->parameters[i].values[indices[i]]);
    }
    fputs("}", to);
}

/* Prints an autotune_device with these limits as C code. */
static inline void print_c_device(FILE *to, const arch_limits *l)
{
    fprintf(to,
            "{.name = \"%s\", .major = %d, .minor = %d, .sm_count = %d, .warp_size = %d,\n"
            "     .max_threads_per_block = %d, .max_threads_per_sm = %d, .max_blocks_per_sm = %d,\n"
            "     .registers_per_sm = %d, .max_registers_per_thread = %d, .clock_khz = %d,\n"
            "     .shared_per_sm = %zu, .max_shared_per_block = %zu, .l2_bytes = %zu,\n"
            "     .bandwidth = %.17g}",
            l->name, l->major, l->minor, l->sm_count, l->warp_size, l->max_threads_per_block,
            l->max_threads_per_sm, l->max_blocks_per_sm, l->registers_per_sm,
            l->max_registers_per_thread, l->clock_khz, l->shared_per_sm_bytes,
            l->max_shared_per_block_bytes, l->l2_bytes, l->bandwidth_bytes_per_s);
}

#endif
