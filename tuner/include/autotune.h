/* libautotune: use what autotune recorded, from C or C++.
 *
 * Open a folder of results, pick the configuration for the GPU and the problem at hand, read its
 * values; or let the library emit that kernel from its pattern script, compile it (with a cache on
 * disk) and launch it in the caller's own context and stream:
 *
 *     at_error error;
 *     at_results *results = NULL;
 *     at_choice *choice = NULL;
 *     at_kernel *kernel = NULL;
 *     at_variable problem[] = {at_integer("rows", rows), at_integer("cols", cols),
 *                              at_text("dtype", "float")};
 *     if (at_open("results", &results, &error) ||
 *         at_pick(results, "transpose", NULL, problem, 3, &choice, &error) ||
 *         at_prepare(choice, NULL, &kernel, &error))
 *         fprintf(stderr, "%s\n", error.message);
 *     uint64_t buffers[] = {src, dst};
 *     at_launch(kernel, stream, buffers, &error);
 *
 * Functions that can fail return AT_OK or a status, and write what went wrong into the at_error
 * that their last argument points to (NULL is fine). An argument that is NULL and may not be is
 * AT_USAGE; functions that do not return a status give 0, "" or AT_RULE_DEFAULT for it, and for an
 * index beyond the count. After a failure there is no handle: *out is NULL. A handle is freed by
 * the function named with its type; NULL is fine there. Arguments are copied, and texts that are
 * given live as long as the handle that they were asked of. Threads may share handles; only freeing
 * one may not overlap with another call. Nothing is printed, all state is in handles, and the
 * process's environment, signals and working folder are not changed. Neither are the locale, the
 * rounding mode and the floating-point traps of the calling thread, and nothing depends on them:
 * numbers in texts have a point in every program. A thread that calls has 128 KiB of stack, one
 * that calls at_prepare() 1 MiB: NVRTC takes it. */
#ifndef AUTOTUNE_H
#define AUTOTUNE_H

#include <stddef.h>
#include <stdint.h>

/* May be defined as nothing beforehand, for what reads declarations only (cffi). */
#ifndef AT_API
#if defined(__GNUC__)
#define AT_API __attribute__((visibility("default")))
#else
#define AT_API
#endif
#endif

/* For C of before 1999, too. */
#if defined(__GNUC__)
#define AT_INLINE static __inline__
#else
#define AT_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef AT_STATUS_DEFINED /* by sources of autotune itself */
#define AT_STATUS_DEFINED
typedef enum at_status {
    AT_OK = 0,
    AT_USAGE,        /* the command line, or an argument, is wrong */
    AT_SCRIPT,       /* a pattern script, expression or template is wrong */
    AT_FORMAT,       /* a file is not the JSON, PTX, journal ... that it should be */
    AT_IO,           /* a file, folder or socket could not be opened, read or written */
    AT_NO_MEMORY,    /* host memory is exhausted */
    AT_NO_DEVICE,    /* no usable GPU or driver */
    AT_NO_TOOLCHAIN, /* no usable NVRTC or CUDA Toolkit */
    AT_COMPILE,      /* NVRTC rejected a source */
    AT_DEVICE,       /* the device reported an error; the context may be gone */
    AT_WORKER,       /* a worker process died, hung or sent a malformed message */
    AT_INTERRUPTED,  /* the user asked to stop */
    AT_NOT_FOUND,    /* a look-up found nothing */
    AT_INTERNAL      /* a bug in autotune */
} at_status;

typedef struct at_error {
    at_status status;
    int line;           /* 1-based line in `file` where the error is; 0: none */
    char file[512];     /* file in which the error is; empty: none */
    char message[3072]; /* one or more lines, no trailing newline */
} at_error;
#endif

