/* CUDA: the kernels that records and portfolios need, each once, with a function that picks and
 * launches: a .cu and a .h, for nvcc and clang, which need nothing of autotune.
 *
 * The header is that of export/header.c, in which a configuration without a kernel for the problem
 * at hand is passed over, and a function that evaluates launches. */
#include <ctype.h>
#include <string.h>

#include "base/version.h"
#include "export/derived.h"
#include "export/export.h"
#include "export/header.h"
#include "export/names.h"
#include "export/text.h"

static const char launches[] = {
#include "launches.h.inc"
};

static const char clang[] = {
#include "clang.cu.inc"
};

static const char clang_end[] = {
#include "clang_end.cu.inc"
};

static const char queue[] = {
#include "queue.cu.inc"
};

static const char functions[] = {
#include "functions.cu.inc"
};

static const char fill[] = {
#include "fill.cu.inc"
};

/* ---- the header ---- */

static void print_launches(const export_model *m, FILE *to)
{
    if (export_calls_derived(m->launch.statements))
        export_print_underived(m, to);
    fputs(m->launch.statements, to);
}

static void print_buffers(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->launch.buffer_count; i++)
        fprintf(to, "    %svoid *%s;\n", m->launch.is_input[i] ? "const " : "",
                m->launch.buffers[i]);
    if (m->launch.buffer_count == 0)
        fputs("    char nothing;\n", to);
}

static void print_header(const export_model *m, FILE *to)
{
    static const export_slot slots[] = {
        {"header", export_print_header, NULL},
        {"launches", print_launches, NULL},
        {"buffers", print_buffers, NULL},
    };
    export_print_text(m, launches, slots, to);
}

/* ---- the kernels ---- */

static void print_includes(const export_model *const *models, size_t count, FILE *to)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < models[i]->kernels.source_count; k++)
            fputs(models[i]->kernels.sources[k].includes, to);
}

static void print_comment(const export_model *m, size_t source, FILE *to)
{
    for (size_t i = 0; i < m->kernels.use_count; i++) {
        const export_use *u = &m->kernels.uses[i];
        char text[4096];
        if (u->source != source)
            continue;
        record_format_values(u->configuration, text, sizeof text);
        fputs("// ", to);
        export_print_literal(text, to);
        if (u->condition_count > 0) {
            record_format_values(u->problem, text, sizeof text);
            fputs(" for ", to);
            export_print_literal(text, to);
        }
        fputs("\n", to);
    }
}

static void print_source(const export_source *s, FILE *to)
{
    size_t length = strlen(s->text);
    if (s->ptx)
        fprintf(to, "#ifdef AUTOTUNE_PTX\n%s#else\n", s->ptx);
    fprintf(to, "%s%s", s->text, length && s->text[length - 1] == '\n' ? "" : "\n");
    if (s->ptx)
        fputs("#endif\n", to);
}

static void print_sources(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->kernels.source_count; i++) {
        fputs("\n", to);
        print_comment(m, i, to);
        fprintf(to, "namespace autotune_%s_kernel_%zu {\n", m->pattern, i);
        print_source(&m->kernels.sources[i], to);
        fprintf(to, "} // namespace\n%s", m->kernels.sources[i].undefines);
    }
}

static void print_addresses(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->kernels.source_count; i++)
        for (size_t e = 0; e < m->launch.entry_count; e++)
            if (m->kernels.sources[i].has_entry[e])
                fprintf(
                    to,
                    "    if (kernel == %zu && entry == %zu)\n"
                    "        return reinterpret_cast<const void *>(&autotune_%s_kernel_%zu::%s);\n",
                    i, e, m->pattern, i, m->launch.entries[e]);
}

static void print_copies(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->kernels.source_count; i++)
        for (size_t c = 0; c < m->launch.constant_count; c++) {
            const constant_plan *from = &m->launch.constants[c];
            fprintf(to,
                    "    if (plan->kernel == %zu && status == cudaSuccess)\n"
                    "        status = plan->buffer_bytes[%u] > sizeof autotune_%s_kernel_%zu::%s\n"
                    "                     ? cudaErrorInvalidValue\n"
                    "                     : cudaMemcpyToSymbolAsync(autotune_%s_kernel_%zu::%s, "
                    "buffers->%s,\n"
                    "                                               plan->buffer_bytes[%u], 0,\n"
                    "                                               cudaMemcpyDeviceToDevice, "
                    "stream);\n",
                    i, (unsigned)from->buffer, m->pattern, i, from->name, m->pattern, i, from->name,
                    m->launch.buffers[from->buffer], (unsigned)from->buffer);
        }
}

