/* libautotune: uses the configurations that autotune recorded, from C or C++. A program opens a
 * folder of results, picks the configuration for its GPU and problem, and reads the values. The
 * library can also emit the kernel of this configuration from the pattern script, compile it (with
 * a cache on disk) and launch it in the caller's context and stream:
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
 * last argument, which may be NULL. After a failure *out is NULL. A function returns AT_USAGE for a
 * NULL argument where NULL is not allowed. A function without a status then returns 0, "" or
 * AT_RULE_DEFAULT, also for an index that is too large.
 *
 * Ownership: the comment at each handle's type names the function that frees the handle; it accepts
 * NULL. Arguments are copied. A returned text is valid as long as the handle that it came from.
 * Threads may share handles, but no other call may overlap with the freeing of a handle.
 *
 * The library prints nothing and keeps all state in handles. It does not change the environment,
 * the signals or the working folder of the process. It neither changes nor depends on the locale,
 * rounding mode and floating-point traps of the calling thread: numbers in texts have a decimal
 * point in every locale. A calling thread needs 128 KiB of stack, and 1 MiB for at_prepare(). */
#ifndef AUTOTUNE_H
#define AUTOTUNE_H

#include <stddef.h>
#include <stdint.h>

/* A program that only reads the declarations (cffi) may define AT_API as nothing. */
#ifndef AT_API
#if defined(__GNUC__)
#define AT_API __attribute__((visibility("default")))
#else
#define AT_API
#endif
#endif

/* Works also in C before C99. */
#if defined(__GNUC__)
#define AT_INLINE static __inline__
#else
#define AT_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef AT_STATUS_DEFINED /* autotune's own sources define it */
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

/* how a configuration was found, from the best way to the worst */
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

typedef struct at_results at_results; /* records; freed by at_close() */
typedef struct at_choice at_choice;   /* a picked configuration; freed by at_choice_free() */
/* a kernel that is ready to launch; freed by at_kernel_free() */
typedef struct at_kernel at_kernel;

/* Returns the library's version, such as "0.1.0". */
AT_API const char *at_version(void);

/* Return a name: "ok", "usage" ...; "exact", "portfolio", "nearest_problem", "same_capability",
 * "same_major", "default", "other_gpu". */
AT_API const char *at_status_name(at_status status);
AT_API const char *at_rule_name(at_rule rule);

/* ---- results ---- */

/* Opens the records under `folder`. NULL means all of these folders that exist: $AUTOTUNE_RESULTS,
 * ./results and the folder installed with autotune. If folders have equal entries, the first entry
 * is used. AT_NOT_FOUND if no folder exists. The library reads the records of a pattern at the
 * pattern's first pick, and again only after a tuning for these results has ended (at_tune()). It
 * skips damaged entries, and files that are damaged, unreadable or of a newer version;
 * at_results_problem() lists them. Choices may outlive the results. */
AT_API at_status at_open(const char *folder, at_results **out, at_error *error);

/* Returns "FILE:LINE: message", with the remedy, for the skipped file or entry number `index`; NULL
 * after the last. The first call reads all records. The text is valid as long as the results. */
AT_API const char *at_results_problem(const at_results *results, size_t index);
AT_API void at_close(at_results *results);

/* Describes the GPU of the thread's current context. AT_NO_DEVICE without driver or context. */
AT_API at_status at_current_gpu(at_gpu *out, at_error *error);

/* ---- picking ---- */

/* Picks a configuration of `pattern` for the problem and `gpu` (NULL for at_current_gpu()). Pass
 * every variable of the problem: without one of them, the problem equals no recorded problem.
 * AT_USAGE if the pattern has no variable of a given name (the message has the nearest name), a
 * value is of another kind, or the script rejects a value. AT_NOT_FOUND if the pattern has no
 * records, or if all its configurations are impossible, even the default.
 *
 * If the pattern's script is found, at_pick() never picks a configuration that the script's
 * constraints forbid for this problem and GPU (at_choice_checked()). If `gpu` is not NULL, the
 * constraints use the limits of its compute capability. The first pick of a pattern takes
 * milliseconds, because it reads the records and, for each GPU, the script. A later pick takes
 * microseconds and does not see changes on disk; to see them, open the results again. Threads that
 * pick from the same pattern wait for each other. */
AT_API at_status at_pick(const at_results *results, const char *pattern, const at_gpu *gpu,
                         const at_variable *problem, size_t problem_count, at_choice **out,
                         at_error *error);
AT_API void at_choice_free(at_choice *choice);

/* Returns how the configuration was found. */
AT_API at_rule at_choice_rule(const at_choice *choice);

