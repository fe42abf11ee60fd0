/* What the compile pool and its workers say to each other, field by field.
 *
 * On the wire the id of a request is the pool's number of it, which no other has, and its result
 * repeats it. A worker opens with one HELLO or REFUSED, answers each REQUEST with one RESULT in the order they
 * came, and may send a WARNING at any time. A BATCH comes before the requests that belong to it,
 * which may be compiled together; it has one at least. Getters return views of the pack; false means that
 * the message is not what it says it is. */
#ifndef AUTOTUNE_COMPILE_WIRE_H
#define AUTOTUNE_COMPILE_WIRE_H

#include "compile/compile.h"
#include "base/pack.h"

enum {
    COMPILE_HELLO = 0x100, /* version, path */
    COMPILE_REFUSED,       /* the message of the error */
    COMPILE_BATCH, /* how many requests follow, u32 */
    COMPILE_REQUEST,
    COMPILE_RESULT,
    COMPILE_WARNING /* text */
};

/* More options than any script has; a message that claims more is corrupt. */
enum { COMPILE_OPTIONS_MAX = 64 };

void compile_wire_put_request(pack *m, const compile_request *r);

/* `options` and `headers` are where the views of those go; *out points to them. */
bool compile_wire_get_request(pack *m, const char *options[COMPILE_OPTIONS_MAX],
                              source_header headers[SOURCE_HEADERS_MAX], compile_request *out);

void compile_wire_put_result(pack *m, const compile_result *r);

/* *out holds views: no compile_result_deinit. */
bool compile_wire_get_result(pack *m, compile_result *out);

#endif
