/* Messages ("letters") between the ranks, over MPI, which no other module uses. Sending and
 * receiving never block, so that a slow, hanging or lost rank does not stop the others. */
#ifndef AUTOTUNE_RANKS_MAIL_H
#define AUTOTUNE_RANKS_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { MAIL_MOST_BYTES = 64 * 1024, MAIL_AHEAD = 32 };

typedef enum letter_kind {
    LETTER_HELLO = 1, /* to rank 0: its number of cores (u32) */
    LETTER_OPEN,      /* from rank 0: start the named worker for this channel */
    LETTER_DATA,      /* bytes of a channel */
    LETTER_CLOSE,     /* the socket at the sender's end of the channel is closed */
    LETTER_BEAT,      /* heartbeat, without content */
    LETTER_QUIT       /* from rank 0: the run is over */
} letter_kind;

typedef struct letter {
    uint32_t kind, channel, size_bytes;
    unsigned char bytes[MAIL_MOST_BYTES];
} letter;

typedef struct mail mail;

/* Joins the MPI launch. Returns AT_IO if MPI does not start, AT_USAGE above `most` ranks. The
 * caller calls mail_close(), also after an error. */
at_status mail_open(uint32_t most, mail **out, at_error *error);
uint32_t mail_rank(const mail *m);
uint32_t mail_ranks(const mail *m);
uint32_t mail_ranks_of_host(const mail *m); /* number of ranks on this host */

/* Returns true if the rank can take another LETTER_DATA: it is not lost and fewer than MAIL_AHEAD
 * letters to it are unsent. */
bool mail_has_room(const mail *m, uint32_t rank);

/* Sends a copy of the bytes. Drops letters to a lost rank. A failed send makes the rank lost. */
void mail_send(mail *m, uint32_t rank, letter_kind kind, uint32_t channel, const void *bytes,
               size_t size_bytes);

/* Receives a letter, borrowed until the next call. Returns false if no letter has arrived. */
bool mail_take(mail *m, uint32_t *rank, const letter **out);

/* A rank is lost after a failed send or receive, or after mail_lose(). */
bool mail_lost(const mail *m, uint32_t rank);
void mail_lose(mail *m, uint32_t rank);

/* Waits up to `timeout_ms` until all letters are sent, and drops arriving letters. Then leaves the
 * launch and frees `m`. If a rank is lost or letters are still unsent, ends all ranks of the launch
 * with exit code `code`. */
void mail_close(mail *m, int timeout_ms, int code);

#endif
