#include "capture/kernel_name.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangler)(const char *name, char *buffer, size_t *length, int *status);

/* The program's own C++ library, or the system's, which then stays loaded. */
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
