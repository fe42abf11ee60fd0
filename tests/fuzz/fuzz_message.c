/* Fuzzes bytes from a worker's socket, also in pieces. They must be refused, or be a complete
 * frame. A decoder must refuse an invalid payload, or stay within the payload's bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compile/wire.h"
#include "framed.h"
#include "process/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 65536 }; /* bytes that a socket takes without a reader */

static void check(bool fine)
{
    if (!fine)
        abort();
}

static void write_all(int fd, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        check(n > 0);
        bytes += n;
        size -= (size_t)n;
    }
}

static at_status read_at_once(const uint8_t *bytes, size_t size, message *out)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    write_all(ends[0], bytes, size);
    close(ends[0]);
    at_status status = message_receive(ends[1], 1000, out, NULL);
    close(ends[1]);
    return status;
}

static at_status read_in_pieces(const uint8_t *bytes, size_t size, size_t piece, message *out)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    message_reader r = {0};
    at_status status = AT_NOT_FOUND;
    for (size_t at = 0; at < size && status == AT_NOT_FOUND; at += piece) {
        write_all(ends[0], bytes + at, piece < size - at ? piece : size - at);
        status = message_reader_take(&r, ends[1], out, NULL);
    }
    close(ends[0]);
    if (status == AT_NOT_FOUND)
        status = message_reader_take(&r, ends[1], out, NULL);
    message_reader_deinit(&r);
    close(ends[1]);
    return status;
}

static bool within(const pack *m, const void *view, size_t size)
{
    const unsigned char *at = view;
    return at >= m->bytes && size <= m->size_bytes &&
           (size_t)(at - m->bytes) <= m->size_bytes - size;
}

static void decode(message *m)
{
    const char *options[COMPILE_OPTIONS_MAX];
    source_header headers[SOURCE_HEADERS_MAX];
    compile_request request;
    if (compile_wire_get_request(&m->body, options, headers, &request)) {
        check(within(&m->body, request.source, strlen(request.source) + 1));
        check(within(&m->body, request.arch, strlen(request.arch) + 1));
        for (size_t i = 0; i < request.option_count; i++)
            check(within(&m->body, options[i], strlen(options[i]) + 1));
    }
    m->body.position = 0;
    m->body.failed = false;
    compile_result result;
    if (compile_wire_get_result(&m->body, &result)) {
        check((result.outcome == COMPILE_OK) == (result.cubin != NULL));
        check(within(&m->body, result.log, strlen(result.log) + 1));
        check(!result.cubin || within(&m->body, result.cubin, result.cubin_bytes));
        check(!result.ptx || within(&m->body, result.ptx, result.ptx_bytes + 1));
    }
}

/* Sends the input as a payload, which must arrive unchanged. */
static void frame_and_decode(const uint8_t *data, size_t size, size_t piece)
{
    message m, back;
    m = (message){.type = COMPILE_RESULT};
    unsigned char *at = pack_grow(&m.body, size);
    check(at != NULL);
    if (size > 0)
        memcpy(at, data, size);
    size_t frame_bytes;
    unsigned char *frame = framed(&m, &frame_bytes);
    check(read_in_pieces(frame, frame_bytes, piece, &back) == AT_OK);
    check(back.body.size_bytes == size && back.type == COMPILE_RESULT);
    check(size == 0 || memcmp(back.body.bytes, data, size) == 0);
    if (size > 0)
        decode(&back);
    message_deinit(&back);
    message_deinit(&m);
    free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MOST_BYTES)
        return 0;
    size_t piece = 1 + (data[0] >> 1);
    bool framed = data[0] & 1;
    data++;
    size--;
    if (framed) {
        frame_and_decode(data, size, piece);
        return 0;
    }
    message whole, pieces;
    at_status a = read_at_once(data, size, &whole);
    at_status b = read_in_pieces(data, size, piece, &pieces);
    check((a == AT_OK) == (b == AT_OK));
    if (a == AT_OK) {
        check(whole.type == pieces.type && whole.body.size_bytes == pieces.body.size_bytes);
        check(whole.body.size_bytes == 0 ||
              memcmp(whole.body.bytes, pieces.body.bytes, whole.body.size_bytes) == 0);
        message_deinit(&whole);
        message_deinit(&pieces);
    }
    return 0;
}
