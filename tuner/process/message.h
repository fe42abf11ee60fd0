/* Framed messages between the tuner and its workers, over a stream socket. A frame is a 24-byte
 * header and a body of fields (base/pack.h). The header has the magic combined with its checksum,
 * the type, and the size and XXH3-64 of the body. The body has no pointers, file descriptors or
 * paths of one host. */
#ifndef AUTOTUNE_PROCESS_MESSAGE_H
#define AUTOTUNE_PROCESS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/pack.h"

/* A message that is zeroed except for its type has an empty body and owns no memory. */
typedef struct message {
    uint32_t type;
    pack body;
} message;

/* Frees the body and zeroes the message. */
void message_deinit(message *m);

enum { MESSAGE_HEADER_BYTES = 24 };

/* Writes the frame header for `m`, for callers that must not block in message_send(). */
void message_header(const message *m, unsigned char header[MESSAGE_HEADER_BYTES]);

/* Writes a whole frame; blocks. Returns AT_WORKER if the peer is gone. */
at_status message_send(int fd, const message *m, at_error *error);
/* Like message_send(), and frees the body of the message. */
at_status message_post(int fd, message *m, at_error *error);

/* Reads a whole frame; blocks up to `timeout_ms`, or for ever if that is < 0. The caller owns *out
 * on AT_OK. AT_WORKER if the peer is gone or the frame corrupt, AT_NOT_FOUND if no byte came. */
at_status message_receive(int fd, int timeout_ms, message *out, at_error *error);

/* Sends a frame from byte *sent on, as far as the socket takes it without blocking, and advances
 * *sent. `header` is that of `m`. Sets *done after the last byte. AT_WORKER if the peer is gone. */
at_status message_send_some(int fd, const unsigned char header[MESSAGE_HEADER_BYTES],
                            const message *m, size_t *sent, bool *done, at_error *error);

/* A frame that arrives in pieces; starts zeroed. message_reader_deinit() drops a partial frame. */
typedef struct message_reader {
    unsigned char header[MESSAGE_HEADER_BYTES];
    size_t header_got_bytes;
    message message; /* type, and the part of the body that has arrived */
    size_t body_got_bytes;
} message_reader;

/* Reads from the socket without blocking. Returns AT_OK if *out is a whole frame, which the caller
 * owns; AT_NOT_FOUND if the frame is still incomplete; AT_WORKER as message_receive(). */
at_status message_reader_take(message_reader *r, int fd, message *out, at_error *error);
void message_reader_deinit(message_reader *r);
/* Returns true if the peer has closed its end and nothing is left to read. */
bool message_peer_closed(int fd);
/* Returns true if a frame has begun to arrive and is incomplete. */
bool message_reader_busy(const message_reader *r);

#endif
