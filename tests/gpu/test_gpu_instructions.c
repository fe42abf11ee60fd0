/* Compares all forms of arithmetic instructions and random programs of them between a GPU and the
 * simulated device, bit for bit.
 *
 * usage: test_gpu_instructions DIFFERENCES [DETAILS]
 *
 * DIFFERENCES has the known differences (its first lines describe the format). DETAILS gets a
 * paragraph for each form that is not equal, with operands. Exit code: 0 if nothing else differs, 1
 * if something does, 2 on a usage error, 77 without a GPU. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver.h"
#include "differences.h"
#include "forms.h"
#include "interpret.h"
#include "random_program.h"
#include "simulate.h"

enum {
    TRIES = 2048,   /* tries of each form, with different operands */
    PROGRAMS = 400, /* number of random programs */
    PROGRAM_THREADS = 256,
    FORMS_A_MODULE = 32,
    PROGRAMS_A_MODULE = 4,
    WORKERS = 8,   /* few threads, because the driver's compiler takes most of the time */
    EXAMPLES = 24, /* largest number of tries that are printed for a form that differs */
    SKIPPED = 77
};

typedef struct outcome {
    likeness state;
    int count;    /* number of tries whose results differ in any bit */
    double worst; /* largest distance of two numbers, in units in the last place */
    double absolute;
    char *details;
} outcome;

typedef struct work {
    const cuda_driver *cuda;
    CUcontext context;
    const form *forms;
    size_t form_count;
    outcome *outcomes;  /* results, one for each form */
    const form **drawn; /* forms from which random programs are made */
    size_t drawn_count;
    outcome programs[PROGRAMS];
    differences known;
    pthread_mutex_t lock;
    size_t next; /* next module that a thread takes */
    bool failed;
} work;

static void *allocate(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p)
        abort();
    return p;
}

/* Returns the number of parts of a value: two for packed kinds, otherwise one. */
static int part_count(char kind)
{
    return kind == 'F' || kind == 'G' ? 2 : 1;
}