/* Returns 1 if the constraints of the script allow the configuration, 0 if no script was found. */
AT_API int at_choice_checked(const at_choice *choice);

/* Return the GPU on which the configuration was measured, and the median time of a launch on that
 * GPU, in ns; "" and 0 for the default. */
AT_API const char *at_choice_gpu(const at_choice *choice);
AT_API int64_t at_choice_time_ns(const at_choice *choice);

/* Returns "tile=64,vec=4,...", as for autotune --config. */
AT_API const char *at_choice_text(const at_choice *choice);

/* Return the number of parameters, and parameter `index`, which is less than this number. */
AT_API size_t at_choice_count(const at_choice *choice);
AT_API at_variable at_choice_at(const at_choice *choice, size_t index);

/* Finds a parameter by name. For AT_NOT_FOUND the message has the nearest name. */
AT_API at_status at_choice_get(const at_choice *choice, const char *name, at_variable *out,
                               at_error *error);

/* ---- tuning on first use ----
 *
 * A problem that was not measured can be tuned while the program runs: at_tune() starts the tuner,
 * the program `autotune`, and at_pick() uses its result once it exists. Until then, at_pick() works
 * as before. Running kernels and earlier choices do not change.
 *
 * The tuner is a process with the lowest priority, and not a child of the program. It uses at most
 * its share of the GPU and its budget of time, and GPU memory for the problem's data. It writes its
 * record into the folder that was given to at_open() (if NULL, $AUTOTUNE_RESULTS or, if that is not
 * set, ./results). If another tuner works on the same problem for the same folder, at_tune() uses
 * that tuner's result. The tuner ends with the program or with at_close(); the next tuner of this
 * problem continues from its measurements. */

typedef enum at_tune_state {
    AT_TUNE_NONE,    /* at_tune() was not called */
    AT_TUNE_RUNNING, /* the tuner is running */
    AT_TUNE_WAITING, /* the tuner of another program tunes this problem */
    AT_TUNE_DONE,    /* the next pick uses the result */
    AT_TUNE_FAILED   /* at_tune() does not try again for these results */
} at_tune_state;

typedef struct at_tune_options {
    /* Time for the tuning, at least 1 s; 0 means 60 s. If a proof does not end in time, the
     * winner is recorded without it, and the record says so. At 1.5 * budget_s + 30 s the tuner
     * is killed. */
    double budget_s;
    double share;       /* share of the GPU's time that the tuner may use; 0 means 0.1 */
    const char *script; /* path of the pattern script; NULL for the installed one */
    /* path of autotune; if NULL, $AUTOTUNE_PROGRAM, the library's folder and $PATH are tried */
    const char *program;
} at_tune_options;

/* Starts to tune the problem on the current context's GPU; never waits. Further calls for the same
 * pattern, problem and GPU do nothing, so at_tune() may be called before each pick. `options` may
 * be NULL. Several threads may use the same at_results. AT_NO_DEVICE without a context; AT_USAGE;
 * AT_NOT_FOUND if the program autotune is not found, AT_IO if it cannot be started. Only the first
 * call returns AT_NOT_FOUND or AT_IO; later calls return AT_OK. */
AT_API at_status at_tune(const at_results *results, const char *pattern, const at_variable *problem,
                         size_t problem_count, const at_tune_options *options, at_error *error);

/* Waits at most `wait_ns` (0 does not wait) for the tuning to end, and writes its state. If the
 * state is AT_TUNE_FAILED, the function returns AT_OK, and `error` says why the tuning failed. */
AT_API at_status at_tune_wait(const at_results *results, const char *pattern,
                              const at_variable *problem, size_t problem_count, int64_t wait_ns,
                              at_tune_state *out, at_error *error);

/* ---- kernels ---- */

typedef struct at_kernel_options {
    const char *script; /* path of the pattern script; NULL for the installed one */
    const char *share;  /* folder of lua/ and templates/; NULL for the installed one */
    const char *cache;  /* folder of the compile cache; NULL for $XDG_CACHE_HOME/autotune */
    int no_cache;       /* 1 neither reads nor writes the cache */
    const char *const *includes; /* further folders of headers, as with -I */
    size_t include_count;        /* at most 16 */
} at_kernel_options;

/* Emits the kernel of the choice's configuration and problem, compiles it for the GPU of the
 * current context and loads it into that context. If the cache has no entry, NVRTC compiles it,
 * which may take seconds. A configuration that was recorded for another problem may be impossible
 * for this one. Then the library takes the next best possible configuration, and finally the
 * default; at_kernel_rule() and at_kernel_text() say which. AT_NOT_FOUND if no configuration is
 * possible.
 *
 * Buffers of tensor maps must be aligned to 16 bytes, buffers of textures as the driver requires.
 * The kernel borrows from `choice`: free the kernel first. The results may be closed before.
 * AT_SCRIPT, AT_COMPILE, AT_NO_TOOLCHAIN, AT_NO_DEVICE, AT_DEVICE. */
