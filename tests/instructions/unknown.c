/* Lists the instructions of a CUDA source that the simulated device does not know. Usage: unknown
 * FILE.cu ARCHITECTURE (for example "90"). Writes "KERNEL<tab>PTX LINE" for each instruction. For
 * the file "-", writes "includes FOLDER" with the folder of the headers. The exit code is 2, after
 * NVRTC's log, if the source does not compile, and 77 without NVRTC. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "compile/nvrtc.h"
#include "ptx/module.h"
#include "sim/kernel.h"

enum { MOST_BYTES = 1 << 20 };

static void print_line(const char *ptx, int number)
{
    for (int i = 1; i < number && ptx; i++) {
        ptx = strchr(ptx, '\n');
        ptx = ptx ? ptx + 1 : NULL;
    }
    printf("%.*s\n", ptx ? (int)strcspn(ptx, "\n") : 0, ptx ? ptx : "");
}

/* Lists the unknown instructions of a kernel. Returns false and prints a message if the kernel
 * cannot be decoded. */
static bool print_unknown(const char *ptx, size_t bytes, const char *name)
{
    sim_kernel k = {0};
    at_error error = {0};
    if (sim_kernel_init(&k, ptx, bytes, "PTX", &name, 1, &error)) {
        printf("%s\t%s\n", name, error.message);
        return false;
    }
    for (size_t i = 0; i < k.programs[0]->code_count; i++) {
        const sim_instruction *c = &k.programs[0]->code[i];
        if (c->kind != SIM_UNKNOWN)
            continue;
        printf("%s\t", name);
        print_line(ptx, c->line);
    }
    sim_kernel_deinit(&k);
    return true;
}

static bool print_all(const char *ptx, size_t bytes)
{
    static const char entry[] = ".entry ";
    bool fine = true;
    for (const char *at = strstr(ptx, entry); at; at = strstr(at, entry)) {
        char name[256];
        at += sizeof entry - 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " (\n"), at);
        fine = print_unknown(ptx, bytes, name) && fine;
    }
    return fine;
}

int main(int count, char **arguments)
{
    nvrtc_library library = {0};
    nvrtc_output out;
    at_error error = {0};
    char architecture[64];
    char *source = NULL;
    if (count != 3 || nvrtc_library_open(&library, &error)) {
        fprintf(stderr, "%s\n", count != 3 ? "usage: unknown FILE.cu ARCHITECTURE" : error.message);
        return 77;
    }
    if (strcmp(arguments[1], "-") == 0) {
        printf("includes %s\n", library.include_dir);
        return 0;
    }
    if (file_read(arguments[1], MOST_BYTES, &source, NULL, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    snprintf(architecture, sizeof architecture, "--gpu-architecture=compute_%s", arguments[2]);
    const char *options[5] = {architecture, "-default-device", "-std=c++17"};
    size_t option_count = 3;
    for (size_t i = 0; i < library.include_option_count; i++)
        options[option_count++] = library.include_options[i];
    nvrtc_library_compile(&library, source, "functions.cu", "", NULL, 0, options, option_count, 1,
                          &out);
    int status = out.ptx ? 0 : 2;
    if (!out.ptx)
        printf("%s\n", out.log ? out.log : "no log");
    else if (!print_all(out.ptx, out.ptx_bytes))
        status = 1;
    nvrtc_output_deinit(&out);
    free(source);
    return status;
}