/* How a configuration was found, best first. */
typedef enum at_rule {
    AT_RULE_EXACT,      /* measured on this GPU and problem */
    AT_RULE_PORTFOLIO,  /* on this GPU, for a range of problems */
    AT_RULE_NEAREST,    /* on this GPU, for the nearest problem */
    AT_RULE_CAPABILITY, /* on a GPU of the same compute capability */
    AT_RULE_MAJOR,      /* on a GPU of the same major compute capability */
    AT_RULE_DEFAULT,    /* not measured: the pattern's default */
    AT_RULE_OTHER       /* on another GPU, and the default is impossible */
} at_rule;

typedef enum at_kind { AT_KIND_INTEGER, AT_KIND_NUMBER, AT_KIND_BOOLEAN, AT_KIND_TEXT } at_kind;

/* A named value: a variable of a problem, a parameter of a configuration. */
typedef struct at_variable {
    const char *name;
    at_kind kind;
    int64_t integer;  /* AT_KIND_INTEGER; AT_KIND_BOOLEAN: 0 or 1 */
    double number;    /* AT_KIND_NUMBER */
    const char *text; /* AT_KIND_TEXT */
} at_variable;

typedef struct at_gpu {
    char name[256];   /* as cuDeviceGetName() says */
    int major, minor; /* compute capability */
} at_gpu;

typedef struct at_results at_results; /* a folder of records: at_open(), at_close() */
typedef struct at_choice
    at_choice; /* a configuration picked from them: at_pick(), at_choice_free() */
typedef struct at_kernel at_kernel; /* a kernel ready to launch: at_prepare(), at_kernel_free() */

/* The library's version, "0.1.0". */
AT_API const char *at_version(void);

/* "ok", "usage" ...; "exact", "portfolio", "nearest_problem", "same_capability",
 * "same_major", "default", "other_gpu". */
AT_API const char *at_status_name(at_status status);
AT_API const char *at_rule_name(at_rule rule);

/* ---- results ---- */

/* Opens the records under `folder`. NULL: those under $AUTOTUNE_RESULTS, ./results and the folder
 * installed with autotune that exist; of equal entries the first counts. AT_NOT_FOUND without such
 * a folder. The records of a pattern are read when it is picked first, and again only when a
 * tuning of these results has ended (at_tune()). Choices may outlive the results. A damaged entry
 * is left out, as is a file that is damaged, of a newer version or unreadable: at_results_problem()
 * names it. */
AT_API at_status at_open(const char *folder, at_results **out, at_error *error);

/* "FILE:LINE: what could not be read, and the remedy", for each file or entry that is left out;
 * NULL past the last. Reads all records, when it is called first. It lives as long as the results.
 */
AT_API const char *at_results_problem(const at_results *results, size_t index);
AT_API void at_close(at_results *results);

/* The GPU of the calling thread's current CUDA context. AT_NO_DEVICE without a driver or
 * context. */
AT_API at_status at_current_gpu(at_gpu *out, at_error *error);

/* ---- picking ---- */

/* Picks a configuration of `pattern` for the problem and `gpu` (NULL: at_current_gpu()). Name every
 * variable of the problem: a missing one counts as different. A name that the pattern's problem
 * does not have is AT_USAGE, with the nearest one, as is a value of another kind, or one that the
 * script refuses. If the pattern's script is found, a configuration that its constraints forbid for
 * this problem and GPU is never picked (at_choice_checked()); for a `gpu` that is named they use
 * the limits of its compute capability. AT_NOT_FOUND when the pattern has no records, or no
 * configuration of it is possible, not even the default. The first pick of a pattern reads its
 * records, and its script for each GPU, which takes milliseconds; a later one takes microseconds.
 * What changes on disk after that is not seen: open the results again. Threads that pick of one
 * pattern wait for each other. */
AT_API at_status at_pick(const at_results *results, const char *pattern, const at_gpu *gpu,
                         const at_variable *problem, size_t problem_count, at_choice **out,
                         at_error *error);
AT_API void at_choice_free(at_choice *choice);

AT_API at_rule at_choice_rule(const at_choice *choice);

