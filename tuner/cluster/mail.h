/* Letters between the ranks, over MPI, without ever waiting: a rank that is slow, hangs or is gone holds
 * nobody up. The only module that knows MPI. */
#ifndef AUTOTUNE_CLUSTER_MAIL_H
#define AUTOTUNE_CLUSTER_MAIL_H

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
    LETTER_BEAT,      /* nothing: the rank lives */
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

/* Should another letter of data be sent to a rank? Not where it is lost, or has many to read. */
bool mail_has_room(const mail *m, uint32_t rank);

/* Sends a copy. To a rank that is lost it is dropped; a rank to which one cannot be sent is lost. */
void mail_send(mail *m, uint32_t rank, letter_kind kind, uint32_t channel, const void *bytes, size_t size_bytes);

/* Takes one letter, without waiting: *out is borrowed until the next call. False: there is none. */
bool mail_take(mail *m, uint32_t *rank, const letter **out);

/* Ranks are lost whose letters fail, or by mail_lose(). */
bool mail_lost(const mail *m, uint32_t rank);
void mail_lose(mail *m, uint32_t rank);

/* Waits for up to `timeout_ms` until all letters are sent, and leaves; with lost ranks it ends the launch with this code. Frees. */
void mail_close(mail *m, int timeout_ms, int code);

#endif
