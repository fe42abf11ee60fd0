#include "library/source.h"
#include "library/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pack.h"
#include "compile/cache.h"
#include "compile/cubin.h"
#include "compile/nvrtc.h"
#include "compile/option.h"
#include "script/script.h"

static at_status choose(const at_choice *c, script *s, uint16_t *indices, pick_rule *rule,
                        at_error *error)
{
    const pattern *p = script_pattern(s);
    library_check check = {.script = s};
    record_pair pairs[RECORD_MAX_VALUES];
    pick_candidate found;
    const record_values fallback = library_default(p, pairs);
    const pick_target target = {.gpu = c->gpu.name,
                                .major = c->gpu.major,
                                .minor = c->gpu.minor,
                                .problem = &c->problem,
                                .fits = library_fits,
                                .ask = library_feature,
                                .context = &check,
                                .fallback = &fallback};
    *rule = pick_from(&c->records->table, &target, &found);
    if (found.lacks_memory)
        return error_no_memory(error);
    if (*rule == PICK_NONE || !record_indices(p, found.configuration, indices))
        return library_refuse_default(c, s, error);
    return AT_OK;
}

enum { MOST_OPTIONS = 64 };

static at_status run_nvrtc(const char *arch, const script_source *source, const char *entries,
                           bool want_ptx, nvrtc_output *out, at_error *error)
{
    nvrtc_library nvrtc;
    char arch_option[64], texts[MOST_OPTIONS][COMPILE_OPTION_BYTES];
    const char *options[MOST_OPTIONS + 4];
    size_t n = 0;
    at_status status = nvrtc_library_open(&nvrtc, error);
    if (status)
        return status;
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=%s", arch);
    options[n++] = arch_option;
    for (size_t i = 0; i < nvrtc.include_option_count; i++)
        options[n++] = nvrtc.include_options[i];
    for (size_t i = 0; i < source->option_count && i < MOST_OPTIONS; i++) {
        status = compile_option_read(source->options[i], texts[i], error);
        if (status)
            return status;
        if (texts[i][0])
            options[n++] = texts[i];
    }
    nvrtc_library_compile(&nvrtc, source->text, source->name, entries, source->headers,
                          source->header_count, options, n, want_ptx, out);
    return AT_OK;
}

/* Implements script_compiler.compile for the architecture `arch`, in the caller's process. */
static at_status ask_nvrtc(void *arch, const script_source *source, char **ptx, char **log,
                           at_error *error)
{
    nvrtc_output output = {0};
    at_status status = run_nvrtc(arch, source, "", true, &output, error);
    if (!status && !output.log)
        status = error_no_memory(error);
    if (!status) {
        *ptx = output.code == NVRTC_SUCCESS ? output.ptx : NULL;
        *log = output.log;
        output.log = NULL;
        output.ptx = *ptx ? NULL : output.ptx;
    }
    nvrtc_output_deinit(&output);
    return status;
}

static at_status compile_source(library_source *s, const char *arch, at_error *error)
{
    nvrtc_output output = {0};
    char entries[PLAN_ENTRIES_BYTES];
    const script_source source = {.name = "autotune.cu",
                                  .text = s->variant.source,
                                  .headers = s->variant.includes.headers,
                                  .header_count = s->variant.includes.count,
                                  .options = s->variant.options,
                                  .option_count = s->variant.option_count};
    plan_entries(&s->launch, entries);
    at_status status = run_nvrtc(arch, &source, entries, false, &output, error);
    if (!status && output.code == NVRTC_SUCCESS) {
        s->cubin = output.cubin;
        s->cubin_bytes = output.cubin_bytes;
        s->symbols = output.symbols;
        output.cubin = output.symbols = NULL;
    } else if (!status) {
        status = error_set(error, AT_COMPILE, "%s", output.log ? output.log : "out of memory");
    }
    nvrtc_output_deinit(&output);
    return status;
}

/* Hashes everything that determines the cubin, except the version of the compiler, so that a
 * machine with the cubin in its cache needs no NVRTC. */