AT_API at_status at_prepare(const at_choice *choice, const at_kernel_options *options,
                            at_kernel **out, at_error *error);

/* Unloads the kernel. Its context must still exist and be current. */
AT_API void at_kernel_free(at_kernel *kernel);

/* Return how the configuration was found, the configuration as text, and the source. */
AT_API at_rule at_kernel_rule(const at_kernel *kernel);
AT_API const char *at_kernel_text(const at_kernel *kernel);
AT_API const char *at_kernel_source(const at_kernel *kernel); /* CUDA C++ */

/* Return the number of buffers, and each buffer's name in the script and size in bytes. */
AT_API size_t at_kernel_buffer_count(const at_kernel *kernel);
AT_API const char *at_kernel_buffer_name(const at_kernel *kernel, size_t index);
AT_API uint64_t at_kernel_buffer_bytes(const at_kernel *kernel, size_t index);

/* Queues a launch in `stream` (a CUstream or cudaStream_t; NULL for the default stream) and returns
 * at once. `buffers` has one device address (CUdeviceptr, or from cudaMalloc()) for each buffer, in
 * the order of at_kernel_buffer_name(), each with room for at_kernel_buffer_bytes(). The kernel's
 * context must be current. If the pattern has several launches, all are queued in order. If the
 * pattern fills __constant__ data from a buffer, a copy is queued before the launch; then launches
 * of one at_kernel must not overlap. The stream may be in capture; the kernel must outlive the
 * graph. The call allocates nothing and takes no lock, except for a kernel that reads textures: the
 * kernel keeps one texture for each address until it is freed. AT_DEVICE with the driver's message.
 */
AT_API at_status at_launch(const at_kernel *kernel, void *stream, const uint64_t *buffers,
                           at_error *error);

/* ---- tuning sites ----
 *
 * A tuning site is a place in a program where one of several configurations of a kernel, a template
 * or a library's algorithm may be used. The site is tuned while the program runs:
 *
 *     at_site_begin(site, stream, &values, &error);
 *     my_kernel<<<n / values.items[0].integer, values.items[0].integer, 0, stream>>>(...);
 *     at_site_end(site, stream, &values, &error);
 *
 * Each pair of begin and end is a call. Some calls are trials: each measures the time between begin
 * and end, by CUDA events without waiting, or by the host's clock. Trials compare the candidates in
 * interleaved blocks, and slower candidates are dropped. Other calls use the default (the first
 * value of each parameter) until another configuration is proven faster. Once the site is decided,
 * begin and end take some nanoseconds. Trials and timing make the site's calls longer by at most
 * `share` of their time. Only the first launch of a configuration, whose time is unknown, may
 * exceed this limit; then no trial begins until the total is below the limit again.
 *
 * Sites compare times, never results: all configurations must compute the same. A call may change
 * data in place, because no call is repeated. Launches that are captured into a graph use the
 * present choice and are not timed. Several threads and streams may use a site at once; the time of
 * a call includes the effect of other streams. Several calls may overlap: `values` identifies the
 * call. If calls of one site are inside calls of another site, their time counts for both.
 *
 * Decisions are stored in records for the GPU, the driver, the version of the program's code and
 * the problem. A program uses only decisions for its own GPU, driver and version. The environment
 * variable AUTOTUNE_SITES may be "off" (use defaults, do not read the store), "use" (use the store
 * and defaults, do not tune) or "tune", the default. */

/* the sites of a program and their store; freed by at_sites_close() */
typedef struct at_sites at_sites;
typedef struct at_site at_site; /* freed with its at_sites */

typedef enum at_site_clock {
    AT_SITE_CLOCK_AUTO,   /* events if there is a driver with a GPU, otherwise the host's clock */
    AT_SITE_CLOCK_EVENTS, /* events of the CUDA driver */
    AT_SITE_CLOCK_HOST    /* for code that has finished when at_site_end() is called */
} at_site_clock;

/* copies `size_bytes` at `bytes` from rank 0 to all ranks, like MPI_Bcast; returns 0 on success */
typedef int at_site_broadcast(void *context, void *bytes, size_t size_bytes);

