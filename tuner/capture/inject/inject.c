/* The library that CUDA loads into a program (CUDA_INJECTION64_PATH). It records the launches of
 * the program, and captures the launches that `autotune capture` chose.
 *
 * The driver calls InitializeInjection() once, in the program's first cuInit(). From then on, CUPTI
 * calls watch() before and after each launch and each load of a module, on the program's thread.
 * watch() holds a lock, also during a chosen launch, so that launches of other threads wait for it.
 * The library never ends the program: errors are written into the table. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/image.h"
#include "capture/inject/callbacks.h"
#include "capture/inject/inject.h"

enum { BUFFER_BYTES = 1 << 20, FLUSH_MS = 500 };

typedef struct cupti {
#define CUPTI_MEMBER(name, parameters) int(*name) parameters;
    CUPTI_CALLBACK_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
} cupti;

typedef struct known_kernel {
    char *name; /* owned; NULL if the slot is empty */
    bool is_chosen;
} known_kernel;

enum { KNOWN_KERNELS = 4096 };

/* True while this thread holds the lock for a chosen launch. */
static _Thread_local bool keeps_lock;

/* The state of the process. `lock` guards everything that changes, except the rows. The rows have
 * their own lock, because times may arrive during a call of the driver. */
static struct {
    pthread_mutex_t lock, rows_lock;
    bool is_off;
    launch_table rows;
    modules modules;
    cupti cupti;
    snapshot_driver driver;
    /* Functions that only newer drivers have; may be NULL. */
    CUresult (*function_name)(const char **name, CUfunction function);
    CUresult (*kernel_name)(const char **name, CUkernel kernel);
    const char *lacking; /* missing driver function; if set, nothing is captured */
    const char *wanted;  /* part of the chosen kernels' names; NULL if no kernel is chosen */
    uint64_t nth, shapes, limit_bytes;
    known_kernel known[KNOWN_KERNELS];
} process_state = {.lock = PTHREAD_MUTEX_INITIALIZER, .rows_lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct launch {
    CUfunction function;
    CUstream stream;
    void **arguments, **extra;
    capture_row key;
} launch;

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static void read_launch_ex(const launch_ex_parameters *p, launch *out)
{
    *out = (launch){
        .function = p->function,
        .stream = p->config->hStream,
        .arguments = p->arguments,
        .extra = p->extra,
        .key = {.grid = {p->config->gridDimX, p->config->gridDimY, p->config->gridDimZ},
                .block = {p->config->blockDimX, p->config->blockDimY, p->config->blockDimZ},
                .cluster = {1, 1, 1},
                .dynamic_shared_bytes = p->config->sharedMemBytes}};
    for (unsigned i = 0; i < p->config->numAttrs; i++) {
        const CUlaunchAttribute *a = &p->config->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a->value.cooperative)
            out->key.flags |= CAPTURE_COOPERATIVE;
        if (a->id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            continue;
        out->key.cluster[0] = a->value.clusterDim.x;
        out->key.cluster[1] = a->value.clusterDim.y;
        out->key.cluster[2] = a->value.clusterDim.z;
    }
}

static void read_launch(const cupti_call *call, launch *out)
{
    const launch_parameters *p = call->parameters;
    const bool cooperative = starts(call->function, "cuLaunchCooperative");
    if (starts(call->function, "cuLaunchKernelEx")) {
        read_launch_ex(call->parameters, out);
    } else {
        *out = (launch){.function = p->function,
                        .stream = p->stream,
                        .arguments = p->arguments,
                        .extra = cooperative ? NULL : p->extra,
                        .key = {.grid = {p->grid[0], p->grid[1], p->grid[2]},
                                .block = {p->block[0], p->block[1], p->block[2]},
                                .cluster = {1, 1, 1},
                                .dynamic_shared_bytes = p->shared_bytes,
                                .flags = cooperative ? CAPTURE_COOPERATIVE : 0}};
    }
    /* Functions with this ending use the calling thread's default stream. */
    const size_t length = strlen(call->function);
    if (!out->stream && length > 5 && strcmp(call->function + length - 5, "_ptsz") == 0)
        out->stream = CU_STREAM_PER_THREAD;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (process_state.driver.cuStreamIsCapturing &&
        process_state.driver.cuStreamIsCapturing(out->stream, &status) == CUDA_SUCCESS &&
        status != CU_STREAM_CAPTURE_STATUS_NONE)
        out->key.flags |= CAPTURE_RECORDED;
}

static bool has_in_name(const char *mangled, const char *wanted)
{
    if (strstr(mangled, wanted))
        return true;
    char *plain = kernel_name_demangled(mangled);
    const bool is_part = plain && strstr(plain, wanted);
    free(plain);
    return is_part;
}

static bool is_chosen(const char *name)
{
    uint32_t h = 2166136261u;
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 16777619u;
    known_kernel *known = &process_state.known[h % KNOWN_KERNELS];
    if (!known->name || strcmp(known->name, name) != 0) {
        free(known->name);
        known->name = strdup(name);
        known->is_chosen = has_in_name(name, process_state.wanted);
    }
    return known->is_chosen;
}

static capture_row *row_of(const cupti_call *call, const launch *l)
{
    return launch_table_find(&process_state.rows, call->symbol ? call->symbol : "", &l->key);
}

/* Counts a launch of a chosen kernel, and returns whether to capture it. With several shapes, the
 * n-th launch of each shape is captured. */
static bool is_its_turn(const cupti_call *call, const launch *l)
{
    capture_table *t = process_state.rows.table;
    t->matched++;
    if (process_state.shapes <= 1)
        return t->matched == process_state.nth;
    pthread_mutex_lock(&process_state.rows_lock);
    const capture_row *row = row_of(call, l);
    const bool is_nth = row && row->count + row->refused + 1 == process_state.nth;
    pthread_mutex_unlock(&process_state.rows_lock);
    return is_nth && t->launch_count < process_state.shapes;
}

static snapshot snapshot_of(uint32_t place)
{
    return (snapshot){&process_state.driver,
                      &process_state.modules,
                      &process_state.rows.table->launches[place],
                      process_state.rows.folder,
                      (int)place,
                      process_state.limit_bytes};
}

/* Begins to capture the launch if it must be captured. The thread then holds the lock. */
static void before_launch(const cupti_call *call)
{
    launch l;
    *call->own = 0;
    if (!process_state.wanted || !call->symbol || !is_chosen(call->symbol))
        return;
    read_launch(call, &l);
    if (l.key.flags & CAPTURE_RECORDED) {
        process_state.rows.table->matched_recorded++;
        return;
    }
    if (!is_its_turn(call, &l))
        return;
    if (process_state.lacking) {
        launch_table_trouble(process_state.rows.table->trouble,
                             "the driver is too old to capture arguments: it has no %s",
                             process_state.lacking);
        return;
    }
    const uint32_t place = process_state.rows.table->launch_count++;
    const snapshot s = snapshot_of(place);
    s.out->number = process_state.rows.table->matched;
    s.out->row = UINT32_MAX;
    snapshot_before(&s, call->symbol, l.function, l.arguments, l.extra);
    *call->own = place + 1;
    keeps_lock = true;
}

static void after_launch(const cupti_call *call)
{
    launch l;
    read_launch(call, &l);
    const CUresult result = *(const CUresult *)call->result;
    pthread_mutex_lock(&process_state.rows_lock);
    capture_row *row = row_of(call, &l);
    if (row)
        *(result ? &row->refused : &row->count) += 1;
    else
        process_state.rows.table->dropped++;
    pthread_mutex_unlock(&process_state.rows_lock);
    if (!*call->own)
        return;
    const snapshot s = snapshot_of((uint32_t)*call->own - 1);
    if (row)
        s.out->row = (uint32_t)(row - process_state.rows.table->rows);
    if (result)
        launch_table_trouble(s.out->trouble, "the driver refused the launch");
    else if (s.out->state == CAPTURE_INPUTS)
        snapshot_after(&s);
}

/* Counts a new kernel node of a graph. The kernel is `function` or, if that is NULL, `kern`. */
static void count_node(const cupti_call *call, CUfunction function, CUkernel kern,
                       const capture_row *key)
{
    const char *name = call->symbol;
    /* The CUDA runtime may pass a CUkernel as a CUfunction. */
    const CUkernel kernel = function ? (CUkernel)function : kern;
    if (!name && process_state.kernel_name &&
        process_state.kernel_name(&name, kernel) != CUDA_SUCCESS)
        name = NULL;
    if (!name && function && process_state.function_name &&
        process_state.function_name(&name, function) != CUDA_SUCCESS)
        name = NULL;
    if (process_state.wanted && name && is_chosen(name))
        process_state.rows.table->matched_recorded++;
    pthread_mutex_lock(&process_state.rows_lock);
    capture_row *row = launch_table_find(&process_state.rows, name ? name : "", key);
    if (row)
        row->count++;
    else
        process_state.rows.table->dropped++;
    pthread_mutex_unlock(&process_state.rows_lock);
}

static capture_row row_of_node(const CUDA_KERNEL_NODE_PARAMS_v3 *k)
{
    return (capture_row){.grid = {k->gridDimX, k->gridDimY, k->gridDimZ},
                         .block = {k->blockDimX, k->blockDimY, k->blockDimZ},
                         .cluster = {1, 1, 1},
                         .dynamic_shared_bytes = k->sharedMemBytes,
                         .flags = CAPTURE_RECORDED};
}

/* Returns the parameters of a kernel node, or NULL if the node is of another kind. */
static const CUDA_KERNEL_NODE_PARAMS_v3 *kernel_of_node(const cupti_call *call)
{
    const node_parameters *p = call->parameters;
    const node_v2_parameters *v2 = call->parameters;
    if (starts(call->function, "cuGraphAddKernelNode"))
        return p->node;
    const CUgraphNodeParams *n = strcmp(call->function, "cuGraphAddNode_v2") ? p->node : v2->node;
    return n->type == CU_GRAPH_NODE_TYPE_KERNEL ? &n->kernel : NULL;
}

/* Counts a kernel node that the program added to a graph directly, not by recording a stream. */
static void after_node(const cupti_call *call)
{
    const bool succeeded = *(const CUresult *)call->result == CUDA_SUCCESS;
    const CUDA_KERNEL_NODE_PARAMS_v3 *k = succeeded ? kernel_of_node(call) : NULL;
    if (!k)
        return;
    const capture_row key = row_of_node(k);
    /* The first version has no CUkernel handle. */
    const bool has_kern = strcmp(call->function, "cuGraphAddKernelNode") != 0;
    count_node(call, k->func, has_kern ? k->kern : NULL, &key);
}

static void find_names(void)
{
    void *library = snapshot_find_library();
    void *function = library ? dlsym(library, "cuFuncGetName") : NULL;
    void *kernel = library ? dlsym(library, "cuKernelGetName") : NULL;
    memcpy(&process_state.function_name, &function, sizeof function);
    memcpy(&process_state.kernel_name, &kernel, sizeof kernel);
}

static void give_buffer(uint8_t **buffer, size_t *size_bytes, size_t *most_records)
{
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size_bytes = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

/* Returns the row of a timed launch. The record does not tell whether the launch had clusters or
 * was cooperative. If no row has neither property, takes the first row that agrees otherwise. */
static capture_row *row_of_record(const cupti_kernel_record *r)
{
    capture_table *t = process_state.rows.table;
    capture_row key = {.cluster = {1, 1, 1},
                       .dynamic_shared_bytes = (uint32_t)r->dynamic_shared_bytes};
    for (int k = 0; k < 3; k++) {
        key.grid[k] = (uint32_t)r->grid[k];
        key.block[k] = (uint32_t)r->block[k];
    }
    capture_row *known = launch_table_known(&process_state.rows, r->name, &key);
    for (uint32_t i = 0; !known && i < t->row_count; i++) {
        capture_row *row = &t->rows[i];
        if (!(row->flags & CAPTURE_RECORDED) &&
            row->dynamic_shared_bytes == key.dynamic_shared_bytes &&
            memcmp(row->grid, key.grid, sizeof key.grid) == 0 &&
            memcmp(row->block, key.block, sizeof key.block) == 0 &&
            strcmp(t->names + row->name, r->name) == 0)
            known = row;
    }
    return known;
}

static void add_time(const cupti_kernel_record *r)
{
    capture_row *row = r->name && r->end_ns > r->start_ns ? row_of_record(r) : NULL;
    if (!row)
        return;
    const uint64_t time_ns = r->end_ns - r->start_ns;
    row->fastest_ns = row->timed && row->fastest_ns < time_ns ? row->fastest_ns : time_ns;
    row->time_ns += time_ns;
    row->timed++;
}

static void take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size_bytes,
                        size_t valid_bytes)
{
    void *record = NULL;
    (void)context, (void)stream, (void)size_bytes;
    pthread_mutex_lock(&process_state.rows_lock);
    while (process_state.cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == 0) {
        cupti_kernel_record r;
        int kind;
        memcpy(&kind, record, sizeof kind);
        if (kind != CUPTI_KIND_CONCURRENT_KERNEL)
            continue;
        memcpy(&r, record, sizeof r);
        add_time(&r);
    }
    pthread_mutex_unlock(&process_state.rows_lock);
    free(buffer);
}

static void flush_times(void)
{
    if (!process_state.is_off)
        process_state.cupti.cuptiActivityFlushAll(1);
}

static void start_timing(void)
{
    const cupti *c = &process_state.cupti;
    if (c->cuptiActivityRegisterCallbacks(give_buffer, take_buffer) ||
        c->cuptiActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL)) {
        launch_table_trouble(process_state.rows.table->trouble, "CUPTI cannot time the kernels");
        return;
    }
    /* If the program calls _exit(), only the times of the last half second are missing. */
    c->cuptiActivityFlushPeriod(FLUSH_MS);
    atexit(flush_times);
}

