#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "framed.h"
#include "process/message.h"
#include "process/process.h"

static int echo(int fd, pack *settings)
{
    (void)settings;
    message m;
    while (message_receive(fd, -1, &m, NULL) == AT_OK) {
        message_send(fd, &m, NULL);
        message_deinit(&m);
    }
    return 0;
}

static int die(int fd, pack *settings)
{
    (void)fd;
    (void)settings;
    return 7;
}

static const worker_program echoes = {"echo", echo}, dies = {"die", die};
static const pack nothing;

static void fields_cross_a_process_unchanged(void **state)
{
    (void)state;
    at_error error = {0};
    worker w;
    assert_ok(worker_start(NULL, &echoes, &nothing, &w, &error), error);
    static unsigned char large[3 << 20];
    memset(large, 0xa5, sizeof large);
    message m, back;
    m = (message){.type = 42};
    pack_put_u32(&m.body, 7);
    pack_put_u64(&m.body, UINT64_MAX);
    pack_put_f64(&m.body, -0.1);
    pack_put_string(&m.body, "tile=64");
    pack_put_string(&m.body, NULL);
    pack_put_bytes(&m.body, large, sizeof large);
    assert_ok(message_send(w.fd, &m, &error), error);
    assert_ok(message_receive(w.fd, 5000, &back, &error), error);
    assert_int_equal(back.type, 42);
    assert_int_equal(pack_get_u32(&back.body), 7);
    assert_true(pack_get_u64(&back.body) == UINT64_MAX);
    assert_true(pack_get_f64(&back.body) == -0.1);
    assert_string_equal(pack_get_string(&back.body), "tile=64");
    assert_string_equal(pack_get_string(&back.body), "");
    size_t size;
    const void *bytes = pack_get_bytes(&back.body, &size);
    assert_int_equal(size, sizeof large);
    assert_memory_equal(bytes, large, size);
    assert_true(pack_complete(&back.body));
    message_deinit(&m);
    message_deinit(&back);
    worker_stop(&w, NULL, 0);
}

static void any_flipped_bit_is_detected_at_once(void **state)
{
    (void)state;
    message m, back;
    m = (message){.type = 3};
    pack_put_string(&m.body, "payload");
    at_error error = {0};
    size_t frame_bytes;
    unsigned char *frame = framed(&m, &frame_bytes);
    for (size_t bit = 0; bit < 8 * frame_bytes; bit++) {
        int ends[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        frame[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(write(ends[0], frame, frame_bytes), frame_bytes);
        frame[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(message_receive(ends[1], 1000, &back, &error), AT_WORKER);
        assert_non_null(strstr(error.message, "damaged"));
        close(ends[0]);
        close(ends[1]);
    }
    free(frame);
    message_deinit(&m);
}

static void a_frame_that_arrives_in_pieces_is_whole_in_the_end(void **state)
{
    (void)state;
    at_error error = {0};
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    message m, empty, back;
    m = (message){.type = 9};
    pack_put_string(&m.body, "in pieces");
    empty = (message){.type = 10};
    size_t frame_bytes, empty_bytes;
    unsigned char *frame = framed(&m, &frame_bytes), *empty_frame = framed(&empty, &empty_bytes);
    message_reader r = {0};
    for (size_t i = 0; i + 1 < frame_bytes; i++) {
        assert_int_equal(write(ends[0], frame + i, 1), 1);
        assert_int_equal(message_reader_take(&r, ends[1], &back, &error), AT_NOT_FOUND);
        assert_true(message_reader_busy(&r));
    }
    assert_int_equal(write(ends[0], frame + frame_bytes - 1, 1), 1);
    assert_int_equal(write(ends[0], empty_frame, empty_bytes), empty_bytes);
    assert_ok(message_reader_take(&r, ends[1], &back, &error), error);
    assert_false(message_reader_busy(&r));
    assert_string_equal(pack_get_string(&back.body), "in pieces");
    message_deinit(&back);
    assert_ok(message_reader_take(&r, ends[1], &back, &error), error);
    assert_int_equal(back.type, 10);
    assert_true(pack_complete(&back.body));
    message_deinit(&back);
    assert_int_equal(write(ends[0], frame, 30), 30);
    close(ends[0]);
    assert_int_equal(message_reader_take(&r, ends[1], &back, &error), AT_WORKER);
    message_reader_deinit(&r);
    close(ends[1]);
    message_deinit(&m);
    free(frame);
    free(empty_frame);
}

static void an_empty_frame_crosses(void **state)
{
    (void)state;
    at_error error = {0};
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    message m, back;
    m = (message){.type = 11};
    assert_ok(message_send(ends[0], &m, &error), error);
    assert_ok(message_receive(ends[1], 1000, &back, &error), error);
    assert_int_equal(back.type, 11);
    assert_int_equal(back.body.size_bytes, 0);
    message_deinit(&back);
    close(ends[0]);
    close(ends[1]);
}

static void silence_is_a_time_out_and_death_is_not(void **state)
{
    (void)state;
    at_error error = {0};
    worker w;
    message back;
    assert_ok(worker_start(NULL, &echoes, &nothing, &w, &error), error);
    assert_int_equal(message_receive(w.fd, 20, &back, &error), AT_NOT_FOUND);
    worker_stop(&w, NULL, 0);

    assert_ok(worker_start(NULL, &dies, &nothing, &w, &error), error);
    assert_int_equal(message_receive(w.fd, 5000, &back, &error), AT_WORKER);
    char why[64];
    for (int i = 0; i < 100; i++)
        usleep(1000);
    worker_stop(&w, why, sizeof why);
    assert_string_equal(why, "exited with status 7");
    assert_int_equal(w.pid, 0);
    assert_int_equal(w.fd, -1);
}

int main(int argc, char **argv)
{
    worker_enter(argc, argv, (const worker_program *const[]){&echoes, &dies, NULL});
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_cross_a_process_unchanged),
        cmocka_unit_test(any_flipped_bit_is_detected_at_once),
        cmocka_unit_test(a_frame_that_arrives_in_pieces_is_whole_in_the_end),
        cmocka_unit_test(an_empty_frame_crosses),
        cmocka_unit_test(silence_is_a_time_out_and_death_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
