/* NVRTC reads a copy in another folder. Tests that the PTX names the files as the source does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "compile/log.h"

static void assert_restored(const char *folder, const char *format, const char *expected)
{
    static const source_header headers[] = {{.name = "./own.cuh", .text = ""},
                                            {.name = "sub/known.h", .text = ""}};
    char text[1024];
    snprintf(text, sizeof text, format, folder, folder);
    file_names_restore(text, folder, headers, sizeof headers / sizeof *headers);
    char whole[1024];
    snprintf(whole, sizeof whole, expected, folder);
    assert_string_equal(text, whole);
}

TEST(names_lose_the_folder_and_the_folders_own_files_keep_it)
{
    char folder[] = "/tmp/file_names_XXXXXX", known[64];
    assert_non_null(mkdtemp(folder));
    snprintf(known, sizeof known, "%s/known.h", folder);
    FILE *f = fopen(known, "w");
    assert_non_null(f);
    fclose(f);
    assert_restored(folder, "ret;\n\t.file 1 \"%s/own.cuh\"\n\t.file\t2 \"%s/part.tmpl\"",
                    "ret;\n\t.file 1 \"own.cuh\"\n\t.file\t2 \"part.tmpl\"");
    assert_restored(folder, "\t.file 1 \"%s/known.h\"\n\t.file 2 \"%s/sub/known.h\"\n",
                    "\t.file 1 \"%s/known.h\"\n\t.file 2 \"sub/known.h\"\n");
    assert_restored(folder,
                    "\t.file 1 \"%s/__nv_nvrtc_builtin_header.h\"\n\t.file 2 \"%s/own.cuh\"\n",
                    "\t.file 1 \"%s/__nv_nvrtc_builtin_header.h\"\n\t.file 2 \"own.cuh\"\n");
    assert_restored(folder, ".file 1 \"/elsewhere%s/own.cuh\"\n.file 3 \"own.cuh\n",
                    ".file 1 \"/elsewhere%s/own.cuh\"\n.file 3 \"own.cuh\n");
    unlink(known);
    rmdir(folder);
}

TEST(messages_get_the_folder_of_their_source)
{
    char *log =
        strdup("t.cu(3): error: x\n  at.t.cu(3)\nother.cu(3): error\nt.cu(no)\nt.cu(12): y");
    file_names_complete(&log, "./a/b/t.cu");
    assert_string_equal(log, "a/b/t.cu(3): error: x\n  at.t.cu(3)\nother.cu(3): error\nt.cu(no)\n"
                             "a/b/t.cu(12): y");
    file_names_complete(&log, "t.cu");
    free(log);
    log = NULL;
    file_names_complete(&log, "a/t.cu");
    assert_null(log);
}
