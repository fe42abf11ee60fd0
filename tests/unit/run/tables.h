/* A fake compiler and a fake device, in place of the pool (compile/compile.h) and the device
 * worker (bench/client.h). Tests that link tables.c use them. The results of each variant come
 * from tables, without processes. A variant's index in the tables is its number in the
 * pipeline's table of candidates. */
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
    unsigned codes[TABLES_MOST]; /* machine code of each variant, as a number; 0 if unknown */
    bool last_first;             /* results come in reverse order */
    size_t workers;              /* number of compile workers; 0 means two */
    const char *warning;         /* returned by compile_warning() */
    outcome works[TABLES_MOST];
    int64_t time_ns[TABLES_MOST]; /* 0 stands for 100 us plus a little for each number */
    int64_t more_ns;              /* time added from one sample to the next; 0 stands for 1 ns */
    int64_t elsewhere_ns[TABLES_MOST]; /* times on GPUs other than cuda:0; 0 stands for time_ns */
    outcome blocks_elsewhere;          /* outcome of all blocks on other GPUs */
    outcome ragged[TABLES_MOST]; /* outcome on the ragged problem, if it is checked separately */
    outcome rechecks[TABLES_MOST], blocks[TABLES_MOST];
    bool silent;           /* blocks get no answer */
    size_t samples;        /* samples of a try; 0 means as many as requested */
    size_t interrupt_at;   /* number of the try that raises SIGINT, from 1; 0 for no try */
    bool slow;             /* every second poll gives one answer, the others give no answer */
    int restarts;          /* number of restarts of the device worker */
    const char *no_device; /* opening the device fails with this message; NULL if it succeeds */
    /* The call to one of the fakes, counted from 1, that fails with `failure`; 0 for no call. */
    int fail_at;
    at_status failure;
    /* Counters. */
    int calls;
    size_t compiled, tried, sampled_blocks, held, rechecked;
    size_t most_compiling;    /* most requests compiled at the same time */
    size_t sampled_elsewhere; /* blocks on other GPUs */
    size_t unchecked;         /* held variants whose ragged check comes later */
    size_t checked;           /* checks on ragged problems alone; not counted in `tried` */
    size_t left;              /* tried variants that were abandoned as too slow */
} tables;

extern tables the_tables;

/* Open a session of tests/fixtures/scale.lua, or of another script of this folder, with the fake
 * compiler and device. The caller closes the session with tables_close(). */
void tables_open(session *s);
void tables_open_with(session *s, const char *script);
void tables_close(session *s);

/* Opens a journal for the session's problem in the folder. */
journal *tables_journal(const session *s, const char *folder);

/* A run of a script of tests/fixtures, with its own folders for journals and records. This is
 * the state of tests with the set-up tables_run_open() and tables_run_close(). */
typedef struct tables_run {
    char folder[TEMPORARY_BYTES], results[TEMPORARY_BYTES + 16], script[512];
    settings settings;
    tune *tune;
    at_error error;
} tables_run;

int tables_run_open(void **state, const char *name);
int tables_run_close(void **state);

/* Adds every configuration of the space. Steps the pipeline until all are finished. */
at_status tables_try_all(pipeline *p, const session *s, at_error *error);

#endif
