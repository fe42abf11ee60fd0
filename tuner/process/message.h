/* Framed messages between the tuner and its workers, over a stream socket.
 *
 * A frame is a 24-byte header (magic with a check of the header, type, body size, XXH3-64 of the
 * body) and a body of fields (base/pack.h). Nothing in a frame is a pointer, a file descriptor or a
 * path that only one host knows. */
#ifndef AUTOTUNE_PROCESS_MESSAGE_H
#define AUTOTUNE_PROCESS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pack.h"

/* Only with its type set, it has an empty body and holds no memory yet. */
typedef struct message {
    uint32_t type;
    pack body;
} message;

void message_deinit(message *m);

enum { MESSAGE_HEADER_BYTES = 24 };

/* The frame header that goes before the body on the wire, for callers that must not block in
 * message_send(). */
void message_header(const message *m, unsigned char header[MESSAGE_HEADER_BYTES]);

/* Blocking write of a whole frame. AT_WORKER when the peer is gone. */
at_status message_send(int fd, const message *m, at_error *error);
/* The same, and frees the message's body. */
at_status message_post(int fd, message *m, at_error *error);

/* Blocking read of a whole frame. `timeout_ms` < 0 waits for ever. AT_WORKER when the peer is gone
 * or the frame is corrupt, AT_NOT_FOUND on time-out with nothing read. *out is initialised by this
 * call and owned by the caller on AT_OK. */
at_status message_receive(int fd, int timeout_ms, message *out, at_error *error);

/* Sends as much of a part of a frame as the socket takes, from *sent on, which grows; *done tells
 * whether that was all. AT_WORKER when the peer is gone. */
at_status message_send_some(int fd, const unsigned char *bytes, size_t size_bytes, size_t *sent,
                            bool *done, at_error *error);

/* A frame that arrives in pieces. Zero-initialise; message_reader_deinit drops what had arrived. */
typedef struct message_reader {
    unsigned char header[MESSAGE_HEADER_BYTES];
    size_t header_got_bytes;
    message message; /* its type and as much of its body as has arrived */
    size_t body_got_bytes;
} message_reader;

/* Takes what the socket holds, without waiting. AT_OK: *out is a whole frame, owned by the caller;
 * AT_NOT_FOUND: more has to come; AT_WORKER as message_receive. */
at_status message_reader_take(message_reader *r, int fd, message *out, at_error *error);
void message_reader_deinit(message_reader *r);
/* Whether the peer has closed its end and nothing is left to read. */
bool message_peer_closed(int fd);
/* Whether a frame has begun to arrive and is not whole yet. */
bool message_reader_busy(const message_reader *r);

#endif
