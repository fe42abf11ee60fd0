/* A fake compiler and a fake device, in place of the pool (compile/compile.h) and the device worker
 * (bench/client.h). A test says in tables what happens to each variant, without processes and at
 * once.
 *
 * A test that links tables.c has them instead of the real ones. Variants are known by their number
 * in the pipeline's table of candidates. */
#ifndef AUTOTUNE_TEST_TABLES_H
#define AUTOTUNE_TEST_TABLES_H

#include "bench/client.h"
#include "compile/compile.h"
#include "journal/journal.h"
#include "run/setup/session.h"
#include "run/tune.h"
#include "run/variant/pipeline.h"
#include "temporary.h"

enum { TABLES_MOST = 1024 };

typedef struct tables {
    compile_outcome compiles[TABLES_MOST];
    unsigned codes[TABLES_MOST]; /* machine code; 0: the image's code is unknown */
    bool last_first;             /* results come in the opposite order */
    size_t workers;              /* compile workers; 0: two */
    const char *warning;         /* text of compile_warning() */
    outcome works[TABLES_MOST];
    int64_t time_ns[TABLES_MOST]; /* 0: 100 us, and a little more with each number */
    int64_t more_ns; /* by how much each of three samples is longer than the one before; 0: 1 ns */
    int64_t elsewhere_ns[TABLES_MOST]; /* times on GPUs other than cuda:0; 0: the same */
    outcome blocks_elsewhere;          /* of all blocks on GPUs other than cuda:0 */
    outcome ragged[TABLES_MOST];       /* of a variant that is held unchecked, or only checked */
    outcome rechecks[TABLES_MOST], blocks[TABLES_MOST];
    bool silent;           /* blocks are never answered */
    size_t samples;        /* samples of a try; 0: as many as asked for */
    size_t interrupt_at;   /* the try, counted from 1, that raises SIGINT; 0: none */
    bool slow;             /* the device gives one answer at a time, and none every other time */
    int restarts;          /* restarts of the device worker */
    const char *no_device; /* message with which opening fails; NULL: it does not */
    /* The call of a function of either, counted from 1, that fails, and its status; 0: none. */
    int fail_at;
    at_status failure;
    /* Counts of requests. */
    int calls;
    size_t compiled, tried, sampled_blocks, held, rechecked;
    size_t most_compiling;    /* at the same time */
    size_t sampled_elsewhere; /* blocks on GPUs other than cuda:0 */
    size_t unchecked;         /* held variants that must first be checked on ragged problems */
    size_t checked;           /* checked only on ragged problems; not counted in `tried` */
    size_t left;              /* tried variants that were left because they were too slow */
} tables;

extern tables the_tables;

/* Open a session of tests/fixtures/scale.lua, or of another script there, with both fakes. The
 * caller deinitialises *s with tables_close(). */
void tables_open(session *s);
void tables_open_with(session *s, const char *script);
void tables_close(session *s);

/* Opens a journal of the session's problem in a folder. */
journal *tables_journal(const session *s, const char *folder);

/* A whole run of a script of tests/fixtures, with its own folders for journals and records: the
 * state of a test with this set-up and teardown. */
typedef struct tables_run {
    char folder[TEMPORARY_BYTES], results[TEMPORARY_BYTES + 16], script[512];
    settings settings;
    tune *tune;
    at_error error;
} tables_run;

int tables_run_open(void **state, const char *name);
int tables_run_close(void **state);

/* Adds every configuration of the space and steps until all are finished. */
at_status tables_try_all(pipeline *p, const session *s, at_error *error);

#endif