static compile_key cache_key(const library_source *s, const char *arch)
{
    char made_for[80], asked[HASH_TEXT_BYTES + PLAN_ENTRIES_BYTES];
    snprintf(made_for, sizeof made_for, "libautotune 3 %s", arch);
    int used = snprintf(asked, sizeof asked, "%s\n", s->variant.hash);
    plan_entries(&s->launch, asked + used);
    return compile_cache_key(made_for, asked, strlen(asked));
}

/* Reads kernels' names and cubin from the cache. Returns false without a valid entry. */
static bool fetch(library_source *s, const compile_cache *cache, compile_key key)
{
    unsigned char *bytes;
    size_t size_bytes;
    if (compile_cache_get(cache, key, &bytes, &size_bytes))
        return false;
    pack kept = {.bytes = bytes, .size_bytes = size_bytes, .capacity_bytes = size_bytes};
    const char *symbols = pack_get_string(&kept);
    const void *cubin = pack_get_bytes(&kept, &s->cubin_bytes);
    bool whole = pack_complete(&kept) && cubin_is_whole(cubin, s->cubin_bytes);
    if (whole) {
        s->symbols = strdup(symbols);
        s->cubin = malloc(s->cubin_bytes);
        whole = s->symbols && s->cubin;
        if (s->cubin)
            memcpy(s->cubin, cubin, s->cubin_bytes);
    }
    free(bytes);
    return whole;
}

static void store(const library_source *s, compile_cache *cache, compile_key key)
{
    pack kept = {0};
    pack_put_string(&kept, s->symbols);
    pack_put_bytes(&kept, s->cubin, s->cubin_bytes);
    if (!kept.failed)
        compile_cache_put(cache, key, kept.bytes, kept.size_bytes, NULL);
    pack_deinit(&kept);
}

static at_status compile(library_source *s, const at_kernel_options *o, const char *arch,
                         at_error *error)
{
    compile_cache cache;
    const compile_key key = cache_key(s, arch);
    /* If the cache cannot be opened, the kernel is compiled each time. */
    bool cached =
        !(o && o->no_cache) && compile_cache_open(o ? o->cache : NULL, 0, &cache, NULL) == AT_OK;
    if (cached && fetch(s, &cache, key))
        return AT_OK;
    free(s->symbols);
    free(s->cubin);
    s->symbols = NULL;
    s->cubin = NULL;
    at_status status = compile_source(s, arch, error);
    if (!status && cached)
        store(s, &cache, key);
    return status;
}

at_status library_source_init(library_source *out, const at_choice *c,
                              const at_kernel_options *options, const arch_limits *limits,
                              const char *arch, at_error *error)
{
    script *s = NULL;
    uint16_t indices[RECORD_MAX_VALUES] = {0};
    *out = (library_source){0};
    at_status status = library_load_script(
        c, options, limits, (script_compiler){ask_nvrtc, (void *)(uintptr_t)arch}, &s, error);
    if (!status)
        status = choose(c, s, indices, &out->rule, error);
    if (!status)
        status = emit_variant(s, PROBLEM_TUNED, indices, false, &out->variant, error);
    if (!status)
        status = script_launch_plan(s, PROBLEM_TUNED, indices, &out->launch, error);
    if (!status && plan_transfers(&out->launch))
        status = error_set(error, AT_USAGE,
                           "%s moves data between host and device, which has no kernel source: the "
                           "program must copy the data itself, with the chosen values",
                           script_pattern(s)->name);
    if (!status)
        status = script_problem_plan(s, PROBLEM_TUNED, indices, 1, &out->problem, error);
    if (!status) {
        script_format_configuration(s, indices, out->text, sizeof out->text);
        status = compile(out, options, arch, error);
    }
    out->variant.option_count = 0; /* The options belong to the script. */
    script_free(s);
    if (status)
        library_source_deinit(out);
    return status;
}

void library_source_deinit(library_source *s)
{
    emitted_deinit(&s->variant);
    free(s->symbols);
    free(s->cubin);
    *s = (library_source){0};
}
