/* The bytes of a message on the wire. */
#ifndef AUTOTUNE_TESTS_FRAMED_H
#define AUTOTUNE_TESTS_FRAMED_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "process/message.h"

/* Returns the bytes of the message. The caller frees the bytes. */
static inline unsigned char *framed(const message *m, size_t *frame_bytes)
{
    *frame_bytes = MESSAGE_HEADER_BYTES + m->body.size_bytes;
    unsigned char *frame = memory_new(*frame_bytes, 1);
    message_header(m, frame);
    if (m->body.size_bytes > 0)
        memcpy(frame + MESSAGE_HEADER_BYTES, m->body.bytes, m->body.size_bytes);
    return frame;
}

#endif
