/* Works out, when autotune is built, what a program would work out at its first pick of a pattern:
 * facts of the scripts in LUA_DIR (script/facts.h), beside them.
 *
 * usage: beforehand LUA_DIR TEMPLATE_DIR NAME... */
#include <stdio.h>
#include <string.h>

#include "base/derived.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "script/facts.h"

static bool list_sources(const script *s, stamped_files *out)
{
    const char *path;
    for (size_t i = 0; (path = script_source_path(s, i)); i++) {
        file_stamp stamp;
        if (!file_stamp_of(path, &stamp) || !stamped_files_add(out, path, &stamp))
            return false;
    }
    return true;
}

/* A script that only Lua can evaluate has no facts. The build's files do not change meanwhile. */
static at_status write_facts(const script_options *with, const char *path, at_error *error)
{
    script *s = NULL;
    char to[PATHS_BYTES];
    stamped_files files = {0};
    pack bytes = {0};
    XXH128_hash_t sum;
    at_status status = script_load(path, with, &s, error);
    if (!status)
        status = error_forgive(script_facts_put(s, &bytes, error), AT_NOT_FOUND, error);
    if (!status && bytes.size_bytes > 0 && list_sources(s, &files) &&
        derived_sum(with->lua_dir, &files, &sum) &&
        script_facts_path(with->lua_dir, path, to, sizeof to))
        derived_store(to, SCRIPT_FACTS_KIND, with->lua_dir, &files, sum, &bytes);
    script_free(s);
    stamped_files_deinit(&files);
    pack_deinit(&bytes);
    return status;
}

int main(int argc, char **argv)
{
    char path[PATHS_BYTES];
    at_error error = {0};
    if (argc < 3) {
        fputs("usage: beforehand LUA_DIR TEMPLATE_DIR NAME...\n", stderr);
        return 2;
    }
    script_options with = {.lua_dir = argv[1], .template_dir = argv[2], .without_templates = true};
    at_status status = arch_find("sm_90", &with.device, &error);
    snprintf(path, sizeof path, "%s/.facts", argv[1]);
    if (!status)
        status = file_make_folder(path, &error);
    for (int i = 3; i < argc && !status; i++) {
        snprintf(path, sizeof path, "%s/%s.lua", argv[1], argv[i]);
        status = write_facts(&with, path, &error);
    }
    if (status)
        fprintf(stderr, "beforehand: %s\n", error.message);
    return status ? 1 : 0;
}
