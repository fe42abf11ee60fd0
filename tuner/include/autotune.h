/* libautotune: uses the configurations that autotune recorded, from C or C++. A program opens a
 * folder of results, picks the configuration for its GPU and problem, and reads the values. Or the
 * library emits that kernel from its pattern script, compiles it (with a cache on disk) and
 * launches it in the caller's context and stream:
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
 * Errors: a function that can fail returns AT_OK or another status, and writes the error into its
 * last argument, which may be NULL. After a failure *out is NULL. A NULL argument where NULL is not
 * allowed is AT_USAGE. A function without a status returns 0, "" or AT_RULE_DEFAULT for a NULL
 * argument, and for an index that is too large.
 *
 * Ownership: each handle is freed by the function that is named at its type, which accepts NULL.
 * Arguments are copied. A returned text is valid as long as the handle that it came from. Threads
 * may share handles, but no other call may overlap with the freeing of a handle.
 *
 * The library prints nothing and keeps all state in handles. It does not change the environment,
 * the signals or the working folder of the process, nor the locale, rounding mode or floating-point
 * traps of the calling thread, and does not depend on these: numbers in texts have a point in every
 * locale. A calling thread needs 128 KiB of stack, and 1 MiB for at_prepare(), because of NVRTC. */
#ifndef AUTOTUNE_H
#define AUTOTUNE_H

#include <stddef.h>
#include <stdint.h>

/* A program that only reads declarations (cffi) may define this as nothing. */
#ifndef AT_API
#if defined(__GNUC__)
#define AT_API __attribute__((visibility("default")))
#else
#define AT_API
#endif
#endif

/* Also works before C99. */
#if defined(__GNUC__)
#define AT_INLINE static __inline__
#else
#define AT_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef AT_STATUS_DEFINED /* defined by autotune's own sources */
#define AT_STATUS_DEFINED
typedef enum at_status {
    AT_OK = 0,
    AT_USAGE,        /* the command line or an argument is wrong */
    AT_SCRIPT,       /* a pattern script, expression or template is wrong */
    AT_FORMAT,       /* a file is not valid JSON, PTX, journal ... */
    AT_IO,           /* a file, folder or socket could not be opened, read or written */
    AT_NO_MEMORY,    /* host memory is exhausted */
    AT_NO_DEVICE,    /* no usable GPU or driver */
    AT_NO_TOOLCHAIN, /* no usable NVRTC or CUDA Toolkit */
    AT_COMPILE,      /* NVRTC rejected a source */
    AT_DEVICE,       /* the device reported an error; the context may be lost */
    AT_WORKER,       /* a worker process died, hung or sent a malformed message */
    AT_INTERRUPTED,  /* the user asked to stop */
    AT_NOT_FOUND,    /* the requested thing does not exist */
    AT_INTERNAL      /* a bug in autotune */
} at_status;

typedef struct at_error {
    at_status status;
    int line;           /* line of the error in `file`, from 1; 0 if there is none */
    char file[512];     /* file with the error; "" if there is none */
    char message[3072]; /* one or more lines, no trailing newline */
} at_error;
#endif

/* how a configuration was found; the best way first */
typedef enum at_rule {
    AT_RULE_EXACT,      /* measured on this GPU and problem */
    AT_RULE_PORTFOLIO,  /* measured on this GPU, for a range of problems */
    AT_RULE_NEAREST,    /* measured on this GPU, for the nearest problem */
    AT_RULE_CAPABILITY, /* measured on a GPU of the same compute capability */
    AT_RULE_MAJOR,      /* measured on a GPU of the same major compute capability */
    AT_RULE_DEFAULT,    /* not measured: the pattern's default */
    AT_RULE_OTHER       /* measured on another GPU; the default is impossible */
} at_rule;

typedef enum at_kind { AT_KIND_INTEGER, AT_KIND_NUMBER, AT_KIND_BOOLEAN, AT_KIND_TEXT } at_kind;

/* a named value: a variable of a problem or a parameter of a configuration */
typedef struct at_variable {
    const char *name;
    at_kind kind;
    int64_t integer;  /* AT_KIND_INTEGER; AT_KIND_BOOLEAN: 0 or 1 */
    double number;    /* AT_KIND_NUMBER */
    const char *text; /* AT_KIND_TEXT */
} at_variable;

