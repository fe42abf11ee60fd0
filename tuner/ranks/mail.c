#include "ranks/mail.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/memory.h"

enum { HEAD_BYTES = 3 * sizeof(uint32_t), TAG = 1 };

typedef struct outgoing {
    MPI_Request request;
    uint32_t *letter; /* head and bytes; owned */
} outgoing;

typedef struct peer {
    outgoing *out; /* letters that MPI is sending; owned */
    size_t under_way;
    MPI_Request request; /* receive in progress, or MPI_REQUEST_NULL */
    letter *in;
    bool lost;
} peer;

struct mail {
    int rank, ranks, on_host;
    peer *peers;
    uint32_t next; /* first rank that mail_take() asks */
};

static void allocate(mail *m)
{
    m->peers = memory_new((size_t)m->ranks, sizeof *m->peers);
    for (int i = 0; i < m->ranks; i++) {
        peer *p = &m->peers[i];
        p->request = MPI_REQUEST_NULL;
        /* Only rank 0 exchanges letters with the other ranks. */
        if (i == m->rank || (i != 0 && m->rank != 0))
            continue;
        p->in = memory_new(1, sizeof *p->in);
    }
}

at_status mail_open(uint32_t most, mail **out, at_error *error)
{
    MPI_Comm host;
    mail *m = memory_new(1, sizeof *m);
    *out = m;
    if (MPI_Init(NULL, NULL) != MPI_SUCCESS)
        return error_set(error, AT_IO, "MPI does not start");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m->ranks);
    m->on_host = 1;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) ==
        MPI_SUCCESS) {
        MPI_Comm_size(host, &m->on_host);
        MPI_Comm_free(&host);
    }
    if ((uint32_t)m->ranks > most)
        return error_set(error, AT_USAGE, "there are more than %u ranks, the most that are allowed",
                         most);
    allocate(m);
    return AT_OK;
}

uint32_t mail_rank(const mail *m)
{
    return (uint32_t)m->rank;
}

uint32_t mail_ranks(const mail *m)
{
    return (uint32_t)m->ranks;
}

uint32_t mail_ranks_of_host(const mail *m)
{
    return (uint32_t)m->on_host;
}

bool mail_lost(const mail *m, uint32_t rank)
{
    return m->peers[rank].lost;
}

void mail_lose(mail *m, uint32_t rank)
{
    m->peers[rank].lost = true;
}

static void collect(peer *p)
{
    for (size_t i = p->under_way; i-- > 0;) {
        int done = 0;
        if (MPI_Test(&p->out[i].request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            p->lost = true;
            return;
        }
        if (!done)
            continue;
        free(p->out[i].letter);
        p->out[i] = p->out[--p->under_way];
    }
}

bool mail_has_room(const mail *m, uint32_t rank)
{
    return !m->peers[rank].lost && m->peers[rank].under_way < MAIL_AHEAD;
}

void mail_send(mail *m, uint32_t rank, letter_kind kind, uint32_t channel, const void *bytes,
               size_t size_bytes)
{
    peer *p = &m->peers[rank];
    if (!p->lost)
        collect(p);
    if (p->lost)
        return;
    p->out = memory_require(array_grow(p->out, p->under_way, sizeof *p->out));
    uint32_t *copy = memory_new(HEAD_BYTES + size_bytes, 1);
    copy[0] = (uint32_t)kind;
    copy[1] = channel;
    copy[2] = (uint32_t)size_bytes;
    if (size_bytes)
        memcpy(copy + 3, bytes, size_bytes);
    p->out[p->under_way].letter = copy;
    if (MPI_Isend(copy, (int)(HEAD_BYTES + size_bytes), MPI_BYTE, (int)rank, TAG, MPI_COMM_WORLD,
                  &p->out[p->under_way].request) == MPI_SUCCESS) {
        p->under_way++;
    } else {
        free(copy);
        p->lost = true;
    }
}

/* Continues receiving from a rank. Returns true if p->in holds a new valid letter. */
static bool take_from(mail *m, int rank)
{
    peer *p = &m->peers[rank];
    int there = 0, bytes = 0;
    MPI_Status status;
    if (!p->in || p->lost)
        return false;
    collect(p);
    if (p->request == MPI_REQUEST_NULL) {
        if (MPI_Iprobe(rank, TAG, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS ||
            (there && MPI_Irecv(p->in, sizeof *p->in, MPI_BYTE, rank, TAG, MPI_COMM_WORLD,
                                &p->request) != MPI_SUCCESS)) {
            p->lost = true;
            return false;
        }
        if (!there)
            return false;
    }
    if (MPI_Test(&p->request, &there, &status) != MPI_SUCCESS) {
        p->lost = true;
        return false;
    }
    return there && MPI_Get_count(&status, MPI_BYTE, &bytes) == MPI_SUCCESS &&
           bytes >= (int)HEAD_BYTES && p->in->size_bytes == (uint32_t)bytes - HEAD_BYTES;
}

bool mail_take(mail *m, uint32_t *rank, const letter **out)
{
    for (int i = 0; i < m->ranks; i++) {
        uint32_t from = m->next++ % (uint32_t)m->ranks;
        if (!take_from(m, (int)from))
            continue;
        *rank = from;
        *out = m->peers[from].in;
        return true;
    }
    return false;
}

void mail_close(mail *m, int timeout_ms, int code)
{
    int64_t end_ns = clock_now_ns() + timeout_ms * INT64_C(1000000);
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool lost = false, waiting = true, in_barrier = false;
    int passed = m->peers == NULL;
    while ((waiting || !(passed || lost)) && clock_now_ns() < end_ns) {
        waiting = false;
        for (int i = 0; m->peers && i < m->ranks; i++) {
            /* Receives and drops letters, so that the peer can finish sending a long letter. */
            take_from(m, i);
            lost = lost || m->peers[i].lost;
            waiting = waiting || (!m->peers[i].lost && m->peers[i].under_way > 0);
        }
        if (!in_barrier && !waiting && !lost && !passed)
            in_barrier = MPI_Ibarrier(MPI_COMM_WORLD, &barrier) == MPI_SUCCESS;
        if (in_barrier)
            MPI_Test(&barrier, &passed, MPI_STATUS_IGNORE);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (lost || waiting)
        MPI_Abort(MPI_COMM_WORLD, code); /* MPI_Finalize would wait for the lost rank */
    MPI_Finalize();
    for (int i = 0; m->peers && i < m->ranks; i++) {
        for (size_t k = 0; k < m->peers[i].under_way; k++)
            free(m->peers[i].out[k].letter);
        free(m->peers[i].out);
        free(m->peers[i].in);
    }
    free(m->peers);
    free(m);
}
