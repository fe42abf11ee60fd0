/* A compiler and a device made of tables, in place of the pool (compile/compile.h) and the device
 * worker (bench/client.h): what a test says of each variant happens to it, in no process and at
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
    unsigned codes[TABLES_MOST]; /* machine code; 0: an image of which it is not known */
    bool last_first;             /* results come in the opposite order */
    size_t workers;              /* that compile; 0: two */
    const char *warning;         /* compile_warning() */
    outcome works[TABLES_MOST];
    int64_t time_ns[TABLES_MOST]; /* 0: 100 us and a little more with each number */
    int64_t more_ns; /* that each of three samples takes than the one before it; 0: 1 ns */
    int64_t left_ns; /* that the device spends on one that is left; 0: as on any other */
    int64_t elsewhere_ns[TABLES_MOST]; /* on any other GPU than cuda:0; 0: as there */
    outcome blocks_elsewhere;          /* of all blocks on any other GPU */
    outcome ragged[TABLES_MOST];       /* of a variant that is held unchecked, or checked alone */
    outcome rechecks[TABLES_MOST], blocks[TABLES_MOST];
    bool silent;           /* blocks are never answered */
    size_t samples;        /* that a try brings; 0: as many as asked for */
    size_t interrupt_at;   /* this try, counted from 1, finds SIGINT raised; 0: none */
    bool slow;             /* the device has one answer at a time, and every other time none */
    int restarts;          /* of the device worker, as its events tell */
    const char *no_device; /* opening it fails with these words */
    /* The call of either's functions, counted from 1, that fails, and how; 0: none. */
    int fail_at;
    at_status failure;
    /* What was asked. */
    int calls;
    size_t compiled, tried, sampled_blocks, held, rechecked;
    size_t most_compiling;    /* at a moment */
    size_t sampled_elsewhere; /* blocks, on any other GPU */
    size_t unchecked;         /* of those held: to be checked on ragged problems first */
    size_t checked;           /* on ragged problems alone; not among those tried */
    size_t left;              /* of those tried: for they were too slow */
} tables;

extern tables the_tables;

/* A session of tests/fixtures/scale.lua with both, or of another script there; *s is deinitialised
 * with tables_close(). */
void tables_open(session *s);
void tables_open_with(session *s, const char *script);
void tables_close(session *s);

/* Opens a journal of the session's problem in that folder. */
journal *tables_journal(const session *s, const char *folder);

/* A whole run of a script of tests/fixtures, with folders of its own for journals and records: the
 * set-up and teardown of a test whose state it is. */
typedef struct tables_run {
    char folder[TEMPORARY_BYTES], results[TEMPORARY_BYTES + 16], script[512];
    settings settings;
    tune *tune;
    at_error error;
} tables_run;

int tables_run_open(void **state, const char *name);
int tables_run_close(void **state);

/* Adds every configuration of the space and goes on until all are finished. */
at_status tables_try_all(pipeline *p, const session *s, at_error *error);

#endif