/* Converts a part to a number. Returns false if the kind is not a float. */
static bool part_value(char kind, uint64_t bits, int part, double *value, double *ulp)
{
    int exponent_bits, fraction_bits;
    switch (kind) {
    case 'f':
        exponent_bits = 8, fraction_bits = 23;
        break;
    case 'g':
        exponent_bits = 11, fraction_bits = 52;
        break;
    case 'H':
    case 'F':
        exponent_bits = 5, fraction_bits = 10;
        break;
    case 'B':
    case 'G':
        exponent_bits = 8, fraction_bits = 7;
        break;
    default:
        return false;
    }
    bits >>= 16 * part;
    uint64_t fraction = bits & ((1ull << fraction_bits) - 1);
    int exponent = (int)(bits >> fraction_bits & ((1ull << exponent_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double sign = bits >> (fraction_bits + exponent_bits) & 1 ? -1.0 : 1.0;
    *ulp = ldexp(1.0, (exponent ? exponent : 1) - bias - fraction_bits);
    if (exponent == 2 * bias + 1)
        *value = fraction ? NAN : sign * INFINITY;
    else
        *value = sign * ldexp((double)fraction + (exponent ? ldexp(1.0, fraction_bits) : 0.0),
                              (exponent ? exponent : 1) - bias - fraction_bits);
    return true;
}

static likeness compare(char kind, uint64_t gpu, uint64_t sim, const difference *known, outcome *o)
{
    likeness worst = STATE_EQUAL;
    if (gpu == sim)
        return worst;
    for (int part = 0; part < part_count(kind); part++) {
        double x, y, ulp, unused;
        if (!part_value(kind, gpu, part, &x, &ulp) || !part_value(kind, sim, part, &y, &unused))
            return STATE_DIFFERS;
        if (isnan(x) && isnan(y)) {
            worst = worst > STATE_NAN ? worst : STATE_NAN;
        } else if (isnan(x) || isnan(y) || isinf(x) || isinf(y)) {
            if (!(x == y))
                worst = STATE_DIFFERS;
        } else if (x != y || signbit(x) != signbit(y)) {
            double distance = fabs(x - y);
            bool near = known->state == STATE_NEAR &&
                        (distance / ulp <= known->ulps || distance <= known->absolute);
            worst = !near ? STATE_DIFFERS : worst > STATE_NEAR ? worst : STATE_NEAR;
            o->worst = fmax(o->worst, distance / ulp);
            o->absolute = fmax(o->absolute, distance);
        }
    }
    return worst;
}

/* Runs kernel k<i> of a module on the GPU. Returns false on an error of the driver. */
static bool run_on_gpu(const work *w, CUmodule module, int number, const uint64_t *in,
                       size_t in_words, uint64_t *out, size_t out_words, uint32_t n)
{
    const cuda_driver *cuda = w->cuda;
    CUdeviceptr from = 0, to = 0;
    CUfunction function;
    CUstream stream = NULL;
    char name[16];
    snprintf(name, sizeof name, "k%d", number);
    void *arguments[] = {&from, &to, &n};
    bool ok =
        cuda->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
        cuda->cuModuleGetFunction(&function, module, name) == CUDA_SUCCESS &&
        cuda->cuMemAlloc(&from, in_words * 8) == CUDA_SUCCESS &&
        cuda->cuMemAlloc(&to, out_words * 8) == CUDA_SUCCESS &&
        cuda->cuMemcpyHtoDAsync(from, in, in_words * 8, stream) == CUDA_SUCCESS &&
        cuda->cuMemsetD8Async(to, 0, out_words * 8, stream) == CUDA_SUCCESS &&
        cuda->cuLaunchKernel(function, (n + SIMULATE_THREADS - 1) / SIMULATE_THREADS, 1, 1,
                             SIMULATE_THREADS, 1, 1, 0, stream, arguments, NULL) == CUDA_SUCCESS &&
        cuda->cuMemcpyDtoHAsync(out, to, out_words * 8, stream) == CUDA_SUCCESS &&
        cuda->cuStreamSynchronize(stream) == CUDA_SUCCESS;
    if (from)
        cuda->cuMemFree(from);
    if (to)
        cuda->cuMemFree(to);
    if (stream)
        cuda->cuStreamDestroy(stream);
    return ok;
}

typedef struct text {
    char *at;
    size_t length, room;
} text;

static text text_new(size_t room)
{
    return (text){allocate(room, 1), 0, room};
}

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at + t->length, t->room - t->length, format, arguments);
    va_end(arguments);
    if (n > 0 && (size_t)n < t->room - t->length)
        t->length += (size_t)n;
}

static void put_operands(text *t, const form *f, const uint64_t *in, int i, uint64_t gpu,
                         uint64_t sim)
{
    put(t, "    ");
    for (int s = 0; f->sources[s]; s++)
        put(t, "%llx ", (unsigned long long)in[s * TRIES + i]);
    put(t, "-> gpu %llx sim %llx\n", (unsigned long long)gpu, (unsigned long long)sim);
}

/* Tries one form. `module` is NULL if the driver refused the form's PTX. */
static void try_form(work *w, size_t index, CUmodule module, int number)
{
    const form *f = &w->forms[index];
    outcome *o = &w->outcomes[index];
    at_error error = {0};
    uint64_t *in = allocate(FORM_SOURCES * TRIES, 8), *gpu = allocate(2 * TRIES, 8),
             *sim = allocate(2 * TRIES, 8);
    text details = text_new(16384), kernel = text_new(2 * FORM_KERNEL_BYTES);
    for (int i = 0; i < TRIES; i++) {
        uint64_t sources[FORM_SOURCES];
        form_operands(f, (size_t)i, 1, sources);
        for (int s = 0; s < FORM_SOURCES; s++)
            in[s * TRIES + i] = sources[s];
    }
    put(&kernel, "%s", form_module_header);
    form_kernel(f, "k", kernel.at + kernel.length, kernel.room - kernel.length);
    if (!module ||
        !run_on_gpu(w, module, number, in, FORM_SOURCES * TRIES, gpu, 2 * TRIES, TRIES)) {
        put(&details, "  the GPU does not run this\n");
        w->failed = true;
        o->state = STATE_DIFFERS;
    } else if (simulate(kernel.at, in, FORM_SOURCES * TRIES, sim, 2 * TRIES, TRIES, &error)) {
        o->state = STATE_REFUSED;
        put(&details, "  %s\n", error.message);
        for (int i = 0; i < EXAMPLES; i++)
            put_operands(&details, f, in, i * (TRIES / EXAMPLES), gpu[i * (TRIES / EXAMPLES)], 0);
    } else {
        int of_state[STATE_COUNT] = {0};
        for (int i = 0; i < TRIES; i++) {
            likeness s =
                compare(f->result, gpu[i], sim[i], differences_find(&w->known, f->name), o);
            o->count += s != STATE_EQUAL;
            o->state = s > o->state ? s : o->state;
            if (s != STATE_EQUAL && of_state[s]++ < EXAMPLES / 3)
                put_operands(&details, f, in, i, gpu[i], sim[i]);
        }
    }
    o->details = details.at;
    free(kernel.at);
    free(in);
    free(gpu);
    free(sim);
}

/* Returns whether a register is not compared, because an earlier step has a known difference. */
static bool is_open(const random_program *p, const difference *const of[PROGRAM_STEPS],
                    uint64_t index, int thread, int number)
{
    uint64_t inputs[PROGRAM_INPUTS];
    interpretation by_isa;
    random_program_inputs(index, (uint64_t)thread, inputs);
    return interpret(p, of, inputs, &by_isa) && by_isa.open[number];
}

static void try_program(work *w, size_t index, const random_program *p, CUmodule module, int number,
                        const char *ptx)
{
    enum {
        INPUTS = PROGRAM_INPUTS * PROGRAM_THREADS,
        OUTPUTS = PROGRAM_REGISTERS * PROGRAM_THREADS
    };
    outcome *o = &w->programs[index];
    const difference *of[PROGRAM_STEPS];
    at_error error = {0};
    uint64_t *in = allocate(INPUTS, 8), *gpu = allocate(OUTPUTS, 8), *sim = allocate(OUTPUTS, 8);
    text details = text_new(16384 + PROGRAM_BYTES);
    for (int i = 0; i < PROGRAM_THREADS; i++) {
        uint64_t inputs[PROGRAM_INPUTS];
        random_program_inputs(index, (uint64_t)i, inputs);
        for (int k = 0; k < PROGRAM_INPUTS; k++)
            in[k * PROGRAM_THREADS + i] = inputs[k];
    }
    if (!module || !run_on_gpu(w, module, number, in, INPUTS, gpu, OUTPUTS, PROGRAM_THREADS)) {
        put(&details, "  the GPU does not run this\n");
        o->state = STATE_DIFFERS;
    } else if (simulate(ptx, in, INPUTS, sim, OUTPUTS, PROGRAM_THREADS, &error)) {
        put(&details, "  %s\n", error.message);
        o->state = STATE_REFUSED;
    } else {
        interpret_known(p, &w->known, of);
        for (int i = 0; i < OUTPUTS; i++)
            if (gpu[i] != sim[i] &&
                !is_open(p, of, index, i % PROGRAM_THREADS, i / PROGRAM_THREADS) &&
                o->count++ < EXAMPLES)
                put(&details, "    register %d of thread %d: gpu %llx sim %llx\n",
                    i / PROGRAM_THREADS, i % PROGRAM_THREADS, (unsigned long long)gpu[i],
                    (unsigned long long)sim[i]);
        o->state = o->count ? STATE_DIFFERS : STATE_EQUAL;
    }
    if (o->state != STATE_EQUAL)
        put(&details, "%s", ptx);
    o->details = details.at;
    free(in);
    free(gpu);
    free(sim);
}

static CUmodule load(work *w, const char *ptx)
{
    CUmodule module = NULL;
    return w->cuda->cuModuleLoadData(&module, ptx) == CUDA_SUCCESS ? module : NULL;
}

static void do_forms(work *w, size_t first)
{
    size_t count = w->form_count - first < FORMS_A_MODULE ? w->form_count - first : FORMS_A_MODULE;
    text ptx = text_new((FORMS_A_MODULE + 1) * FORM_KERNEL_BYTES);
    for (size_t alone = 0; alone < count + 1; alone++) {
        /* If the driver refuses the module of all forms, each form gets a module of its own. */
        ptx.length = 0;
        put(&ptx, "%s", form_module_header);
        for (size_t i = 0; i < count; i++) {
            char entry[16];
            snprintf(entry, sizeof entry, "k%d", (int)i);
            if (alone > 0 && i != alone - 1)
                continue;
            form_kernel(&w->forms[first + i], entry, ptx.at + ptx.length, ptx.room - ptx.length);
            ptx.length += strlen(ptx.at + ptx.length);
        }
        CUmodule module = load(w, ptx.at);
        for (size_t i = 0; i < count && (module || alone > 0); i++)
            if (alone == 0 || i == alone - 1)
                try_form(w, first + i, module, (int)i);
        if (module)
            w->cuda->cuModuleUnload(module);
        if (module && alone == 0)
            break;
    }
    free(ptx.at);
}

static void do_programs(work *w, size_t first)
{
    text ptx = text_new(PROGRAMS_A_MODULE * PROGRAM_BYTES + 1024),
         alone = text_new(PROGRAM_BYTES + 1024);
    random_program p;
    put(&ptx, "%s", form_module_header);
    for (size_t i = 0; i < PROGRAMS_A_MODULE; i++) {
        char entry[16];
        snprintf(entry, sizeof entry, "k%d", (int)i);
        random_program_make(&p, w->drawn, w->drawn_count, first + i);
        random_program_kernel(&p, entry, ptx.at + ptx.length, ptx.room - ptx.length);
        ptx.length += strlen(ptx.at + ptx.length);
    }
    CUmodule module = load(w, ptx.at);
    for (size_t i = 0; i < PROGRAMS_A_MODULE; i++) {
        alone.length = 0;
        put(&alone, "%s", form_module_header);
        random_program_make(&p, w->drawn, w->drawn_count, first + i);
        random_program_kernel(&p, "k", alone.at + alone.length, alone.room - alone.length);
        try_program(w, first + i, &p, module, (int)i, alone.at);
    }
    if (module)
        w->cuda->cuModuleUnload(module);
    free(ptx.at);
    free(alone.at);
}

static void *worker(void *context)
{
    work *w = context;
    w->cuda->cuCtxSetCurrent(w->context);
    size_t form_modules = (w->form_count + FORMS_A_MODULE - 1) / FORMS_A_MODULE;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        size_t i = w->next++;
        pthread_mutex_unlock(&w->lock);
        if (i < form_modules)
            do_forms(w, i * FORMS_A_MODULE);
        else if (i < form_modules + PROGRAMS / PROGRAMS_A_MODULE)
            do_programs(w, (i - form_modules) * PROGRAMS_A_MODULE);
        else
            return NULL;
    }
}

