#define _GNU_SOURCE /* for dladdr() */
#include "capture/inject/inject.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/image.h"

/* The structure that nvcc's host code passes (fatbinary_section.h). It points to a fat binary. */
enum { WRAPPER_MAGIC = 0x466243b1 };

typedef struct wrapper {
    int magic, version;
    const void *image;
    void *file;
} wrapper;

/* The image of one module. Either `bytes` or `path` is not NULL. */
struct module_image {
    module_image *next;
    const void *handle;
    const void *bytes;
    void *owned; /* `bytes` if they are a copy that this image owns */
    char *path;  /* owned */
    size_t size_bytes;
};

static module_image *add(modules *m, const void *handle)
{
    modules_remove(m, handle);
    module_image *new = calloc(1, sizeof *new);
    if (!new)
        return NULL;
    new->handle = handle;
    new->next = m->first;
    m->first = new;
    return new;
}

void modules_add(modules *m, const void *handle, const void *image)
{
    wrapper w;
    Dl_info where;
    memcpy(&w.magic, image, sizeof w.magic);
    if (w.magic == WRAPPER_MAGIC) {
        memcpy(&w, image, sizeof w);
        image = w.image;
    }
    module_image *new = add(m, handle);
    if (!new)
        return;
    new->bytes = image;
    new->size_bytes = image_size_bytes(image);
    if (dladdr(image, &where))
        return;
    new->owned = malloc(new->size_bytes);
    if (!new->owned) {
        modules_remove(m, handle);
        return;
    }
    new->bytes = memcpy(new->owned, image, new->size_bytes);
}

void modules_add_file(modules *m, const void *handle, const char *path)
{
    module_image *new = add(m, handle);
    if (new && !(new->path = realpath(path, NULL)))
        modules_remove(m, handle);
}

void modules_remove(modules *m, const void *handle)
{
    for (module_image **at = &m->first; *at; at = &(*at)->next)
        if ((*at)->handle == handle) {
            module_image *gone = *at;
            *at = gone->next;
            free(gone->owned);
            free(gone->path);
            free(gone);
            return;
        }
}

bool inject_write_all(int to, const char *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t n = write(to, bytes, size_bytes);
        if (n <= 0)
            return false;
        bytes += n;
        size_bytes -= (size_t)n;
    }
    return true;
}

static uint64_t copy_file(int from, int to)
{
    static const size_t piece_bytes = 1 << 16;
    char piece[1 << 16];
    uint64_t written = 0;
    for (ssize_t n; (n = read(from, piece, piece_bytes)) > 0; written += (uint64_t)n)
        if (!inject_write_all(to, piece, (size_t)n))
            return 0;
    return written;
}

static const module_image *find(const modules *m, const void *handle)
{
    const module_image *image = m->first;
    while (image && image->handle != handle)
        image = image->next;
    return image;
}

const void *modules_bytes(const modules *m, const void *handle, size_t *size_bytes)
{
    const module_image *image = find(m, handle);
    *size_bytes = image ? image->size_bytes : 0;
    return image ? image->bytes : NULL;
}

uint64_t modules_write(const modules *m, const void *handle, int folder, const char *name)
{
    const module_image *image = find(m, handle);
    if (!image)
        return 0;
    int to = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return 0;
    int from = image->path ? open(image->path, O_RDONLY | O_CLOEXEC) : -1;
    uint64_t written = 0;
    if (image->bytes) /* If the library was closed, write() fails, but nothing crashes. */
        written = inject_write_all(to, image->bytes, image->size_bytes) ? image->size_bytes : 0;
    else if (from >= 0)
        written = copy_file(from, to);
    if (from >= 0)
        close(from);
    close(to);
    return written;
}
