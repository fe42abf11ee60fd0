/* Runs every subcommand in this process, under the sanitizers. tests/cli tests what users see. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/table.h"
#include "temporary.h"

enum { MOST_WORDS = 40, PRINTED_BYTES = 1 << 24 };

static struct {
    char folder[TEMPORARY_BYTES];
    char *printed; /* stdout of the last command */
    at_error error;
    int exit_code;
} last;

static int set_up(void **state)
{
    (void)state;
    temporary_make(last.folder);
    setenv("AUTOTUNE_SHARE", TEST_BINARY_DIR "/share/autotune", 1);
    setenv("XDG_STATE_HOME", last.folder, 1);
    setenv("AUTOTUNE_LIBCUDA", "/nowhere/libcuda.so", 1);
    return chdir(last.folder);
}

static int tear_down(void **state)
{
    (void)state;
    free(last.printed);
    last.printed = NULL;
    temporary_remove(last.folder);
    return 0;
}

/* Copies `line` to `text`, with the path of the source tree in place of "@". */
static void expand(const char *line, char *text, size_t text_bytes)
{
    size_t used = 0;
    for (; *line; line++)
        used += (size_t)snprintf(text + used, text_bytes - used, *line == '@' ? "%s" : "%.1s",
                                 *line == '@' ? TEST_SOURCE_DIR : line);
}

static at_status run(const char *line)
{
    char text[4096];
    char *words[MOST_WORDS], *rest = NULL;
    int count = 0;
    options o;
    expand(line, text, sizeof text);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count] = NULL;
    const command *c = commands_find(words[0]);
    assert_non_null(c);
    last.error = (at_error){0};
    last.exit_code = 0;
    fflush(stdout);
    const int own = dup(STDOUT_FILENO);
    assert_non_null(freopen("printed", "w", stdout));
    at_status status = options_parse(count, words, c, &o, &last.error);
    o.commands = commands_all(&o.command_count);
    if (!status)
        status = c->answer ? c->answer(&o, &last.exit_code, &last.error) : c->run(&o, &last.error);
    fflush(stdout);
    dup2(own, STDOUT_FILENO);
    close(own);
    free(last.printed);
    at_error error = {0};
    assert_ok(file_read("printed", PRINTED_BYTES, &last.printed, NULL, &error), error);
    return status;
}

static void says(const char *line, const char *fragment)
{
    if (run(line))
        fail_msg("%s: %s:%d: %s", line, last.error.file, last.error.line, last.error.message);
    if (!strstr(last.printed, fragment))
        fail_msg("%s: no '%s' in:\n%.4000s", line, fragment, last.printed);
}

static void refuses(const char *line, at_status status, const char *fragment)
{
    const at_status given = run(line);
    if (given != status || !strstr(last.error.message, fragment))
        fail_msg("%s: status %d: %s", line, (int)given, last.error.message);
}

TEST_IN(a_new_script_is_written_checked_and_shown, set_up, tear_down)
{
    says("new mine", "mine.lua");
    says("lint mine.lua", "");
    says("space mine.lua", "configurations");
    says("space mine.lua --json", "\"parameters\"");
    says("check mine.lua --budget 2 --set n=4096", "proven");
    says("emit mine.lua", "__global__");
    says("emit mine.lua --ptx", ".entry");
    says("inspect mine.lua", "regs");
    says("explain mine.lua", "sectors");
    says("spills mine.lua --arch sm_90", "");
    refuses("new mine", AT_USAGE, "mine.lua exists");
}

TEST_IN(a_simulated_device_runs_the_kernels_of_a_gpu, set_up, tear_down)
{
    says("tune vector_add --device sim:h100 --budget 3 --json", "\"best\"");
    says("sweep vector_add --over n=1024,2048 --device sim:h100 --budget 1", "2048");
    says("portfolio vector_add --over n=1024,4096 --device sim:h100 --budget 1", "");
}

TEST_IN(shipped_records_are_read_by_every_command, set_up, tear_down)
{
    says("results list --results @/results", "transpose");
    says("results show transpose --results @/results", "transpose");
    says("results validate --results @/results", "");
    says("pick transpose --results @/results --gpu H200 --json", "configuration");
    says("export vector_add --results @/results --format cuda -o kernels.cu", "");
    says("report transpose --results @/results -o page.html", "");
    says("importance @/results/nvidia-h200/landscapes/dot.json.gz", "");
    says("plot @/results/nvidia-h200/landscapes/dot.json.gz -o dot.svg", "");
    says("convert @/results/nvidia-h200/landscapes/dot.json.gz --format t4 -o dot.t4.json", "");
    says("replay @/results/nvidia-h200/landscapes/dot.json.gz --repeat 1 --budget 20", "");
    says("compare @/results/nvidia-h200/dot.json @/results/nvidia-h200/dot.json", "");
}

TEST_IN(what_describes_the_program_is_printed, set_up, tear_down)
{
    says("help tutorial", "autotune");
    says("completion bash", "autotune");
    says("completion fish", "autotune");
    says("completion zsh", "autotune");
    says("completion man", "autotune");
    says("devices", "sim");
    says("devices --json", "\"devices\"");
}

TEST_IN(mistakes_are_refused_with_the_wrong_word, set_up, tear_down)
{
    refuses("space", AT_USAGE, "SCRIPT");
    refuses("space transpose --nothing", AT_USAGE, "--nothing");
    refuses("space transpose --set rws=4", AT_USAGE, "rows");
    refuses("emit transpose --config tile=7", AT_USAGE, "tile");
    refuses("tune missing.lua", AT_USAGE, "missing.lua");
    refuses("mix vector_add", AT_USAGE, "--captured");
    refuses("apply missing.cu", AT_USAGE, "missing.cu");
    refuses("capture", AT_USAGE, "program");
    refuses("portfolio vector_add", AT_USAGE, "--over");
    refuses("ceilings copy --device sim:h100", AT_NO_DEVICE, "simulated");
    refuses("calibrate --device sim:h100", AT_NO_DEVICE, "simulated");
    refuses("profile vector_add", AT_NO_DEVICE, "GPU");
    refuses("verify transpose --results @/results --device sim:h100", AT_USAGE, "simulated");
    refuses("importance missing.json", AT_NOT_FOUND, "missing.json");
    refuses("export transpose --results @/results --format none", AT_USAGE, "format");
    refuses("tune transpose --device sim:nothing", AT_USAGE, "nothing");
    refuses("verify transpose --results @/results", AT_NO_DEVICE, "");
}