typedef struct at_sites_options {
    const char *folder; /* folder of the store; NULL for $XDG_CACHE_HOME/autotune/sites */
    const char *code;   /* version of the program's code, such as "2.1"; NULL for "" */
    double share;       /* share of the time of a site's calls that tuning may cost; 0 for 0.02 */
    at_site_clock clock;
    /* NULL for a program without ranks. All ranks must call the same sites in the same order. Every
     * call gets the same values on all ranks; rank 0 decides and writes the store. */
    at_site_broadcast *broadcast;
    void *context; /* passed to `broadcast` */
    int rank;
} at_sites_options;

/* a parameter of a site; its values, the default first, are in the array for its kind */
typedef struct at_parameter {
    const char *name; /* an identifier */
    at_kind kind;
    size_t count;
    const int64_t *integers;  /* AT_KIND_INTEGER, AT_KIND_BOOLEAN */
    const double *numbers;    /* AT_KIND_NUMBER */
    const char *const *texts; /* AT_KIND_TEXT */
} at_parameter;

/* the values that a call uses, one for each parameter, in their order; valid as long as the site */
typedef struct at_values {
    const at_variable *items;
    size_t count;
    uint64_t ticket;        /* used by at_site_end() */
    uint32_t configuration; /* number of the configuration */
} at_values;

typedef enum at_site_state {
    AT_SITE_TUNING,
    AT_SITE_DECIDED,  /* decided by this program */
    AT_SITE_RECALLED, /* decided by an earlier program; read from the store */
    AT_SITE_FROZEN,   /* undecided because of at_site_freeze(), too much noise, or no memory */
    AT_SITE_OFF       /* AUTOTUNE_SITES=off, or a rank other than 0 */
} at_site_state;

typedef struct at_site_report {
    at_site_state state;
    uint64_t calls, trials;    /* calls while the site was tuned, and the trials among them */
    int64_t seen_ns, spent_ns; /* time of these calls, and the part that tuning cost */
    at_values values;          /* the present choice */
} at_site_report;

/* Opens the store for the GPU of the calling thread's current context, or for the host. `options`
 * may be NULL. If the store is damaged, or of another GPU, driver or code, tuning starts again.
 * AT_NO_DEVICE if events are required without a driver or current context; AT_USAGE for an invalid
 * AUTOTUNE_SITES or share; AT_IO if there is no folder for the store. */
AT_API at_status at_sites_open(const at_sites_options *options, at_sites **out, at_error *error);

/* Writes all pending decisions, and frees the sites. No call of these sites may be in progress, and
 * the contexts in which they were used must still exist. A forked process must open its own sites:
 * calls of an inherited, undecided site return AT_USAGE, and inherited sites are not freed. */
AT_API void at_sites_close(at_sites *sites);

/* Returns the message about problem number `index`, such as a stored entry of another driver or a
 * file that cannot be written; NULL after the last. The text is valid as long as the sites. */
AT_API const char *at_sites_problem(const at_sites *sites, size_t index);

/* Finds or makes the site of this name for this problem. The problem is everything that the fastest
 * configuration depends on (sizes, a type). A known site is found within a microsecond, so programs
 * may call this function before every launch. Arguments are copied. AT_USAGE for a name that is not
 * an identifier, a parameter without values, more than 64 variables or parameters, and a known site
 * with other parameters or values. If a known site gets its values in another order, its default
 * stays as it was. */
AT_API at_status at_site_open(at_sites *sites, const char *name, const at_variable *variables,
                              size_t variable_count, const at_parameter *parameters,
                              size_t parameter_count, at_site **out, at_error *error);

/* Restricts the configurations of a site, before its first use: a configuration for which `valid`
 * returns 0 is never used. at_site_begin() of any thread calls `valid` until the site is decided;
 * `valid` must not call functions of that site. If the default is invalid, the first valid
 * configuration is the default. */
typedef int at_site_valid(void *context, const at_variable *values, size_t count);
AT_API at_status at_site_restrict(at_site *site, at_site_valid *valid, void *context,
                                  at_error *error);

/* Begins a call, and writes the values to use. `stream` is a CUstream; NULL for the default stream.
 * After AT_OK, call at_site_end() or at_site_invalid() once with the same values; after an error,
 * call neither. AT_NOT_FOUND if no configuration is valid. */
AT_API at_status at_site_begin(at_site *site, void *stream, at_values *values, at_error *error);

/* Ends the call that got `values`. AT_USAGE if it is of another site or is known to have ended. */
AT_API at_status at_site_end(at_site *site, void *stream, const at_values *values, at_error *error);

/* Ends a call whose values turn out to be unusable, instead of at_site_end(). No later call gets
 * these values; begin a new call. */
AT_API at_status at_site_invalid(at_site *site, const at_values *values, at_error *error);

/* Ends a site's tuning: the present choice stays. An undecided site's choice is not stored. */
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
