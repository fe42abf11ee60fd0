/* CUDA: the kernels that records and portfolios need, each once, with a function that picks and launches:
 * a .cu and a .h, for nvcc, which need nothing of autotune.
 *
 * The header is that of export/header.c, in which a configuration without a kernel for the problem at
 * hand is passed over, and a function that evaluates launches. */
#include <ctype.h>
#include <string.h>

#include "base/version.h"
#include "export/export.h"
#include "export/header.h"
#include "export/launch.h"
#include "export/names.h"
#include "export/text.h"

static const char functions[] = {
#include "functions.h.inc"
};

static const char choose[] = {
#include "choose.cu.inc"
};

/* ---- the header ---- */

static void print_buffers(const export_model *m, FILE *to)
{
    export_print_text(m,
                      "\n/* Device addresses, each with room for as many bytes as a plan's buffer_bytes has at its\n"
                      " * place. */\n"
                      "typedef struct autotune_$_buffers {\n",
                      to);
    for (size_t i = 0; i < m->launch.buffer_count; i++)
        fprintf(to, "    %svoid *%s;\n", m->launch.is_input[i] ? "const " : "",
                m->launch.buffers[i]);
    if (m->launch.buffer_count == 0)
        fputs("    char nothing;\n", to);
    export_print_text(m, "} autotune_$_buffers;\n", to);
}

static void print_declarations(const export_model *m, FILE *to)
{
    fputs("\n#ifndef AUTOTUNE_WITHOUT_CUDA\n", to);
    print_buffers(m, to);
    fputs("\n", to);
    export_print_text(m, functions, to);
    fputs("#endif\n", to);
}

static void print_header(const export_model *m, const char *stem, FILE *to)
{
    export_print_text(m, "/* Declares what the file with the kernels of $ has. */\n", to);
    (void)stem;
    fputs("#ifndef AUTOTUNE_WITHOUT_CUDA\n#include <cuda_runtime_api.h>\n#endif\n\n", to);
    export_print_header(m, to);
    export_print_text(m, "\n#ifndef AUTOTUNE_LAUNCHES_$_h\n#define AUTOTUNE_LAUNCHES_$_h\n", to);
    export_print_plan(to);
    export_print_evaluate(m, to);
    print_declarations(m, to);
    fputs("\n#endif\n", to);
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

static void print_sources(const export_model *m, FILE *to)
{
    for (size_t i = 0; i < m->kernels.source_count; i++) {
        const export_source *s = &m->kernels.sources[i];
        size_t length = strlen(s->text);
        fputs("\n", to);
        print_comment(m, i, to);
        fprintf(to, "namespace autotune_%s_kernel_%zu {\n%s%s} // namespace\n%s", m->pattern, i,
                s->text, length && s->text[length - 1] == '\n' ? "" : "\n", s->undefines);
    }
}

static void print_entries(const export_model *m, FILE *to)
{
    export_print_text(m, "\nstatic const void *autotune_$_address(int kernel, int entry)\n{\n", to);
    for (size_t i = 0; i < m->kernels.source_count; i++)
        for (size_t e = 0; e < m->launch.entry_count; e++)
            if (m->kernels.sources[i].has_entry[e])
                fprintf(to,
                        "    if (kernel == %zu && entry == %zu)\n"
                        "        return reinterpret_cast<const void *>(&autotune_%s_kernel_%zu::%s);\n",
                        i, e, m->pattern, i, m->launch.entries[e]);
    fputs("    return nullptr;\n}\n", to);
}

static void print_fills(const export_model *m, FILE *to)
{
    if (m->launch.constant_count == 0)
        return;
    export_print_text(m,
                      "\nstatic cudaError_t autotune_$_fill(const autotune_plan *plan,\n"
                      "                                  const autotune_$_buffers *buffers,\n"
                      "                                  cudaStream_t stream)\n"
                      "{\n"
                      "    cudaError_t status = cudaSuccess;\n",
                      to);
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
                    "                                               cudaMemcpyDeviceToDevice, stream);\n",
                    i, (unsigned)from->buffer, m->pattern, i, from->name, m->pattern, i, from->name,
                    m->launch.buffers[from->buffer], (unsigned)from->buffer);
        }
    fputs("    return status;\n}\n", to);
}

