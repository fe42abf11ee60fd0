#include "compile/preamble.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/pack.h"

/* A source that has errors is no reason to give up, several may be. */
enum { MOST_FAILURES = 3 };

/* The size of a heap that holds the largest headers, with some room to spare. */
static const uint64_t heap_bytes = UINT64_C(512) << 20;

void preambles_open(preambles *p, const char *folder)
{
    struct statvfs s;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *p = (preambles){0};
    for (size_t i = 0; i < PREAMBLES_KEPT; i++)
        p->kept[i].fd = -1;
    const int length = snprintf(p->folder, sizeof p->folder, "%s/00", folder);
    if (length > 0 && (size_t)length < sizeof p->folder && statvfs(folder, &s) == 0 &&
        (uint64_t)s.f_bavail * s.f_frsize / (uint64_t)(cores > 0 ? cores : 1) >= heap_bytes &&
        (mkdir(p->folder, 0700) == 0 || errno == EEXIST))
        setenv("TMPDIR", p->folder, 1); /* where NVRTC's front end writes while it writes a heap */
    else
        p->folder[0] = '\0';
}

/* ---- sources ---- */

/* After blanks and comments of one line or more; NULL: a comment does not end. */
static const char *skip_comments(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (strncmp(at, "//", 2) == 0) {
            at += strcspn(at, "\n");
        } else if (strncmp(at, "/*", 2) == 0) {
            const char *end = strstr(at + 2, "*/");
            if (!end)
                return NULL;
            at = end + 2;
        } else {
            return at;
        }
    }
}

static bool is_given(const char *name, size_t length, const source_header *headers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(headers[i].name) == length && memcmp(headers[i].name, name, length) == 0)
            return true;
    return false;
}

/* The name in <...> of an #include line; NULL: it is another line, or has more on it. */
static const char *included_name(const char *line, size_t size, size_t *length)
{
    const char *at = line + 1, *end = line + size;
    at += strspn(at, " \t");
    if (strncmp(at, "include", 7) != 0 || memchr(line, '\\', size))
        return NULL;
    at += 7;
    at += strspn(at, " \t");
    const char *close = at < end && *at == '<' ? memchr(at, '>', (size_t)(end - at)) : NULL;
    if (!close)
        return NULL;
    const char *rest = close + 1 + strspn(close + 1, " \t\r");
    *length = (size_t)(close - at) - 1;
    return rest == end || strncmp(rest, "//", 2) == 0 ? at + 1 : NULL;
}

/* The length of what a source has before anything but comments, #line directives and #include lines
 * of files that are none of `headers`; those lines are appended to *lines. */
static size_t find_lines(const char *source, const source_header *headers, size_t header_count,
                         pack *lines)
{
    const char *ended = source;
    for (const char *at; (at = skip_comments(ended)) && *at == '#';) {
        size_t size = strcspn(at, "\n"), length;
        const char *name = included_name(at, size, &length);
        const char *word = at + 1 + strspn(at + 1, " \t");
        if (name && !is_given(name, length, headers, header_count)) {
            pack_append_text(lines, "#include <");
            pack_append(lines, name, length);
            pack_append_text(lines, ">\n");
        } else if (strncmp(word, "line ", 5) != 0 && strncmp(word, "pragma once", 11) != 0) {
            break;
        }
        ended = at + size;
    }
    return (size_t)(ended - source);
}

/* The lines, and after them the source without them: its lines keep their numbers. */
static char *hoist(const compile_request *r, const char *lines, size_t bytes)
{
    pack text = {0};
    pack_append_text(&text, lines);
    pack_append_text(&text, "#pragma nv_hdrstop\n#line 1 \"");
    pack_append_text(&text, r->name);
    pack_append_text(&text, "\"\n");
    for (const char *at = r->source, *end = r->source + bytes; at < end;) {
        size_t size = strcspn(at, "\n");
        const char *word = at + strspn(at, " \t");
        const char *name = *word == '#' ? word + 1 + strspn(word + 1, " \t") : word;
        if (*word != '#' || strncmp(name, "include", 7) != 0)
            pack_append(&text, at, size);
        if (at[size] == '\n')
            pack_append_text(&text, "\n");
        at += size + (at[size] == '\n');
        if (at > end)
            bytes = (size_t)(at - r->source);
    }
    pack_append_text(&text, r->source + bytes);
    return pack_take_text(&text);
}

static uint64_t key_of(const compile_request *r, const char *lines)
{
    pack m = {0};
    pack_put_string(&m, lines);
    pack_put_string(&m, r->arch);
    pack_put_u32(&m, r->want_ptx);
    for (size_t i = 0; i < r->option_count; i++)
        pack_put_string(&m, r->options[i]);
    uint64_t key = m.failed ? 0 : XXH3_64bits(m.bytes, m.size_bytes);
    pack_deinit(&m);
    return key;
}

/* ---- heaps ---- */

/* The place of a key; NULL: it was not met before, and has one now. */
static preamble *find(preambles *p, uint64_t key)
{
    for (size_t i = 0; i < PREAMBLES_KEPT; i++)
        if (p->kept[i].key == key)
            return &p->kept[i];
    preamble *other = &p->kept[p->next++ % PREAMBLES_KEPT];
    if (other->key && other->fd >= 0)
        close(other->fd);
    *other = (preamble){.key = key, .fd = -1};
    return NULL;
}

void preambles_begin(preambles *p, const compile_request *r, preamble_use *out)
{
    *out = (preamble_use){0};
    if (!p->folder[0] || strpbrk(r->name, "\"\\\n"))
        return;
    pack found = {0};
    const size_t bytes = find_lines(r->source, r->headers, r->header_count, &found);
    char *lines = pack_take_text(&found);
    const uint64_t key = lines && lines[0] ? key_of(r, lines) : 0;
    preamble *of = key ? find(p, key) : NULL;
    if (of && of->failures < MOST_FAILURES && (out->source = hoist(r, lines, bytes)) != NULL) {
        out->of = of;
        if (of->fd >= 0) {
            snprintf(out->option, sizeof out->option, "--use-pch=/proc/self/fd/%d", of->fd);
        } else {
            snprintf(out->path, sizeof out->path, "%s/tmp-heap-%ld", p->folder, (long)getpid());
            snprintf(out->option, sizeof out->option, "--create-pch=%s", out->path);
        }
    }
    free(lines);
}

void preambles_end(preamble_use *use, bool compiled)
{
    if (!use->of)
        return;
    if (use->path[0]) {
        if (compiled)
            use->of->fd = descriptor_open(use->path, O_RDONLY | O_CLOEXEC, 0);
        unlink(use->path);
    }
    use->of->failures = use->of->fd >= 0 && compiled ? 0 : use->of->failures + 1;
    free(use->source);
    *use = (preamble_use){0};
}
