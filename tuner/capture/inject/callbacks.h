/* The part of CUPTI's callbacks and activity records that the injected library needs. CUPTI's
 * headers are not needed: these declarations are the documented binary interface (CUPTI 12.0 and
 * newer, "CUPTI Callback API" and "CUPTI Activity API"). CUPTI passes the parameters of a driver
 * function as a structure with one member for each, in their order. */
#ifndef AUTOTUNE_CAPTURE_INJECT_CALLBACKS_H
#define AUTOTUNE_CAPTURE_INJECT_CALLBACKS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CUPTI_DOMAIN_DRIVER = 1, /* CUpti_CallbackDomain */
    CUPTI_SITE_ENTER = 0,    /* CUpti_ApiCallbackSite */
    CUPTI_SITE_EXIT = 1,
    CUPTI_KIND_CONCURRENT_KERNEL = 10 /* CUpti_ActivityKind */
};

typedef struct cupti_call {
    int site;
    const char *function;
    const void *parameters;
    const void *result; /* at the exit of the call, points to its CUresult */
    const char *symbol; /* for a launch: mangled name of the kernel */
    CUcontext context;
    uint32_t context_number;
    uint64_t *own; /* value of this library, kept from enter to exit of a call */
    uint32_t correlation;
} cupti_call;

typedef void (*cupti_callback)(void *own, int domain, uint32_t function, const cupti_call *call);

/* The beginning of CUpti_ActivityKernel9. Newer versions begin in the same way. */
typedef struct __attribute__((packed)) cupti_kernel_record {
    int kind;
    uint8_t cache, shared;
    uint16_t registers;
    int partitioned_requested, partitioned;
    uint64_t start_ns, end_ns, completed_ns;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared_bytes, dynamic_shared_bytes;
    uint32_t local_bytes, local_total_bytes, correlation;
    int64_t grid_number;
    const char *name;
} cupti_kernel_record;

typedef void (*cupti_buffer_wanted)(uint8_t **buffer, size_t *size_bytes, size_t *most_records);
typedef void (*cupti_buffer_full)(CUcontext context, uint32_t stream, uint8_t *buffer,
                                  size_t size_bytes, size_t valid_bytes);

/* calls X(name, parameters) for each function */
#define CUPTI_CALLBACK_FUNCTIONS(X)                                                                \
    X(cuptiSubscribe, (void **subscriber, cupti_callback callback, void *own))                     \
    X(cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t function))     \
    X(cuptiGetCallbackName, (int domain, uint32_t function, const char **name))                    \
    X(cuptiActivityRegisterCallbacks, (cupti_buffer_wanted wanted, cupti_buffer_full full))        \
    X(cuptiActivityEnable, (int kind))                                                             \
    X(cuptiActivityFlushPeriod, (uint32_t period_ms))                                              \
    X(cuptiActivityFlushAll, (uint32_t flags))                                                     \
    X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid_bytes, void **record))           \
    X(cuptiGetResultString, (int code, const char **text))

typedef struct launch_parameters {
    CUfunction function;
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    void **arguments;
    void **extra; /* not in the parameters of cuLaunchCooperativeKernel */
} launch_parameters;

typedef struct launch_ex_parameters {
    const CUlaunchConfig *config;
    CUfunction function;
    void **arguments, **extra;
} launch_ex_parameters;

/* Parameters of cuGraphAddKernelNode, cuGraphAddKernelNode_v2 and cuGraphAddNode. */
typedef struct node_parameters {
    CUgraphNode *made;
    CUgraph graph;
    const CUgraphNode *after;
    size_t after_count;
    /* CUDA_KERNEL_NODE_PARAMS of any version, or CUgraphNodeParams for cuGraphAddNode */
    const void *node;
} node_parameters;

/* Parameters of cuGraphAddNode_v2, which also has the data of edges. */
typedef struct node_v2_parameters {
    CUgraphNode *made;
    CUgraph graph;
    const CUgraphNode *after;
    const void *edges;
    size_t after_count;
    const CUgraphNodeParams *node;
} node_v2_parameters;

/* The beginning of the parameters of cuModuleLoad, cuModuleLoadData, cuModuleLoadDataEx,
 * cuModuleLoadFatBinary, cuLibraryLoadData and cuLibraryLoadFromFile. */
typedef struct load_parameters {
    void **made;       /* the loaded CUmodule or CUlibrary */
    const void *image; /* the image, or the path of a file */
} load_parameters;

/* Parameters of cuModuleUnload and cuLibraryUnload. */
typedef struct unload_parameters {
    void *handle;
} unload_parameters;

#endif