static void print_functions(const export_model *m, FILE *to)
{
    fputs("\n", to);
    export_print_text(m, choose, to);
    export_print_text(m,
                      "\ncudaError_t autotune_$_run(const autotune_plan *plan,\n"
                      "                           const autotune_$_buffers *buffers, cudaStream_t stream)\n"
                      "{\n"
                      "    const void *const addresses[] = {",
                      to);
    for (size_t i = 0; i < m->launch.buffer_count; i++)
        fprintf(to, "%sbuffers->%s", i ? ", " : "", m->launch.buffers[i]);
    fprintf(to, "%s};\n", m->launch.buffer_count ? "" : "nullptr");
    if (m->launch.buffer_count == 0)
        fputs("    (void)buffers;\n", to);
    export_print_text(m,
                      m->launch.constant_count
                          ? "    cudaError_t status = autotune_$_fill(plan, buffers, stream);\n"
                          : "    cudaError_t status = cudaSuccess;\n",
                      to);
    export_print_text(m,
                      "    for (int i = 0; i < plan->launch_count && status == cudaSuccess; i++) {\n"
                      "        const autotune_launch &launch = plan->launches[i];\n"
                      "        const void *kernel = autotune_$_address(plan->kernel, launch.entry);\n"
                      "        status = kernel ? queue(*plan, launch, kernel, addresses, stream) : cudaErrorNotSupported;\n"
                      "    }\n"
                      "    return status;\n"
                      "}\n"
                      "\n"
                      "cudaError_t autotune_$_launch(const autotune_$_problem *problem,\n"
                      "                              const autotune_$_buffers *buffers, cudaStream_t stream)\n"
                      "{\n"
                      "    autotune_plan plan;\n"
                      "    cudaError_t status = autotune_$_plan(nullptr, problem, nullptr, &plan);\n"
                      "    return status == cudaSuccess ? autotune_$_run(&plan, buffers, stream) : status;\n"
                      "}\n",
                      to);
}

static void print_kernels(const export_model *const *models, size_t count, const char *stem, FILE *to)
{
    fprintf(to,
            "// Kernels that autotune %s found to be the fastest, and functions that pick and launch them;\n"
            "// the header beside it declares them. For nvcc, C++17; needs the CUDA runtime alone.\n"
            "// Written by 'autotune export --format cuda': change the records, not this.\n"
            "#include <cuda_runtime.h>\n"
            "#include <cassert>\n"
            "#include <cstdio>\n",
            version_text());
    print_includes(models, count, to);
    fprintf(to, "\n#include \"%s.h\"\n", stem);
    for (size_t i = 0; i < count; i++)
        print_sources(models[i], to);
    export_print_queue(to);
    for (size_t i = 0; i < count; i++) {
        print_entries(models[i], to);
        print_fills(models[i], to);
        print_functions(models[i], to);
    }
}

/* ---- what cannot be exported ---- */

static at_status check_model(const export_model *m, at_error *error)
{
    if (!m->launch.statements)
        return error_set(error, AT_USAGE,
                         "the kernels of '%s' are made from its script, which was not found", m->pattern);
    if (m->kernels.use_count == 0)
        return error_set(error, AT_USAGE,
                         "no recorded configuration of '%s', nor its default, is possible for any of the problems",
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
        print_header(models[i], safe, to);
    return export_files_close(files, error);
}

const exporter export_cuda = {
    .name = "cuda",
    .summary = "the kernels in a .cu file, with a function that picks and launches; a .h beside it",
    .extension = ".cu",
    .several = true,
    .pair = true,
    .kernels = true,
    .write = write_cuda,
};
