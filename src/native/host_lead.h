/*
 * Who polls the sockets. One thread at a time leads: it alone runs turns of the I/O loop (host_io.h), and what is said to be
 * the leader's is touched by nobody else. A service that finds no call leads while it waits for one, so that a request is
 * read by the thread that serves it, without a handoff. It leaves the lead with the call in hand: to another service that
 * waits, or else to nobody; the I/O thread takes over what nobody has led for a moment, and gives it back to the first
 * service that waits again, or to nobody as soon as it has read a call: the service that takes this one may be back in a
 * moment, and find the next one read already each time, so that it would never wait. Short calls so never wake the I/O thread,
 * and behind long ones it reads, refuses and expires.
 *
 * Under host->lock, which also orders what one leader did before what the next one does.
 */
#ifndef EPPTOK_HOST_LEAD_H
#define EPPTOK_HOST_LEAD_H

#include "host_state.h"

typedef enum epptok_i_leader { EPPTOK_I_NOBODY, EPPTOK_I_SERVICE, EPPTOK_I_IO_THREAD } epptok_i_leader;

typedef struct epptok_i_lead {
    epptok_i_leader leader;
    bool takes_next;   /* the leader is a service that will take the next call itself: nobody need be woken for it */
    bool has_called;   /* the leader is the I/O thread, and has queued a call */
    bool wanted;       /* a service waits for the I/O thread to give the lead back, and has woken it */
    uint64_t calls;    /* how often it was left for a call */
    int64_t left_ns;   /* since when nobody leads */
    bool standing_by;  /* the I/O thread sleeps until it is signalled, not just for a moment */
    pthread_cond_t io_thread;
} epptok_i_lead;

/* host->lock is held for all of these; none does anything for a host without sockets. */

/*
 * true: the calling service leads now, or goes on (`leads`), and has lent `buffer` (may be NULL) for its next call. false: another
 * does; the I/O thread was asked to give it back.
 */
bool epptok_i_lead_take(epptok_i_host *host, bool leads, uint8_t *buffer, size_t capacity);
/* The calling service leaves, `serves`: with a call in hand. Signal what comes back, if anything does, after unlocking. */
epptok_i_waiter *epptok_i_lead_leave(epptok_i_host *host, bool serves);
/* The calling service does not lead, and goes to serve a call from the queue: if it was woken to lead, nobody does now. */
void epptok_i_lead_missed(epptok_i_host *host);
/* `call` stands in the buffer that the leader lent, and is served by it; what it reads next goes elsewhere. */
void epptok_i_lead_lands(epptok_i_host *host, const epptok_host_job *call);
/* A call of a socket was queued, by the leader: true if it is a service, which takes it. */
bool epptok_i_lead_takes(epptok_i_host *host);
/* Makes a service that leads look at the queue. */
void epptok_i_lead_interrupt(epptok_i_host *host);

/* The I/O thread: waits until it leads, or (false) the host has ended. Nobody else leads in either case. */
bool epptok_i_lead_stand_by(epptok_i_host *host);
/* The I/O thread, between two turns: goes on leading if true, else it has left the lead to a service that waits. */
bool epptok_i_lead_keep(epptok_i_host *host);

#endif