/* Returns whether the difference is at most the known difference. */
static bool is_expected(const outcome *o, const difference *e)
{
    if (o->state == STATE_REFUSED || e->state == STATE_REFUSED)
        return o->state == e->state;
    return o->state <= e->state;
}

/* Prints the table and writes the details. Returns the number of forms and programs with unexpected
   results. */
static int report(const work *w, const char *path)
{
    int forms[STATE_COUNT] = {0}, programs[STATE_COUNT] = {0}, unexpected = 0, better = 0;
    FILE *f = path ? fopen(path, "w") : NULL;
    for (size_t i = 0; i < w->form_count; i++) {
        const outcome *o = &w->outcomes[i];
        const difference *e = differences_find(&w->known, w->forms[i].name);
        bool ok = is_expected(o, e);
        forms[o->state]++;
        if (!ok && unexpected++ < 40)
            printf("FAIL %s: %s (%d of %d; %.3g units of the last place, %.3g)\n", w->forms[i].name,
                   difference_names[o->state], o->count, TRIES, o->worst, o->absolute);
        if (o->state == STATE_EQUAL && e->state != STATE_EQUAL && better++ < 20)
            printf("told %s: is listed as \"%s\" and is equal\n", w->forms[i].name,
                   difference_names[e->state]);
        if (f && o->state != STATE_EQUAL)
            fprintf(f, "%s: %s%s (%d of %d; %.3g units of the last place, %.3g)\n%s",
                    w->forms[i].name, difference_names[o->state], ok ? "" : ", not listed",
                    o->count, TRIES, o->worst, o->absolute, o->details);
        else if (f)
            fprintf(f, "%s: equal\n", w->forms[i].name);
    }
    for (int i = 0; i < PROGRAMS; i++) {
        const outcome *o = &w->programs[i];
        char name[32];
        snprintf(name, sizeof name, "program %d", i);
        bool ok = is_expected(o, differences_find(&w->known, name));
        programs[o->state]++;
        if (!ok && unexpected++ < 40)
            printf("FAIL %s: %s (%d values)\n", name, difference_names[o->state], o->count);
        if (f && o->state != STATE_EQUAL)
            fprintf(f, "program %d: %s (%d values)\n%s", i, difference_names[o->state], o->count,
                    o->details);
    }
    if (f)
        fclose(f);
    printf("%zu forms of instructions, %d operands each:\n", w->form_count, TRIES);
    for (int s = 0; s < STATE_COUNT; s++)
        printf("  %-8s %5d\n", difference_names[s], forms[s]);
    printf("%d random programs of %d steps, %d threads each: %d equal\n", PROGRAMS, PROGRAM_STEPS,
           PROGRAM_THREADS, programs[STATE_EQUAL]);
    printf("%d listed forms are equal; %d forms and programs differ that are not listed\n", better,
           unexpected);
    return unexpected;
}

