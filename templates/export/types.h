/* A recorded configuration; of a portfolio (the range of problems that it serves) where
 * `portfolio` is not -1: it then has no problem and no time. */
typedef struct autotune_$_entry {
    const char *gpu;
    int major, minor; /* compute capability */
    int portfolio, place;
    autotune_$_problem problem;
    autotune_$_config config;
    int64_t time_ns; /* median of a launch */
} autotune_$_entry;

typedef struct autotune_$_choice {
    autotune_rule rule;
    autotune_$_config config;
    int entry; /* where it is from, for autotune_$_at(); -1 for the default */
} autotune_$_choice;