typedef struct at_gpu {
    char name[256];   /* as from cuDeviceGetName() */
    int major, minor; /* compute capability */
} at_gpu;

typedef struct at_results at_results; /* records: at_open(), at_close() */
typedef struct at_choice at_choice;   /* a picked configuration: at_pick(), at_choice_free() */
/* a kernel that is ready to launch: at_prepare(), at_kernel_free() */
typedef struct at_kernel at_kernel;

/* Returns the library's version, such as "0.1.0". */
AT_API const char *at_version(void);

/* Return a name: "ok", "usage" ...; "exact", "portfolio", "nearest_problem", "same_capability",
 * "same_major", "default", "other_gpu". */
AT_API const char *at_status_name(at_status status);
AT_API const char *at_rule_name(at_rule rule);

/* ---- results ---- */

/* Opens the records under `folder`. NULL means all of these that exist: $AUTOTUNE_RESULTS,
 * ./results and the folder installed with autotune; of equal entries, the first counts.
 * AT_NOT_FOUND if there is no such folder. The records of a pattern are read at its first pick, and
 * again only after a tuning of these results has ended (at_tune()). A damaged entry is skipped, as
 * is a file that is damaged, unreadable or of a newer version; at_results_problem() names it.
 * Choices may outlive the results. */
AT_API at_status at_open(const char *folder, at_results **out, at_error *error);

/* Returns "FILE:LINE: message", with the remedy, for skipped file or entry number `index`; NULL if
 * there are no more. The first call reads all records. The text is valid as long as the results. */
AT_API const char *at_results_problem(const at_results *results, size_t index);
AT_API void at_close(at_results *results);

/* Describes the GPU of the thread's current context. AT_NO_DEVICE without a driver or context. */
AT_API at_status at_current_gpu(at_gpu *out, at_error *error);

/* ---- picking ---- */

/* Picks a configuration of `pattern` for the problem and `gpu` (NULL: at_current_gpu()). Give every
 * variable of the problem: a missing one counts as different. AT_USAGE if a name is not a variable
 * of the pattern's problem (the message has the nearest one), a value is of another kind, or the
 * script refuses a value. AT_NOT_FOUND if the pattern has no records, or none of its configurations
 * is possible, not even the default.
 *
 * If the pattern's script is found, a configuration that its constraints forbid for this problem
 * and GPU is never picked (at_choice_checked()). For a given `gpu`, the constraints use the limits
 * of its compute capability. The first pick of a pattern reads its records, and its script for each
 * GPU; this takes milliseconds, a later pick microseconds. To see later changes on disk, open the
 * results again. Threads that pick of the same pattern wait for each other. */
AT_API at_status at_pick(const at_results *results, const char *pattern, const at_gpu *gpu,
                         const at_variable *problem, size_t problem_count, at_choice **out,
                         at_error *error);
AT_API void at_choice_free(at_choice *choice);

/* Returns how the configuration was found. */
AT_API at_rule at_choice_rule(const at_choice *choice);

/* Returns 1 if the pattern's constraints allow the configuration, or 0 if no script was found. */
AT_API int at_choice_checked(const at_choice *choice);

/* Return the measurement's GPU and the median time of a launch there; "" and 0 for the default. */
AT_API const char *at_choice_gpu(const at_choice *choice);
AT_API int64_t at_choice_time_ns(const at_choice *choice);

/* Returns "tile=64,vec=4,...", as for autotune --config. */
AT_API const char *at_choice_text(const at_choice *choice);

/* Returns parameter `index`, less than at_choice_count(). */
AT_API size_t at_choice_count(const at_choice *choice);
AT_API at_variable at_choice_at(const at_choice *choice, size_t index);

/* Finds a parameter by name. AT_NOT_FOUND has the nearest name. */
AT_API at_status at_choice_get(const at_choice *choice, const char *name, at_variable *out,
                               at_error *error);

