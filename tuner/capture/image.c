#include "capture/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The fat binary format of NVIDIA's tools: a header, then entries, each with its own header. */
enum { FATBIN_MAGIC = (int)0xba55ed50, ENTRY_PTX = 1, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };
/* The most bytes of a module's PTX. Real modules are smaller. */
static const uint64_t most_ptx_bytes = UINT64_C(1) << 30;

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t size_bytes; /* size of all entries */
} fatbin_header;

typedef struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t size_bytes; /* size of the data after the header */
    uint32_t packed_bytes;
    uint32_t options;
    uint16_t minor, major;
    uint32_t arch; /* compute capability: 90 for 9.0 */
    uint32_t name_at, name_bytes;
    uint64_t flags, unused, unpacked_bytes;
} fatbin_entry;

/* Decompresses a block of LZ4: runs of literals, and copies of earlier output. */
static bool unpack_lz4(const unsigned char *from, size_t from_bytes, unsigned char *to,
                       size_t to_bytes)
{
    const unsigned char *end = from + from_bytes;
    size_t done = 0;
    while (from < end) {
        const unsigned token = *from++;
        size_t literals = token >> 4, match = (token & 15) + 4u;
        unsigned more = 255;
        for (; literals >= 15 && more == 255 && from < end; literals += more)
            more = *from++;
        if (literals > (size_t)(end - from) || literals > to_bytes - done)
            return false;
        memcpy(to + done, from, literals);
        from += literals;
        done += literals;
        if (from == end)
            break; /* The last run has no copy. */
        if (end - from < 2)
            return false;
        const size_t distance = from[0] + 256u * from[1];
        from += 2;
        more = 255;
        for (; (token & 15) == 15 && more == 255 && from < end; match += more)
            more = *from++;
        if (distance == 0 || distance > done || match > to_bytes - done)
            return false;
        for (; match > 0; match--, done++)
            to[done] = to[done - distance];
    }
    return done == to_bytes;
}

/* Decompresses Zstandard with the system's library, loaded when needed. */
static at_status unpack_zstd(const char *from, size_t from_bytes, char *to, size_t to_bytes,
                             const char *path, at_error *error)
{
    size_t (*decompress)(void *, size_t, const void *, size_t);
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, "ZSTD_decompress") : NULL;
    memcpy(&decompress, &address, sizeof decompress);
    const bool good = address && decompress(to, to_bytes, from, from_bytes) == to_bytes;
    if (library)
        dlclose(library);
    if (good)
        return AT_OK;
    return error_set_at(error, address ? AT_FORMAT : AT_NO_DEVICE, path, 0,
                        address ? "its PTX is damaged: capture the program again"
                                : "its PTX is compressed by Zstandard, and there is no "
                                  "libzstd.so.1 on this machine (Debian package libzstd1)");
}

