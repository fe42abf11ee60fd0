/* Messages between the ranks, over MPI. Sending and receiving never block, so that a rank that is
 * slow, hangs or is lost does not stop the others. The only module that uses MPI. */
#ifndef AUTOTUNE_RANKS_MAIL_H
#define AUTOTUNE_RANKS_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MAIL_MOST_BYTES = 64 * 1024, MAIL_AHEAD = 32 };

typedef enum letter_kind {
    LETTER_HELLO = 1, /* to rank 0: cores (u32) */
    LETTER_OPEN,      /* start this program's worker: its name */
    LETTER_DATA,      /* of a channel */
    LETTER_CLOSE,     /* of a channel: the socket at that end is closed */
    LETTER_BEAT,      /* no content: the rank is alive */
    LETTER_QUIT       /* the run is over */
} letter_kind;

typedef struct letter {
    uint32_t kind, channel, size_bytes;
    unsigned char bytes[MAIL_MOST_BYTES];
} letter;

typedef struct mail mail;

/* Joins the launch. AT_IO when MPI does not start, AT_USAGE for more than `most` ranks. */
at_status mail_open(uint32_t most, mail **out, at_error *error);
uint32_t mail_rank(const mail *m);
uint32_t mail_ranks(const mail *m);
uint32_t mail_ranks_of_host(const mail *m); /* on this host */

/* Can the rank take another LETTER_DATA? Not when it is lost, or has MAIL_AHEAD unread. */
bool mail_has_room(const mail *m, uint32_t rank);

/* Sends a copy. A letter to a lost rank is dropped; a rank to which sending fails becomes lost. */
void mail_send(mail *m, uint32_t rank, letter_kind kind, uint32_t channel, const void *bytes,
               size_t size_bytes);

/* Receives one letter; *out is borrowed until the next call. False: there is none now. */
bool mail_take(mail *m, uint32_t *rank, const letter **out);

/* A rank is lost when sending to it or receiving from it failed, or after mail_lose(). */
bool mail_lost(const mail *m, uint32_t rank);
void mail_lose(mail *m, uint32_t rank);

/* Waits up to `timeout_ms` until all letters of all ranks are sent, forgetting those that come,
 * leaves the launch and frees. With lost ranks, or letters that are not sent by then, it ends the
 * whole launch with `code`. */
void mail_close(mail *m, int timeout_ms, int code);

#endif