/* ---- tuning on first use ----
 *
 * A problem that was not measured is tuned beside the program: at_tune() starts the program
 * `autotune`, and at_pick() uses the result once it exists. Until then, at_pick() works as before.
 * Running kernels and earlier choices do not change.
 *
 * The tuner is a process with the lowest priority, and no child of the program. It uses at most its
 * share of the GPU and its budget of time, and GPU memory for the problem's data. It writes into
 * the folder that at_open() was given (NULL: $AUTOTUNE_RESULTS, else ./results). If another process
 * tunes the same into the same folder, this one waits for its result. The tuner ends with the
 * program or with at_close(); its measurements are kept for the next time. */

typedef enum at_tune_state {
    AT_TUNE_NONE,    /* at_tune() was not called */
    AT_TUNE_RUNNING, /* the tuner is running */
    AT_TUNE_WAITING, /* another program tunes the same */
    AT_TUNE_DONE,    /* the next pick uses the result */
    AT_TUNE_FAILED   /* these results do not try it again */
} at_tune_state;

typedef struct at_tune_options {
    /* Time for the tuning, at least 1 s; 0 means 60 s. A proof that does not end in time is
     * dropped, and the record says so. After 1.5 times this and 30 s, the process is ended. */
    double budget_s;
    double share;        /* share of the GPU's time that it may use; 0 means 0.1 */
    const char *script;  /* path of the pattern script; NULL: the installed one */
    const char *program; /* path of autotune; NULL: $AUTOTUNE_PROGRAM, beside the library, PATH */
} at_tune_options;

/* Starts to tune the problem on the current context's GPU; never waits. Further calls for the same
 * pattern, problem and GPU do nothing, so at_tune() may be called before each pick. `options` may
 * be NULL. Several threads may use the same at_results. AT_NO_DEVICE without a context; AT_USAGE;
 * AT_NOT_FOUND without the program autotune, AT_IO if it cannot be started. The last two are
 * reported once; later calls return AT_OK. */
AT_API at_status at_tune(const at_results *results, const char *pattern, const at_variable *problem,
                         size_t problem_count, const at_tune_options *options, at_error *error);

/* Waits at most `wait_ns` (0: not at all) for the tuning to end, and gives its state. With
 * AT_TUNE_FAILED the call returns AT_OK, and `error` says why the tuning failed. */
AT_API at_status at_tune_wait(const at_results *results, const char *pattern,
                              const at_variable *problem, size_t problem_count, int64_t wait_ns,
                              at_tune_state *out, at_error *error);

/* ---- kernels ---- */

typedef struct at_kernel_options {
    const char *script;          /* path of the pattern script; NULL: the installed one */
    const char *share;           /* folder of lua/ and templates/; NULL: as installed */
    const char *cache;           /* folder of the compile cache; NULL: $XDG_CACHE_HOME/autotune */
    int no_cache;                /* neither read nor write the cache */
    const char *const *includes; /* further folders of headers */
    size_t include_count;        /* at most 16 */
} at_kernel_options;

/* Emits the chosen variant for the choice's problem, compiles it for the GPU of the current context
 * and loads it into that context. Without an entry in the cache, NVRTC is opened, which may take
 * seconds. A configuration that was recorded for another problem may be impossible for this one.
 * Then the next best possible one is taken, and finally the default; at_kernel_rule() and
 * at_kernel_text() say which. AT_NOT_FOUND if no configuration is possible.
 *
 * Buffers of tensor maps must be aligned to 16 bytes, buffers of textures as the driver requires.
 * The kernel borrows from `choice`, which must be freed later; at_close() may be called earlier.
 * AT_SCRIPT, AT_COMPILE, AT_NO_TOOLCHAIN, AT_NO_DEVICE, AT_DEVICE. */
AT_API at_status at_prepare(const at_choice *choice, const at_kernel_options *options,
                            at_kernel **out, at_error *error);

/* Unloads the kernel. Its context must still exist and be current. */
AT_API void at_kernel_free(at_kernel *kernel);

/* Return how the configuration was found, the configuration as text, and the source. */
AT_API at_rule at_kernel_rule(const at_kernel *kernel);
AT_API const char *at_kernel_text(const at_kernel *kernel);
AT_API const char *at_kernel_source(const at_kernel *kernel); /* CUDA C++ */