/* Chooses the forms for random programs. The list must call them equal when tried alone. */
static void draw(work *w)
{
    w->drawn = allocate(w->form_count, sizeof *w->drawn);
    for (size_t i = 0; i < w->form_count; i++) {
        const form *f = &w->forms[i];
        const difference *e = differences_find(&w->known, f->name);
        if (!strchr(f->body, '[') && !strstr(f->name, ".sync") && e->state == STATE_EQUAL &&
            !e->alone)
            w->drawn[w->drawn_count++] = f;
    }
}

static at_status open_gpu(cuda_driver *cuda, CUdevice *device, CUcontext *context, at_error *error)
{
    at_status status = cuda_driver_open(cuda, error);
    if (!status)
        status =
            cuda_check(cuda, cuda->cuDeviceGet(device, 0), AT_NO_DEVICE, "there is no GPU", error);
    int major = 0;
    char name[128] = "";
    if (!status)
        status = cuda_check(cuda, cuda->cuDevicePrimaryCtxRetain(context, *device), AT_NO_DEVICE,
                            "no context", error);
    if (status)
        return status;
    cuda->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, *device);
    cuda->cuDeviceGetName(name, sizeof name, *device);
    if (major != 9)
        return error_set(error, AT_NO_DEVICE,
                         "what a GPU of compute capability 9.0 does is known; this one is a %s",
                         name);
    printf("on %s, driver %s\n", name, cuda->version);
    return AT_OK;
}

int main(int count, char **arguments)
{
    if (count < 2 || count > 3) {
        fprintf(stderr, "usage: test_gpu_instructions DIFFERENCES [DETAILS]\n");
        return 2;
    }
    static work w = {.lock = PTHREAD_MUTEX_INITIALIZER};
    cuda_driver cuda;
    CUdevice device;
    at_error error = {0};
    form *forms;
    if (!differences_read(&w.known, arguments[1]))
        return 2;
    if (open_gpu(&cuda, &device, &w.context, &error)) {
        printf("skipped: %s\n", error.message);
        return SKIPPED;
    }
    w.cuda = &cuda;
    w.form_count = forms_list(&forms);
    w.forms = forms;
    w.outcomes = allocate(w.form_count, sizeof *w.outcomes);
    draw(&w);
    pthread_t threads[WORKERS];
    int started = 0;
    while (started < WORKERS && pthread_create(&threads[started], NULL, worker, &w) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started == 0 || report(&w, count > 2 ? arguments[2] : NULL) > 0;
}