static void after_load(const cupti_call *call)
{
    const load_parameters *p = call->parameters;
    if (*(const CUresult *)call->result != CUDA_SUCCESS || !p->made || !p->image)
        return;
    if (strcmp(call->function, "cuModuleLoad") == 0 ||
        strcmp(call->function, "cuLibraryLoadFromFile") == 0)
        modules_add_file(&process_state.modules, *p->made, p->image);
    else
        modules_add(&process_state.modules, *p->made, p->image);
}

static bool is_launch(const char *function)
{
    return starts(function, "cuLaunch");
}

static void enter(const cupti_call *call)
{
    if (is_launch(call->function))
        before_launch(call);
    else if (strstr(call->function, "Unload"))
        modules_remove(&process_state.modules,
                       ((const unload_parameters *)call->parameters)->handle);
}

static void leave(const cupti_call *call)
{
    if (is_launch(call->function))
        after_launch(call);
    else if (strstr(call->function, "Load"))
        after_load(call);
    else if (starts(call->function, "cuGraphAdd"))
        after_node(call);
    else if (*(const CUresult *)call->result == CUDA_SUCCESS)
        process_state.rows.table->graph_launches++;
}

static void watch(void *own, int domain, uint32_t function, const cupti_call *call)
{
    (void)own, (void)domain, (void)function;
    if (process_state.is_off)
        return;
    const bool at_exit = call->site == CUPTI_SITE_EXIT;
    if (!keeps_lock)
        pthread_mutex_lock(&process_state.lock);
    if (at_exit)
        leave(call);
    else
        enter(call);
    /* A launch may load a module, so the lock is held until the launch itself ends. */
    keeps_lock = keeps_lock && !(at_exit && is_launch(call->function) && *call->own);
    if (!keeps_lock)
        pthread_mutex_unlock(&process_state.lock);
}