/* Return the number of buffers of a launch, and each one's name in the script and size in bytes. */
AT_API size_t at_kernel_buffer_count(const at_kernel *kernel);
AT_API const char *at_kernel_buffer_name(const at_kernel *kernel, size_t index);
AT_API uint64_t at_kernel_buffer_bytes(const at_kernel *kernel, size_t index);

/* Queues a launch in `stream` (a CUstream or cudaStream_t; NULL: the default stream) and returns at
 * once. `buffers` has one device address (CUdeviceptr, or from cudaMalloc()) for each buffer, in
 * their order, each with room for at_kernel_buffer_bytes(). The kernel's context must be current. A
 * pattern of several launches queues them in order. If the pattern fills __constant__ data from a
 * buffer, that is copied first, and launches of one at_kernel must not overlap. A stream may be
 * captured; the kernel must outlive the graph. The call allocates nothing and takes no lock, except
 * for a kernel that reads textures: it keeps one texture for each address until it is freed.
 * AT_DEVICE with the driver's message. */
AT_API at_status at_launch(const at_kernel *kernel, void *stream, const uint64_t *buffers,
                           at_error *error);

/* ---- tuning sites ----
 *
 * A tuning site is a place in a program where one of several configurations may be used: of a
 * kernel, of a template, of a library's algorithm. It is tuned while the program runs:
 *
 *     at_site_begin(site, stream, &values, &error);
 *     my_kernel<<<n / values.items[0].integer, values.items[0].integer, 0, stream>>>(...);
 *     at_site_end(site, stream, &values, &error);
 *
 * The time between begin and end is measured in a few calls, the trials: by events that nobody
 * waits for, or by the host's clock. The candidates are compared in interleaved blocks, and slower
 * ones are dropped. Once the site is decided, begin and end take some nanoseconds. Other calls use
 * the default (the first value of each parameter) until another configuration is proven faster.
 * With all trials and timing, the site's calls take longer by at most `share` of their time. Only
 * the first launch of a configuration, whose time is unknown, may exceed this; then no trial begins
 * until the share has caught up.
 *
 * Only times are compared, never results: all configurations must compute the same. Data may be
 * changed in place. Launches that are captured into a graph use the present choice and are not
 * timed. Several threads and streams may use a site at once; the time of a call includes the effect
 * of other streams. Begin and end of several calls may overlap: `values` identifies the call. If
 * calls of one site are inside calls of another site, their time counts for both.
 *
 * Decisions are stored as records for the GPU, the driver, the version of the program's code and
 * the problem. Decisions for other ones are kept, but not used. AUTOTUNE_SITES=off uses defaults
 * and does not read the store; =use uses the store and defaults, and does not tune; =tune, the
 * default, tunes. */

/* a program's sites and their store: at_sites_open(), at_sites_close() */
typedef struct at_sites at_sites;
typedef struct at_site at_site; /* freed with its at_sites */

typedef enum at_site_clock {
    AT_SITE_CLOCK_AUTO,   /* events if there is a driver with a GPU, else the host's clock */
    AT_SITE_CLOCK_EVENTS, /* events of the CUDA driver */
    AT_SITE_CLOCK_HOST    /* for code that has finished when at_site_end() is called */
} at_site_clock;

/* copies `size_bytes` at `bytes` from rank 0 to all ranks, as MPI_Bcast; returns 0 on success */
typedef int at_site_broadcast(void *context, void *bytes, size_t size_bytes);

typedef struct at_sites_options {
    const char *folder; /* folder of the store; NULL: $XDG_CACHE_HOME/autotune/sites */
    const char *code;   /* version of the program's code, "2.1"; NULL: "" */
    double share;       /* share of the time of a site's calls that tuning may cost; 0: 0.02 */
    at_site_clock clock;
    /* For a program with ranks; else NULL. All ranks must call the same sites in the same order.
     * They get the same values in every call; rank 0 decides and writes the store. */
    at_site_broadcast *broadcast;
    void *context; /* passed to `broadcast` */
    int rank;
} at_sites_options;