/* 1 when the pattern's constraints allow the configuration; 0 when that is not known, because its
 * script was not found. */
AT_API int at_choice_checked(const at_choice *choice);

/* The GPU on which it was measured, and the median time of a launch there; "" and 0 for the
 * default. */
AT_API const char *at_choice_gpu(const at_choice *choice);
AT_API int64_t at_choice_time_ns(const at_choice *choice);

/* "tile=64,vec=4,...", as autotune --config takes it. */
AT_API const char *at_choice_text(const at_choice *choice);

/* Parameter `index` < at_choice_count(). */
AT_API size_t at_choice_count(const at_choice *choice);
AT_API at_variable at_choice_at(const at_choice *choice, size_t index);

/* The parameter called `name`. AT_NOT_FOUND names the nearest. */
AT_API at_status at_choice_get(const at_choice *choice, const char *name, at_variable *out,
                               at_error *error);

/* ---- tuning on first use ----
 *
 * What at_pick() has not measured for a problem is tuned beside the program:
 *
 *     at_tune(results, "transpose", problem, 3, NULL, &error);
 *     at_pick(results, "transpose", NULL, problem, 3, &choice, &error);
 *
 * The first call for a pattern, problem and GPU starts the program `autotune` for it; the others do
 * nothing, so that it may stand before each pick. Until its result is there the pick serves as
 * before; what is running is changed by nothing but the next at_pick(), which has the result.
 *
 * The tuner is a process of its own, of the lowest priority, that uses at most its share of the
 * GPU and its budget of time, and memory of the GPU for the problem's data. It writes into the
 * folder that at_open() was given (NULL: $AUTOTUNE_RESULTS, else ./results). What another process
 * tunes into the same folder is waited for, not tuned again. It is no child of the program, and
 * ends with it or with at_close(); what it had measured is kept for the next time. */

typedef enum at_tune_state {
    AT_TUNE_NONE,    /* at_tune() was not called */
    AT_TUNE_RUNNING, /* in a process */
    AT_TUNE_WAITING, /* for a process of another program that tunes the same */
    AT_TUNE_DONE,    /* the next pick has it */
    AT_TUNE_FAILED   /* and is not tried again by these results */
} at_tune_state;

typedef struct at_tune_options {
    /* For all of it, from 1; 0: 60. A proof that does not end within it is not waited for, and the
     * record says so. At half as much again and half a minute its process is ended. */
    double budget_s;
    double share;        /* of the GPU's time that it may use; 0: 0.1 */
    const char *script;  /* path of the pattern script; NULL: the installed one of the name */
    const char *program; /* path of autotune; NULL: $AUTOTUNE_PROGRAM, beside the library, PATH */
} at_tune_options;

/* Sees to it that the problem is tuned on the current context's GPU; never waits. `options` may be
 * NULL. Here an at_results may be used by several threads at once. AT_NO_DEVICE without a context;
 * AT_USAGE; AT_NOT_FOUND where there is no program, AT_IO where it cannot be started: said once,
 * later calls are AT_OK. */
AT_API at_status at_tune(const at_results *results, const char *pattern, const at_variable *problem,
                         size_t problem_count, const at_tune_options *options, at_error *error);

/* What has become of it, after at most `wait_ns` (0: at once) of waiting for its end. The call
 * succeeds also for AT_TUNE_FAILED, for which `error` says why. */
AT_API at_status at_tune_wait(const at_results *results, const char *pattern,
                              const at_variable *problem, size_t problem_count, int64_t wait_ns,
                              at_tune_state *out, at_error *error);

/* ---- kernels ---- */

typedef struct at_kernel_options {
    const char *script; /* path of the pattern script; NULL: the installed one of the name */
    const char *share;  /* folder of lua/ and templates/; NULL: as installed */
    const char *cache;  /* folder of the compile cache; NULL: $XDG_CACHE_HOME/autotune */
    int no_cache;       /* compile anew, write nothing */
    const char *const *includes; /* folders in which a source's headers are looked for, too */
    size_t include_count;        /* 16 at most */
} at_kernel_options;

