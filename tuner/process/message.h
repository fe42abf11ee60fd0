/* Framed messages between the tuner and its workers, over a stream socket.
 *
 * A frame is a 24-byte header (magic with a check of the header, type, payload size, XXH3-64 of the
 * payload) and a payload of little-endian fields. Nothing in a frame is a pointer, a file descriptor or a path that only one
 * host knows. A writer appends fields to a growing buffer; a reader takes them off in the same
 * order and turns every overrun into one sticky failure, so that callers check once at the end. */
#ifndef AUTOTUNE_PROCESS_MESSAGE_H
#define AUTOTUNE_PROCESS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct message {
    uint32_t type;
    unsigned char *bytes; /* payload; owned */
    size_t size_bytes, capacity_bytes;
    size_t position; /* of the next field to read */
    bool failed;     /* ran out of memory while writing, or of bytes while reading */
} message;

void message_init(message *m, uint32_t type); /* empty payload, nothing allocated yet */
void message_deinit(message *m);

void message_put_u32(message *m, uint32_t v);
void message_put_u64(message *m, uint64_t v);
void message_put_f64(message *m, double v);
void message_put_bytes(message *m, const void *bytes, size_t size_bytes); /* length, then bytes */
void message_put_string(message *m, const char *text);                    /* NULL as "" */

uint32_t message_get_u32(message *m);
uint64_t message_get_u64(message *m);
double message_get_f64(message *m);
/* A view into the payload, valid until message_deinit; *size_bytes is 0 and the result "" after a
 * failure. */
const void *message_get_bytes(message *m, size_t *size_bytes);
/* NUL-terminated view, checked to contain no other NUL. */
const char *message_get_string(message *m);
/* True when everything was read, nothing is left over and nothing failed. */
bool message_complete(const message *m);

enum { MESSAGE_HEADER_BYTES = 24 };

/* The frame header that goes before m->bytes on the wire, for who cannot block in message_send(). */
void message_header(const message *m, unsigned char header[MESSAGE_HEADER_BYTES]);

/* Blocking write of a whole frame. AT_WORKER when the peer is gone. */
at_status message_send(int fd, const message *m, at_error *error);

/* Blocking read of a whole frame. `timeout_ms` < 0 waits for ever. AT_WORKER when the peer is gone
 * or the frame is corrupt, AT_NOT_FOUND on time-out with nothing read. *out is initialised by this
 * call and owned by the caller on AT_OK. */
at_status message_receive(int fd, int timeout_ms, message *out, at_error *error);

/* For a peer that must never be waited for: the frame as bytes, to be written as the socket takes
 * them. *frame is owned by the caller (free). */
at_status message_encode(const message *m, unsigned char **frame, size_t *frame_bytes,
                         at_error *error);

/* A frame that arrives in pieces. Zero-initialise; message_reader_deinit drops what had arrived. */
typedef struct message_reader {
    unsigned char header[MESSAGE_HEADER_BYTES];
    size_t header_got_bytes;
    message body;
    size_t body_got_bytes;
} message_reader;

/* Takes what the socket holds, without waiting. AT_OK: *out is a whole frame, owned by the caller;
 * AT_NOT_FOUND: more has to come; AT_WORKER as message_receive. */
at_status message_reader_take(message_reader *r, int fd, message *out, at_error *error);
void message_reader_deinit(message_reader *r);
/* Whether a frame has begun to arrive and is not whole yet. */
bool message_reader_busy(const message_reader *r);

#endif