static at_status unpack(const fatbin_entry *e, const char *bytes, const char *path, char **out,
                        at_error *error)
{
    const bool is_packed = (e->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
    const uint64_t size_bytes = is_packed ? e->unpacked_bytes : e->size_bytes;
    at_status status = AT_OK;
    if (size_bytes > most_ptx_bytes || (is_packed && e->packed_bytes > e->size_bytes))
        return error_set_at(error, AT_FORMAT, path, 0, "it is damaged: capture the program again");
    *out = calloc(1, (size_t)size_bytes + 1);
    if (!*out)
        return error_no_memory(error);
    if (e->flags & FLAG_ZSTD)
        status = unpack_zstd(bytes, e->packed_bytes, *out, (size_t)size_bytes, path, error);
    else if (!(e->flags & FLAG_LZ4))
        memcpy(*out, bytes, (size_t)size_bytes);
    else if (!unpack_lz4((const unsigned char *)bytes, e->packed_bytes, (unsigned char *)*out,
                         (size_t)size_bytes))
        status = error_set_at(error, AT_FORMAT, path, 0,
                              "its PTX is damaged: capture the program again");
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status;
}

static bool defines(const char *ptx, const char *kernel)
{
    const size_t length = strlen(kernel);
    for (const char *at = ptx; (at = strstr(at, ".entry ")) != NULL;) {
        at += strlen(".entry ");
        at += strspn(at, " \t\n");
        if (strncmp(at, kernel, length) == 0 && strspn(at + length, "( \t\n") > 0)
            return true;
    }
    return false;
}

typedef struct search {
    const char *kernel, *path;
    uint32_t arch, found_arch;
    char *found; /* owned */
    bool has_ptx;
} search;

static at_status look_at(search *s, const fatbin_entry *e, const char *bytes, at_error *error)
{
    char *ptx = NULL;
    if (e->kind != ENTRY_PTX || e->arch > s->arch || e->arch < s->found_arch)
        return AT_OK;
    at_status status = unpack(e, bytes, s->path, &ptx, error);
    if (status)
        return status;
    s->has_ptx = true;
    if (!defines(ptx, s->kernel)) {
        free(ptx);
        return AT_OK;
    }
    free(s->found);
    s->found = ptx;
    s->found_arch = e->arch;
    return AT_OK;
}

static at_status look_through(search *s, const char *bytes, size_t size_bytes, at_error *error)
{
    fatbin_header h;
    memcpy(&h, bytes, sizeof h);
    at_status status = AT_OK;
    size_t at = h.header_bytes;
    while (!status && at < size_bytes) {
        fatbin_entry e;
        if (size_bytes - at < sizeof e)
            break;
        memcpy(&e, bytes + at, sizeof e);
        if (e.header_bytes < sizeof e || e.header_bytes > size_bytes - at ||
            e.size_bytes > size_bytes - at - e.header_bytes)
            return error_set_at(error, AT_FORMAT, s->path, 0,
                                "this is not a fat binary, or it is damaged: capture the program "
                                "again");
        status = look_at(s, &e, bytes + at + e.header_bytes, error);
        at += e.header_bytes + (size_t)e.size_bytes;
    }
    return status;
}

at_status image_ptx(const char *bytes, size_t size_bytes, const char *kernel, const char *arch,
                    const char *path, char **ptx, at_error *error)
{
    search s = {.kernel = kernel, .path = path, .arch = (uint32_t)strtoul(arch + 3, NULL, 10)};
    uint32_t magic = 0;
    at_status status = AT_OK;
    *ptx = NULL;
    if (size_bytes >= sizeof(fatbin_header))
        memcpy(&magic, bytes, sizeof magic);
    if (magic == (uint32_t)FATBIN_MAGIC) {
        status = look_through(&s, bytes, size_bytes, error);
    } else if (size_bytes > 0 && bytes[0] != '\177' &&
               strnlen(bytes, size_bytes) + 1 >= size_bytes) {
        s.has_ptx = true;
        s.found = strndup(bytes, size_bytes);
        if (!s.found)
            return error_no_memory(error);
        if (!defines(s.found, kernel)) {
            free(s.found);
            s.found = NULL;
        }
    }
    if (status)
        free(s.found);
    else
        *ptx = s.found;
    if (status || s.found)
        return status;
    if (!s.has_ptx)
        return error_set_at(
            error, AT_NO_DEVICE, path, 0,
            "the module of %s has no PTX for %s or older, only machine code: compile the program "
            "also with -gencode arch=compute_%u,code=compute_%u",
            kernel, arch, s.arch, s.arch);
    return error_set_at(error, AT_NOT_FOUND, path, 0, "the module's PTX has no kernel %s", kernel);
}

static bool skip_word(const char **at, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0 || (*at)[length] != ' ')
        return false;
    *at += length + strspn(*at + length, " ");
    return true;
}

static bool read_variable(const char *line, char name[IMAGE_NAME_BYTES])
{
    while (skip_word(&line, ".visible") || skip_word(&line, ".extern") ||
           skip_word(&line, ".weak") || skip_word(&line, ".common"))
        continue;
    if (!skip_word(&line, ".global") && !skip_word(&line, ".const"))
        return false;
    /* The name is the last word before the array size, the value or the end. */
    const char *end = line + strcspn(line, "[;=\n");
    while (end > line && end[-1] == ' ')
        end--;
    const char *begin = end;
    while (begin > line && begin[-1] != ' ')
        begin--;
    const size_t length = (size_t)(end - begin);
    if (length == 0 || length >= IMAGE_NAME_BYTES)
        return false;
    memcpy(name, begin, length);
    name[length] = '\0';
    return true;
}

const char *image_next_variable(const char *ptx, char name[IMAGE_NAME_BYTES])
{
    while (*ptx) {
        const char *line = ptx;
        ptx += strcspn(ptx, "\n");
        ptx += *ptx == '\n';
        if (*line == '.' && read_variable(line, name))
            return ptx;
    }
    return NULL;
}

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

size_t image_size_bytes(const void *image)
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

typedef char *(*demangler)(const char *name, char *buffer, size_t *length, int *status);

/* Finds the demangler of the program's own C++ library, or of the system's, which stays loaded. */
static demangler find_demangler(void)
{
    static const char *const libraries[] = {NULL, "libstdc++.so.6", "libc++abi.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *address = library ? dlsym(library, "__cxa_demangle") : NULL;
        demangler found;
        memcpy(&found, &address, sizeof found);
        if (address)
            return found;
        if (library)
            dlclose(library);
    }
    return NULL;
}

char *kernel_name_demangled(const char *mangled)
{
    int status;
    demangler demangle = strncmp(mangled, "_Z", 2) == 0 ? find_demangler() : NULL;
    return demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
}