/* Emits the chosen variant for the problem that was picked for, compiles it for the current
 * context's GPU (NVRTC is opened only when the cache has nothing) and loads it into that context.
 *
 * A configuration that was recorded for another problem may be impossible for this one. Then the
 * next best that is possible is taken, finally the default: at_kernel_rule() and at_kernel_text()
 * say which. AT_NOT_FOUND when none is possible. Buffers of tensor maps must be
 * aligned to 16 bytes, those of textures as the driver says. AT_SCRIPT, AT_COMPILE,
 * AT_NO_TOOLCHAIN, AT_NO_DEVICE, AT_DEVICE. It takes as long as NVRTC does where the cache has
 * nothing: seconds, perhaps. The kernel borrows from `choice`, which is freed after it; at_close()
 * may come before. */
AT_API at_status at_prepare(const at_choice *choice, const at_kernel_options *options,
                            at_kernel **out, at_error *error);

/* Unloads it. The context into which it was loaded must still exist and be current. */
AT_API void at_kernel_free(at_kernel *kernel);

AT_API at_rule at_kernel_rule(const at_kernel *kernel);
AT_API const char *at_kernel_text(const at_kernel *kernel);
AT_API const char *at_kernel_source(const at_kernel *kernel); /* CUDA C++ */

/* Buffer `index` < at_kernel_buffer_count() of a launch: its name in the script, and its size in
 * bytes. */
AT_API size_t at_kernel_buffer_count(const at_kernel *kernel);
AT_API const char *at_kernel_buffer_name(const at_kernel *kernel, size_t index);
AT_API uint64_t at_kernel_buffer_bytes(const at_kernel *kernel, size_t index);

/* Launches it in `stream` (a CUstream or cudaStream_t; NULL: the default stream) on device
 * addresses (CUdeviceptr, or what cudaMalloc() gave), one a buffer in their order, each of at least
 * at_kernel_buffer_bytes(). The context into which it was loaded must be current. It returns as
 * soon as it is queued. A pattern of several launches queues them in order. If the pattern fills
 * __constant__ data from a buffer, that is copied first, and launches of one at_kernel must then
 * not overlap. A stream may be captured: the graph has what would have been launched, and the
 * kernel must outlive it. Allocates nothing, takes no lock; but for a kernel that reads textures,
 * which has one for each address that it was launched on, until it is freed. AT_DEVICE with the
 * driver's message. */
AT_API at_status at_launch(const at_kernel *kernel, void *stream, const uint64_t *buffers,
                           at_error *error);

/* ---- sites ----
 *
 * A site is a place in a program where one of several configurations may be used: of a kernel of
 * its own, of a template, of a library's algorithm. It is tuned while the program works:
 *
 *     at_site_begin(site, stream, &values, &error);
 *     my_kernel<<<n / values.items[0].integer, values.items[0].integer, 0, stream>>>(...);
 *     at_site_end(site, stream, &values, &error);
 *
 * What lies between the two is timed, in a few calls, by events that nobody waits for, or by the
 * host's clock. The times of the candidates are compared in interleaved blocks; the slower ones are
 * dropped; once it is decided, begin and end cost some nanoseconds. Calls that are no trial use the
 * default (the first value of each parameter) until another is proven faster. Trials together take
 * longer than these would, timing included, by `share` of the time of the site's calls at most;
 * only the first launch of a configuration, of which nothing is known, may exceed it, and then
 * there is none until the share has caught up.
 *
 * Only times are compared, never results: every configuration must compute what the others do, and
 * data may be changed in place. Launches that are captured into a graph use the present choice and
 * are not timed. Sites may be used by several threads and in several streams at once; a call's time
 * includes what other streams do to it. Begin and end of calls may overlap: `values` tells them
 * apart. Where one site's calls lie within another's, so does their time.
 *
 * Decisions are kept in a store, as records, for the GPU, the driver, the version of the program's
 * code and the problem. What is there for another of these is not used and not lost.
 * AUTOTUNE_SITES=off: defaults, and the store is not read; =use: what the store has, and defaults;
 * =tune: as above, and what a variable that is not set means. */

