/* Builds and runs programs that include a script's exported header and print results. */
#ifndef AUTOTUNE_TESTS_HEADER_FIXTURE_H
#define AUTOTUNE_TESTS_HEADER_FIXTURE_H

#include <stdarg.h>

#include "base/file.h"
#include "cmd/export/exported.h"
#include "export_fixture.h"
#include "script_fixture.h"

enum { HEADER_TEXT_BYTES = 60 * 1024 };

static inline void append(char text[HEADER_TEXT_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends formatted text to the text of a script. */
static inline void append(char text[HEADER_TEXT_BYTES], const char *format, ...)
{
    size_t used = strlen(text), room = HEADER_TEXT_BYTES - used;
    va_list args;
    va_start(args, format);
    assert_true(vsnprintf(text + used, room, format, args) < (int)room);
    va_end(args);
}

/* Writes main.c, and the header of the script's pattern with this record. Fails the test unless
 * all constraints can be written in C. */
static inline void write_consumer(const script *s, const char *one_record, const char *main_c)
{
    record only;
    export_model m;
    at_error error = {0};
    assert_ok(record_parse(one_record, strlen(one_record), "r.json", NULL, &only, &error), error);
    const record_set records = {.count = 1, .records = &only}; /* the model borrows this set */
    assert_ok(exported_model("p", &records, s, &m, &error), error);
    for (size_t i = 0; i < m.constraint_count; i++)
        if (!m.constraints[i].c)
            fail_msg("not said in C: %s", m.constraints[i].text);
    const export_model *models[] = {&m};
    char *header = exported_text("header", models, 1, 0, NULL);
    fixture_write("p.h", header);
    fixture_write("main.c", main_c);
    free(header);
    export_model_deinit(&m);
    record_deinit(&only);
}

/* commands that compile a program as C and as C++ */
static const char *const consumer_compilers[] = {"cc -std=c11", "c++ -std=c++17 -x c++"};
enum { CONSUMER_COMPILERS = sizeof consumer_compilers / sizeof *consumer_compilers };

/* Compiles main.c with all warnings as errors, and runs the program. Returns its output. The
 * caller frees the output. */
static inline char *run_consumer(const char *compiler)
{
    char command[2048], *out;
    at_error error = {0};
    snprintf(command, sizeof command,
             "cd '%s' && %s -Wall -Wextra -Werror -pedantic -Wshadow -Wconversion main.c -o main "
             ">log 2>&1 && "
             "./main >out",
             fixture_dir, compiler);
    const int status = system(command);
    assert_ok(file_read(fixture_path(status ? "log" : "out"), 1 << 24, &out, NULL, &error), error);
    if (status)
        fail_msg("%s: %.3000s", compiler, out);
    return out;
}

#endif
