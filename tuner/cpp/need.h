/* Which declarations of a file a kernel can need.
 *
 * A kernel is compiled without the host's code around it: a declaration is wanted if its name
 * stands in what is wanted already, from the kernel on, and device code may use it. That is more
 * than a compiler would find needed, never less: only names are looked at. */
#ifndef AUTOTUNE_CPP_NEED_H
#define AUTOTUNE_CPP_NEED_H

#include "base/error.h"
#include "cpp/unit.h"

/* Sets `wanted` of the declarations of all units for what `roots` names: texts such as
 * "ns::scale<BLOCK, float>". With `is_device` functions without an annotation are the device's,
 * too. AT_NO_MEMORY. */
at_status cpp_need(cpp_unit *units, size_t count, const cpp_span *roots, size_t root_count,
                   bool is_device, at_error *error);

#endif