typedef struct at_sites at_sites; /* the sites of a program, and their store: at_sites_close() */
typedef struct at_site at_site;   /* belongs to its at_sites */

typedef enum at_site_clock {
    AT_SITE_CLOCK_AUTO,   /* events where there is a driver with a GPU, else the host's */
    AT_SITE_CLOCK_EVENTS, /* of the CUDA driver */
    AT_SITE_CLOCK_HOST    /* for code that has run when at_site_end() is called */
} at_site_clock;

/* Gives all ranks the `size_bytes` at `bytes` of rank 0, as MPI_Bcast; returns 0, or not where that
 * failed. */
typedef int at_site_broadcast(void *context, void *bytes, size_t size_bytes);

typedef struct at_sites_options {
    const char *folder; /* of the store; NULL: $XDG_CACHE_HOME/autotune/sites */
    const char *code;   /* version of the program's code, "2.1"; NULL: "" */
    double share;       /* of the time of a site's calls that tuning may cost; 0: 0.02 */
    at_site_clock clock;
    /* For a program with ranks. All call the same sites in the same order, and then have the same
     * values in every call: rank 0 decides and writes the store. NULL: each process for itself. */
    at_site_broadcast *broadcast;
    void *context; /* for it */
    int rank;
} at_sites_options;

/* One of the things that may be chosen: its values, the default first. A kind has one list. */
typedef struct at_parameter {
    const char *name; /* an identifier */
    at_kind kind;
    size_t count;
    const int64_t *integers;  /* AT_KIND_INTEGER, AT_KIND_BOOLEAN */
    const double *numbers;    /* AT_KIND_NUMBER */
    const char *const *texts; /* AT_KIND_TEXT */
} at_parameter;

/* What a call is to use: one value for each parameter, in their order. Lives as long as the site.
 */
typedef struct at_values {
    const at_variable *items;
    size_t count;
    uint64_t ticket;        /* of at_site_end() */
    uint32_t configuration; /* its number */
} at_values;

typedef enum at_site_state {
    AT_SITE_TUNING,
    AT_SITE_DECIDED,  /* by this program */
    AT_SITE_RECALLED, /* by an earlier one: from the store */
    AT_SITE_FROZEN,   /* at_site_freeze(), noise that hides the fastest, or no memory */
    AT_SITE_OFF       /* AUTOTUNE_SITES; or on a rank that is not 0 */
} at_site_state;

typedef struct at_site_report {
    at_site_state state;
    uint64_t calls, trials;    /* calls: while it was tuned */
    int64_t seen_ns, spent_ns; /* time of those calls; what tuning cost of it */
    at_values values;          /* the present choice */
} at_site_report;

/* Opens the store for the GPU of the calling thread's current context (or the host). `options` may
 * be NULL. A store that is damaged, or of another GPU, driver or code, is no error: tuning starts
 * anew. AT_NO_DEVICE where events are wanted and there is no driver or no current context, AT_USAGE
 * for AUTOTUNE_SITES and a share that are no such thing, AT_IO for a store without a folder. */
AT_API at_status at_sites_open(const at_sites_options *options, at_sites **out, at_error *error);

/* Writes what is decided and not written yet, and frees the sites. No call of theirs may be under
 * way, and contexts in which they were used must still exist.
 *
 * A fork of the process has its own sites to open: those that it got are AT_USAGE there until they
 * are decided, and at_sites_close() leaves them to the process that opened them. */
AT_API void at_sites_close(at_sites *sites);

/* What was not as it should be (an entry of the store that is of another driver, a file that cannot
 * be written), each once; NULL past the last. Lives as long as the sites. */