static void print_fill(const export_model *m, FILE *to)
{
    static const export_slot slots[] = {{"copies", print_copies, NULL}};
    if (m->launch.constant_count > 0)
        export_print_text(m, fill, slots, to);
}

/* The buffers' addresses, and the copies that come before the launches. */
static void print_begin(const export_model *m, FILE *to)
{
    fputs("    const void *const addresses[] = {", to);
    for (size_t i = 0; i < m->launch.buffer_count; i++)
        fprintf(to, "%sbuffers->%s", i ? ", " : "", m->launch.buffers[i]);
    fputs(m->launch.buffer_count ? "};\n" : "nullptr};\n    (void)buffers;\n", to);
    if (m->launch.constant_count)
        fprintf(to, "    cudaError_t status = autotune_%s_fill(plan, buffers, stream);\n",
                m->pattern);
    else
        fputs("    cudaError_t status = cudaSuccess;\n", to);
}

static void print_functions(const export_model *m, FILE *to)
{
    static const export_slot slots[] = {
        {"addresses", print_addresses, NULL},
        {"fill", print_fill, NULL},
        {"begin", print_begin, NULL},
    };
    export_print_text(m, functions, slots, to);
}

static void print_kernels(const export_model *const *models, size_t count, const char *stem,
                          FILE *to)
{
    fprintf(to,
            "// Kernels that autotune %s found to be the fastest, and functions that pick and "
            "launch them;\n"
            "// the header beside it declares them. For nvcc and clang, C++17; needs the CUDA "
            "runtime alone.\n"
            "// Written by 'autotune export --format cuda': change the records, not this.\n"
            "#include <cuda_runtime.h>\n"
            "#include <cassert>\n"
            "#include <cstdio>\n",
            version_text());
    print_includes(models, count, to);
    fprintf(to, "\n#include \"%s.h\"\n", stem);
    fprintf(to, "\n%s", clang);
    for (size_t i = 0; i < count; i++)
        print_sources(models[i], to);
    fprintf(to, "\n%s\n\n%s\n", clang_end, queue);
    for (size_t i = 0; i < count; i++)
        print_functions(models[i], to);
}

/* ---- what cannot be exported ---- */

static at_status check_model(const export_model *m, at_error *error)
{
    if (!m->launch.statements)
        return error_set(error, AT_USAGE,
                         "the kernels of '%s' are made from its script, which was not found",
                         m->pattern);
    if (m->kernels.use_count == 0)
        return error_set(error, AT_USAGE,
                         "no recorded configuration of '%s', nor its default, is possible for any "
                         "of the problems",
                         m->pattern);
    return AT_OK;
}

static at_status write_cuda(const export_model *const *models, size_t count, const char *stem,
                            export_files *files, at_error *error)
{
    char safe[EXPORT_FILE_NAME_BYTES], name[EXPORT_FILE_NAME_BYTES];
    FILE *to;
    at_status status = export_check_names(models, count, error);
    for (size_t i = 0; i < count && !status; i++)
        status = check_model(models[i], error);
    /* It is in an #include, too. */
    snprintf(safe, sizeof safe, "%.100s", stem);
    for (char *c = safe; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
            *c = '_';
    snprintf(name, sizeof name, "%s.cu", safe);
    if (!status)
        status = export_files_open(files, name, &to, error);
    if (status)
        return status;
    print_kernels(models, count, safe, to);
    status = export_files_close(files, error);
    snprintf(name, sizeof name, "%s.h", safe);
    if (!status)
        status = export_files_open(files, name, &to, error);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        print_header(models[i], to);
    return export_files_close(files, error);
}

const exporter export_cuda = {
    .name = "cuda",
    .extension = ".cu",
    .several = true,
    .pair = true,
    .kernels = true,
    .write = write_cuda,
};
