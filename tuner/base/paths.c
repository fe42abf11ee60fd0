#include "base/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool is_there(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && !is_file(path);
}

static const char *kind_of(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return errno == ELOOP ? "a link to itself" : "a broken link";
    return S_ISDIR(s.st_mode) ? "a folder; name the file in it" : "a pipe, socket or device";
}

static at_status set_dirs(paths *out, const char *share, at_error *error)
{
    snprintf(out->lua_dir, sizeof out->lua_dir, "%s/lua", share);
    snprintf(out->template_dir, sizeof out->template_dir, "%s/templates", share);
    char probe[PATHS_BYTES + 24];
    snprintf(probe, sizeof probe, "%s/lib/autotune.lua", out->lua_dir);
    if (is_file(probe))
        return AT_OK;
    return error_set(error, AT_NOT_FOUND,
                     "autotune's own Lua files are not at %s: reinstall, or set AUTOTUNE_SHARE to "
                     "the folder that holds lua/ and templates/",
                     out->lua_dir);
}

at_status paths_find(paths *out, at_error *error)
{
    const char *given = getenv("AUTOTUNE_SHARE");
    if (given && *given)
        return set_dirs(out, given, error);
    char self[PATHS_BYTES - 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return error_set(error, AT_NOT_FOUND,
                         "cannot tell where the autotune binary lies: set AUTOTUNE_SHARE");
    self[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash)
            *slash = '\0';
    }
    char share[PATHS_BYTES - 32];
    snprintf(share, sizeof share, "%s/share/autotune", self);
    return set_dirs(out, share, error);
}

bool paths_shared_file(const paths *p, const char *name, char *out, size_t out_bytes)
{
    const char *slash = strrchr(p->lua_dir, '/');
    int n = slash ? snprintf(out, out_bytes, "%.*s/%s", (int)(slash - p->lua_dir), p->lua_dir, name)
                  : -1;
    return n > 0 && (size_t)n < out_bytes;
}

enum { MOST_SCRIPTS = 256 };

static size_t list_scripts(const char *dir, char names[][64], size_t count)
{
    DIR *d = opendir(dir);
    if (!d)
        return count;
    for (struct dirent *e; count < MOST_SCRIPTS && (e = readdir(d));) {
        const char *dot = strrchr(e->d_name, '.');
        char path[PATHS_BYTES];
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (dot && (strcmp(dot, ".lua") == 0 || strcmp(dot, ".cu") == 0) &&
            strlen(e->d_name) < 64 && is_file(path))
            snprintf(names[count++], 64, "%s", e->d_name);
    }
    closedir(d);
    return count;
}

/* Rejects a template, and names the script that probably uses it: NAME.lua in the same folder. */
static at_status refuse_template(const char *path, at_error *error)
{
    char script[PATHS_BYTES];
    const char *slash = strrchr(path, '/');
    const size_t stem = (size_t)(slash ? slash + 1 - path : 0);
    snprintf(script, sizeof script, "%.*s.lua", (int)(stem + strcspn(path + stem, ".")), path);
    return error_set(error, AT_USAGE, "%s is a template: name the script that uses it%s%s%s", path,
                     is_file(script) ? " (" : "", is_file(script) ? script : "",
                     is_file(script) ? ")" : "");
}

at_status paths_find_script(const paths *p, const char *name, char *out, size_t out_bytes,
                            at_error *error)
{
    bool bare = strchr(name, '/') == NULL;
    /* NAME alone comes last, because it often is the program that was compiled from NAME.cu. */
    static const char *const extensions[] = {".lua", ".cu", ""};
    const char *const dirs[] = {"", p->lua_dir};
    for (size_t d = 0; d < (bare ? 2 : 1); d++) {
        for (size_t e = 0; e < sizeof extensions / sizeof *extensions; e++) {
            int n = snprintf(out, out_bytes, "%s%s%s%s", dirs[d], *dirs[d] ? "/" : "", name,
                             extensions[e]);
            if (n >= 0 && (size_t)n < out_bytes && is_file(out))
                return n > 5 && strcmp(out + n - 5, ".tmpl") == 0 ? refuse_template(out, error)
                                                                  : AT_OK;
        }
    }
    if (is_there(name))
        return error_set(error, AT_USAGE, "%s is not a file that can be read: %s", name,
                         kind_of(name));
    if (!bare) {
        char folder[PATHS_BYTES], near[NAME_MAX + 1];
        const int length = (int)(strrchr(name, '/') + 1 - name);
        snprintf(folder, sizeof folder, "%.*s", length, name);
        const bool meant = paths_nearest_file(folder, name + length, near);
        return error_set(error, AT_USAGE, "there is no script '%s'%s%s%s%s", name,
                         meant ? "; did you mean " : "", meant ? folder : "", near,
                         meant ? "?" : "");
    }
    char scripts[MOST_SCRIPTS][64];
    const char *names[MOST_SCRIPTS];
    size_t count = list_scripts(p->lua_dir, scripts, list_scripts(".", scripts, 0));
    for (size_t i = 0; i < count; i++) {
        names[i] = scripts[i];
        if (!strchr(name, '.'))
            scripts[i][strcspn(scripts[i], ".")] = '\0';
    }
    const char *nearest = nearest_name(name, names, count);
    return error_set(
        error, AT_USAGE,
        "there is no script '%s' in this folder nor among the installed ones (%s)%s%s%s", name,
        p->lua_dir, nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static int is_visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

bool paths_nearest_file(const char *folder, const char *name, char out[NAME_MAX + 1])
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    char path[PATHS_BYTES];
    struct dirent **found = NULL;
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)(last - name), name);
    const int count = scandir(path, &found, is_visible, alphasort);
    const char **names = count > 0 ? calloc((size_t)count, sizeof *names) : NULL;
    for (int i = 0; names && i < count; i++)
        names[i] = found[i]->d_name;
    const char *nearest = names ? nearest_name(last, names, (size_t)count) : NULL;
    snprintf(out, NAME_MAX + 1, "%.*s%s", (int)(last - name), name, nearest ? nearest : "");
    for (int i = 0; i < count; i++)
        free(found[i]);
    free(found);
    free(names);
    return nearest != NULL;
}

void paths_slug(const char *name, char out[PATHS_SLUG_BYTES])
{
    size_t n = 0;
    for (const char *c = name; *c && n + 1 < PATHS_SLUG_BYTES; c++) {
        bool digit = *c >= '0' && *c <= '9';
        bool upper = *c >= 'A' && *c <= 'Z';
        bool lower = *c >= 'a' && *c <= 'z';
        if (digit || upper || lower)
            out[n++] = upper ? (char)(*c - 'A' + 'a') : *c;
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n > 0 && out[n - 1] == '-')
        n--;
    out[n] = '\0';
    if (n == 0)
        strcpy(out, "unknown");
}

const char *paths_below(const char *folder, const char *path)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

const char *version_text(void)
{
    return AUTOTUNE_VERSION;
}