AT_API const char *at_sites_problem(const at_sites *sites, size_t index);

/* The site of that name for that problem, which is what the fastest configuration depends on
 * (sizes, a type). The same name and problem give the same site: so this may be called before every
 * launch, for a microsecond. Everything is copied. AT_USAGE for names that are no identifiers, a
 * parameter without values, more than 64 of either, and for a site that has other parameters or
 * values. (In another order they are the same; the first default stays.) */
AT_API at_status at_site_open(at_sites *sites, const char *name, const at_variable *variables,
                              size_t variable_count, const at_parameter *parameters,
                              size_t parameter_count, at_site **out, at_error *error);

/* Says which configurations can be used: `valid` returns 0 for those that cannot, and these are
 * never chosen. To be called before the site's first use; `valid` is called from at_site_begin() of
 * any thread until the site is decided, and calls nothing of that site. If the default is invalid,
 * the first that is valid takes its place. */
typedef int at_site_valid(void *context, const at_variable *values, size_t count);
AT_API at_status at_site_restrict(at_site *site, at_site_valid *valid, void *context,
                                  at_error *error);

/* Gives the values to use this time, and AT_NOT_FOUND where none is valid. `stream` is a CUstream;
 * NULL: the default stream. After AT_OK at_site_end() or at_site_invalid() follows with the same
 * values, once; after an error there is nothing to end. */
AT_API at_status at_site_begin(at_site *site, void *stream, at_values *values, at_error *error);

/* Ends the call that began with `values`. AT_USAGE for values of another site, and where it is seen
 * that the call has ended already. */
AT_API at_status at_site_end(at_site *site, void *stream, const at_values *values, at_error *error);

/* Instead of at_site_end(): the values cannot be used, and are not given again. Begin anew. */
AT_API at_status at_site_invalid(at_site *site, const at_values *values, at_error *error);

/* No more trials: the present choice stays, and is not written unless it was decided. */
AT_API at_status at_site_freeze(at_site *site, at_error *error);

AT_API at_status at_site_get(at_site *site, at_site_report *out, at_error *error);

AT_INLINE at_parameter at_integers(const char *name, const int64_t *values, size_t count)
{
    at_parameter out = {NULL, AT_KIND_INTEGER, 0, NULL, NULL, NULL};
    out.name = name;
    out.count = count;
    out.integers = values;
    return out;
}

AT_INLINE at_parameter at_numbers(const char *name, const double *values, size_t count)
{
    at_parameter out = {NULL, AT_KIND_NUMBER, 0, NULL, NULL, NULL};
    out.name = name;
    out.count = count;
    out.numbers = values;
    return out;
}

AT_INLINE at_parameter at_texts(const char *name, const char *const *values, size_t count)
{
    at_parameter out = {NULL, AT_KIND_TEXT, 0, NULL, NULL, NULL};
    out.name = name;
    out.count = count;
    out.texts = values;
    return out;
}

/* ---- making variables ---- */

AT_INLINE at_variable at_integer(const char *name, int64_t v)
{
    at_variable out = {NULL, AT_KIND_INTEGER, 0, 0, NULL};
    out.name = name;
    out.integer = v;
    return out;
}

AT_INLINE at_variable at_number(const char *name, double v)
{
    at_variable out = {NULL, AT_KIND_NUMBER, 0, 0, NULL};
    out.name = name;
    out.number = v;
    return out;
}

AT_INLINE at_variable at_boolean(const char *name, int v)
{
    at_variable out = {NULL, AT_KIND_BOOLEAN, 0, 0, NULL};
    out.name = name;
    out.integer = v != 0;
    return out;
}

AT_INLINE at_variable at_text(const char *name, const char *v)
{
    at_variable out = {NULL, AT_KIND_TEXT, 0, 0, NULL};
    out.name = name;
    out.text = v;
    return out;
}

#ifdef __cplusplus
}
#endif

#endif
