#define _GNU_SOURCE /* dladdr */
#include "capture/inject/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The struct that nvcc's host code passes (fatbinary_section.h), and the one that it points at. */
enum { WRAPPER_MAGIC = 0x466243b1, FATBIN_MAGIC = (int)0xba55ed50 };

typedef struct wrapper {
    int magic, version;
    const void *image;
    void *file;
} wrapper;

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t size_bytes;
} fatbin_header;

/* Either `bytes` or `path` is not NULL. */
struct module_image {
    module_image *next;
    const void *handle;
    const void *bytes;
    void *owned; /* `bytes`, where they are a copy */
    char *path;  /* owned */
    size_t size_bytes;
};

static size_t later(size_t a, uint64_t b)
{
    return b > a ? (size_t)b : a;
}

static size_t elf_bytes(const unsigned char *image)
{
    Elf64_Ehdr h;
    memcpy(&h, image, sizeof h);
    size_t end = later(sizeof h, h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize);
    end = later(end, h.e_phoff + (uint64_t)h.e_phnum * h.e_phentsize);
    for (unsigned i = 0; i < h.e_shnum && h.e_shoff; i++) {
        Elf64_Shdr s;
        memcpy(&s, image + h.e_shoff + (size_t)i * h.e_shentsize, sizeof s);
        if (s.sh_type != SHT_NOBITS)
            end = later(end, s.sh_offset + s.sh_size);
    }
    return end;
}

/* An image says itself how long it is, and the driver relies on it, too. */
static size_t image_bytes(const void *image)
{
    fatbin_header h;
    if (memcmp(image, ELFMAG, SELFMAG) == 0)
        return elf_bytes(image);
    memcpy(&h.magic, image, sizeof h.magic);
    if (h.magic != (uint32_t)FATBIN_MAGIC)
        return strlen(image);
    memcpy(&h, image, sizeof h);
    return h.header_bytes + h.size_bytes;
}

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
    new->size_bytes = image_bytes(image);
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

static bool write_all(int to, const char *bytes, size_t size_bytes)
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
        if (!write_all(to, piece, (size_t)n))
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
    if (image->bytes) /* a library that was closed since: write() fails, nothing faults */
        written = write_all(to, image->bytes, image->size_bytes) ? image->size_bytes : 0;
    else if (from >= 0)
        written = copy_file(from, to);
    if (from >= 0)
        close(from);
    close(to);
    return written;
}