/* A forked process cannot use CUDA before it executes another program, so it needs no table. */
static void stop_in_child(void)
{
    process_state.is_off = true;
}

static const char *find_functions(void *library)
{
    static const struct {
        const char *name;
        size_t offset;
    } symbols[] = {
#define CUPTI_SYMBOL(name, parameters) {#name, offsetof(cupti, name)},
        CUPTI_CALLBACK_FUNCTIONS(CUPTI_SYMBOL)
#undef CUPTI_SYMBOL
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address)
            return symbols[i].name;
        memcpy((char *)&process_state.cupti + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}

/* Opens CUPTI: the program's own copy if it has one, because two copies disturb each other. */
static void *open_cupti(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
    const char *given = getenv(CAPTURE_CUPTI);
    void *found = NULL;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++)
        found = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (size_t i = 0; !found && i <= sizeof names / sizeof *names; i++) {
        const char *name = i == 0 ? given : names[i - 1];
        found = name && *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    return found;
}

static bool is_watched(const char *function)
{
    static const char *const watched[] = {
        "cuLaunchKernel",        "cuLaunchKernel_ptsz",       "cuLaunchKernelEx",
        "cuLaunchKernelEx_ptsz", "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz",
        "cuGraphLaunch",         "cuGraphLaunch_ptsz",        "cuModuleLoad",
        "cuModuleLoadData",      "cuModuleLoadDataEx",        "cuModuleLoadFatBinary",
        "cuModuleUnload",        "cuLibraryLoadData",         "cuLibraryLoadFromFile",
        "cuLibraryUnload",       "cuGraphAddKernelNode",      "cuGraphAddKernelNode_v2",
        "cuGraphAddNode",        "cuGraphAddNode_v2",
    };
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        if (strcmp(watched[i], function) == 0)
            return true;
    return false;
}

static int subscribe(void)
{
    enum { MOST_FUNCTIONS = 4096 };
    void *subscriber = NULL;
    const char *name = NULL;
    const cupti *c = &process_state.cupti;
    int code = c->cuptiSubscribe(&subscriber, watch, NULL);
    for (uint32_t f = 1; !code && f < MOST_FUNCTIONS; f++)
        if (c->cuptiGetCallbackName(CUPTI_DOMAIN_DRIVER, f, &name) == 0 && name && is_watched(name))
            code = c->cuptiEnableCallback(1, subscriber, CUPTI_DOMAIN_DRIVER, f);
    return code;
}

static uint64_t setting(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : fallback;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

/* Called by the driver. Always returns 1 (success), so that the program continues. */
int InitializeInjection(void)
{
    const char *dir = getenv(CAPTURE_DIR), *text = NULL;
    if (process_state.rows.table || !dir || !launch_table_open(&process_state.rows, dir))
        return 1;
    capture_table *t = process_state.rows.table;
    process_state.wanted = getenv(CAPTURE_KERNEL);
    process_state.nth = setting(CAPTURE_NTH, 1);
    process_state.shapes = setting(CAPTURE_SHAPES, 1);
    process_state.limit_bytes = setting(CAPTURE_LIMIT, UINT64_MAX);
    process_state.lacking = snapshot_find_driver(&process_state.driver);
    find_names();
    pthread_atfork(NULL, NULL, stop_in_child);
    void *library = open_cupti();
    const char *lacking = library ? find_functions(library) : NULL;
    if (!library) {
        launch_table_trouble(t->trouble, "there is no CUPTI library (%s)", dlerror());
        return 1;
    }
    if (lacking) {
        launch_table_trouble(t->trouble, "the CUPTI library is too old: it has no %s", lacking);
        return 1;
    }
    if (setting(CAPTURE_TIME, 0))
        start_timing();
    const int code = subscribe();
    if (code) {
        process_state.cupti.cuptiGetResultString(code, &text);
        launch_table_trouble(t->trouble, "CUPTI cannot watch this program: %s", text ? text : "");
    }
    return 1;
}
