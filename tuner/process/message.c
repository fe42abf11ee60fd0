#include "process/message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"

/* "ATM2". A program built from other sources is detected by these four bytes. */
enum { MAGIC = 0x324d5441 };

/* Limit of a message body, above any kernel image or log. A header with more is corrupt. */
static const uint64_t max_payload_bytes = 256u << 20;

/* The timeout of a body. Unless the worker hangs, the body follows its header at once. */
enum { BODY_TIMEOUT_MS = 10000 };

void message_deinit(message *m)
{
    pack_deinit(&m->body);
    *m = (message){0};
}

/* Writes from *sent on until all is written, or with MSG_DONTWAIT until the socket is full. */
static at_status write_bytes(int fd, const unsigned char *bytes, size_t size_bytes, size_t *sent,
                             int flags, at_error *error)
{
    while (*sent < size_bytes) {
        ssize_t n = send(fd, bytes + *sent, size_bytes - *sent, MSG_NOSIGNAL | flags);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return AT_OK;
        if (n < 0)
            return error_set(error, AT_WORKER, "the worker's socket closed: %s", strerror(errno));
        *sent += (size_t)n;
    }
    return AT_OK;
}

/* Returns the magic combined with a checksum of the rest of the header. Without the checksum, a
 * damaged size would make a reader wait forever, and a damaged type would look like another
 * type. */
static uint32_t first_word(const unsigned char header[MESSAGE_HEADER_BYTES])
{
    return MAGIC ^ (uint32_t)XXH3_64bits(header + 4, MESSAGE_HEADER_BYTES - 4);
}

void message_header(const message *m, unsigned char header[MESSAGE_HEADER_BYTES])
{
    pack_store(header + 4, m->type, 4);
    pack_store(header + 8, m->body.size_bytes, 8);
    pack_store(header + 16, XXH3_64bits(m->body.bytes, m->body.size_bytes), 8);
    pack_store(header, first_word(header), 4);
}

static at_status decode_header(const unsigned char header[MESSAGE_HEADER_BYTES], message *out,
                               at_error *error)
{
    uint64_t size = pack_load(header + 8, 8);
    *out = (message){.type = (uint32_t)pack_load(header + 4, 4)};
    if (pack_load(header, 4) != first_word(header) || size > max_payload_bytes)
        return error_set(error, AT_WORKER, "the worker sent a damaged message (header)");
    if (size > 0 && !pack_grow(&out->body, (size_t)size)) {
        message_deinit(out);
        return error_set(error, AT_NO_MEMORY, "no memory for a worker message of %zu bytes",
                         (size_t)size);
    }
    return AT_OK;
}

static at_status check_body(const unsigned char header[MESSAGE_HEADER_BYTES], const message *m,
                            at_error *error)
{
    if (XXH3_64bits(m->body.bytes, m->body.size_bytes) == pack_load(header + 16, 8))
        return AT_OK;
    return error_set(error, AT_WORKER, "the worker sent a damaged message");
}

static at_status write_frame(int fd, const unsigned char header[MESSAGE_HEADER_BYTES],
                             const message *m, size_t *sent, int flags, at_error *error)
{
    const size_t header_bytes = MESSAGE_HEADER_BYTES;
    size_t of_header = *sent < header_bytes ? *sent : header_bytes, of_body = *sent - of_header;
    at_status status = write_bytes(fd, header, header_bytes, &of_header, flags, error);
    if (!status && of_header == header_bytes)
        status = write_bytes(fd, m->body.bytes, m->body.size_bytes, &of_body, flags, error);
    *sent = of_header + of_body;
    return status;
}

at_status message_send(int fd, const message *m, at_error *error)
{
    if (m->body.failed)
        return error_no_memory(error);
    unsigned char header[MESSAGE_HEADER_BYTES];
    size_t sent = 0;
    message_header(m, header);
    return write_frame(fd, header, m, &sent, 0, error);
}

at_status message_post(int fd, message *m, at_error *error)
{
    at_status status = message_send(fd, m, error);
    message_deinit(m);
    return status;
}

at_status message_send_some(int fd, const unsigned char header[MESSAGE_HEADER_BYTES],
                            const message *m, size_t *sent, bool *done, at_error *error)
{
    at_status status = write_frame(fd, header, m, sent, MSG_DONTWAIT, error);
    *done = *sent == MESSAGE_HEADER_BYTES + m->body.size_bytes;
    return status;
}

/* Reads from *got on until `wanted` bytes are there. AT_NOT_FOUND if the socket holds fewer. */
static at_status read_some(int fd, unsigned char *bytes, size_t *got, size_t wanted,
                           at_error *error)
{
    while (*got < wanted) {
        ssize_t n = recv(fd, bytes + *got, wanted - *got, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return AT_NOT_FOUND;
        if (n < 0)
            return error_set(error, AT_WORKER, "the worker's socket failed: %s", strerror(errno));
        if (n == 0)
            return error_set(error, AT_WORKER, "the worker closed its socket");
        *got += (size_t)n;
    }
    return AT_OK;
}

at_status message_reader_take(message_reader *r, int fd, message *out, at_error *error)
{
    *out = (message){0};
    bool new_header = r->header_got_bytes < sizeof r->header;
    at_status status = read_some(fd, r->header, &r->header_got_bytes, sizeof r->header, error);
    if (!status && new_header)
        status = decode_header(r->header, &r->message, error);
    if (!status)
        status = read_some(fd, r->message.body.bytes, &r->body_got_bytes,
                           r->message.body.size_bytes, error);
    if (!status)
        status = check_body(r->header, &r->message, error);
    if (status)
        return status;
    *out = r->message;
    *r = (message_reader){0};
    return AT_OK;
}

void message_reader_deinit(message_reader *r)
{
    message_deinit(&r->message);
    *r = (message_reader){0};
}

bool message_peer_closed(int fd)
{
    char next;
    ssize_t n = recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool message_reader_busy(const message_reader *r)
{
    return r->header_got_bytes > 0;
}

at_status message_receive(int fd, int timeout_ms, message *out, at_error *error)
{
    message_reader r = {0};
    int64_t deadline_ms = timeout_ms < 0 ? -1 : clock_now_ms() + timeout_ms;
    bool has_header = false;
    at_status status;
    while ((status = message_reader_take(&r, fd, out, error)) == AT_NOT_FOUND) {
        if (deadline_ms >= 0 && !has_header && r.header_got_bytes == sizeof r.header) {
            has_header = true;
            deadline_ms = clock_now_ms() + BODY_TIMEOUT_MS;
        }
        int64_t left_ms = deadline_ms - clock_now_ms();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, deadline_ms < 0 ? -1 : left_ms > 0 ? (int)left_ms : 0) != 0)
            continue;
        status = message_reader_busy(&r)
                     ? error_set(error, AT_WORKER, "the worker stopped in the middle of a message")
                     : error_set(error, AT_NOT_FOUND, "the worker did not answer in time");
        break;
    }
    if (status)
        message_reader_deinit(&r);
    return status;
}