/* a parameter of a site: its values, the default first, in the list of its kind */
typedef struct at_parameter {
    const char *name; /* an identifier */
    at_kind kind;
    size_t count;
    const int64_t *integers;  /* AT_KIND_INTEGER, AT_KIND_BOOLEAN */
    const double *numbers;    /* AT_KIND_NUMBER */
    const char *const *texts; /* AT_KIND_TEXT */
} at_parameter;

/* the values that a call uses, one for each parameter, in order; valid as long as the site */
typedef struct at_values {
    const at_variable *items;
    size_t count;
    uint64_t ticket;        /* used by at_site_end() */
    uint32_t configuration; /* number of the configuration */
} at_values;

typedef enum at_site_state {
    AT_SITE_TUNING,
    AT_SITE_DECIDED,  /* this program decided it */
    AT_SITE_RECALLED, /* an earlier program decided it: from the store */
    AT_SITE_FROZEN,   /* undecided: at_site_freeze(), too much noise, or no memory */
    AT_SITE_OFF       /* AUTOTUNE_SITES=off, or a rank other than 0 */
} at_site_state;

typedef struct at_site_report {
    at_site_state state;
    uint64_t calls, trials;    /* calls: while it was tuned */
    int64_t seen_ns, spent_ns; /* time of these calls; the part that tuning cost */
    at_values values;          /* the present choice */
} at_site_report;

/* Opens the store for the GPU of the calling thread's current context, or for the host. `options`
 * may be NULL. If a store is damaged, or of another GPU, driver or code, tuning starts anew.
 * AT_NO_DEVICE if events are required without a driver or current context; AT_USAGE for an invalid
 * AUTOTUNE_SITES or share; AT_IO if there is no folder for the store. */
AT_API at_status at_sites_open(const at_sites_options *options, at_sites **out, at_error *error);

/* Writes all pending decisions, and frees the sites. No call of these sites may be in progress, and
 * the contexts in which they were used must still exist. A fork of the process must open its own
 * sites: inherited ones are AT_USAGE there until they are decided, and are not freed there. */
AT_API void at_sites_close(at_sites *sites);

/* Returns problem number `index`, such as an entry of the store for another driver or a file that
 * cannot be written. Each is listed once. NULL if there are no more. Valid as long as the sites. */
AT_API const char *at_sites_problem(const at_sites *sites, size_t index);

/* Finds or makes the site of this name for this problem. The problem is everything that the fastest
 * configuration depends on (sizes, a type). A known site is found within a microsecond, so this may
 * be called before every launch. Everything is copied. AT_USAGE for a name that is no identifier, a
 * parameter without values, more than 64 variables or parameters, and a known site with other
 * parameters or values. (The order of values does not matter; the first default stays.) */
AT_API at_status at_site_open(at_sites *sites, const char *name, const at_variable *variables,
                              size_t variable_count, const at_parameter *parameters,
                              size_t parameter_count, at_site **out, at_error *error);

/* Restricts the configurations of a site, before its first use: those for which `valid` returns 0
 * are never used. at_site_begin() of any thread calls `valid` until the site is decided; `valid`
 * must not call functions of that site. If the default is invalid, the first valid one is used. */
typedef int at_site_valid(void *context, const at_variable *values, size_t count);
AT_API at_status at_site_restrict(at_site *site, at_site_valid *valid, void *context,
                                  at_error *error);

/* Begins a call, and gives the values to use. `stream` is a CUstream; NULL: the default stream.
 * After AT_OK, call at_site_end() or at_site_invalid() once with the same values; after an error,
 * neither. AT_NOT_FOUND if no configuration is valid. */
AT_API at_status at_site_begin(at_site *site, void *stream, at_values *values, at_error *error);

/* Ends the call of `values`. AT_USAGE if the call is of another site or known to have ended. */
AT_API at_status at_site_end(at_site *site, void *stream, const at_values *values, at_error *error);

/* Replaces at_site_end() if the values are unusable. They are not given again; begin a new call. */
AT_API at_status at_site_invalid(at_site *site, const at_values *values, at_error *error);

/* Ends tuning: the present choice stays. It is stored only if it was decided. */
AT_API at_status at_site_freeze(at_site *site, at_error *error);

/* Reports the state of a site and its present choice. AT_NOT_FOUND if no configuration is valid. */
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
