/* The messages between the compile pool and its workers, field by field.
 *
 * On the wire a request is identified by its number in the pool, which its result repeats. A worker
 * begins with one HELLO or REFUSED, answers each REQUEST with one RESULT in the order of the
 * requests, and may send a WARNING at any time. Requests up to the next that is not REQUEST_MORE
 * are a batch, which may be compiled together (compile/worker.c); compile/pool.c takes the results.
 * Getters return views of the pack; false means that the message is malformed. */
#ifndef AUTOTUNE_COMPILE_WIRE_H
#define AUTOTUNE_COMPILE_WIRE_H

#include "base/pack.h"
#include "compile/cache.h"
#include "compile/compile.h"

enum {
    COMPILE_HELLO = 0x100, /* version */
    COMPILE_REFUSED,       /* the message of the error */
    COMPILE_REQUEST,
    COMPILE_REQUEST_MORE, /* a request that others of its batch follow */
    COMPILE_RESULT,
    COMPILE_WARNING /* text */
};

/* No script has more options; a message that claims more is corrupt. */
enum { COMPILE_OPTIONS_MAX = 64 };

void compile_wire_put_request(pack *m, const compile_request *r);

/* The keys of a request. Two requests that differ in anything but their ids have other keys in the
 * cache, and requests of one kind may be compiled as one program. Both are made from the fields of
 * the message, so that whatever a request gets is in them. `compiler`: its name and version.
 * Without memory every request is of a kind of its own. */
compile_key compile_wire_key(const pack *request, const char *compiler);
uint64_t compile_wire_kind(const compile_request *r);

/* `options` and `headers` receive the views of those; *out points to them. */
bool compile_wire_get_request(pack *m, const char *options[COMPILE_OPTIONS_MAX],
                              source_header headers[SOURCE_HEADERS_MAX], compile_request *out);

void compile_wire_put_result(pack *m, const compile_result *r);

/* *out holds views: do not call compile_result_deinit. */
bool compile_wire_get_result(pack *m, compile_result *out);

#endif
