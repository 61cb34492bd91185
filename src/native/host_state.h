/*
 * What the parts of the native host share. Locks, outermost first:
 *
 *     the table of hosts  >  host->lock  >  connection->output_lock  >  host->io->attention_lock
 *
 * host->lock is held for pointer work only: frames are copied and written to sockets without it. A thread that is woken
 * waits on a condition variable of its own (a waiter), and the waiter outlives the wait, so that it can be signalled
 * after the lock is released: the woken thread then never runs into a lock that its waker still holds.
 */
#ifndef EPPTOK_HOST_STATE_H
#define EPPTOK_HOST_STATE_H

#include "clock.h"
#include "host.h"
#include "host_timers.h"

#include <pthread.h>
#include <stdbool.h>

#define EPPTOK_I_NS_PER_MS 1000000ll
#define EPPTOK_I_NEVER INT64_MAX

typedef struct epptok_i_host epptok_i_host;
typedef struct epptok_i_job epptok_i_job;
typedef struct epptok_i_connection epptok_i_connection;
typedef struct epptok_i_io epptok_i_io;

/* Where one thread waits. Taken from the host's pool and given back to it, freed with the host. */
typedef struct epptok_i_waiter {
    pthread_cond_t cond;
    struct epptok_i_waiter *next, *previous;
    bool idle; /* on a queue's stack of idle services */
} epptok_i_waiter;

typedef enum epptok_i_job_state {
    EPPTOK_I_QUEUED,
    EPPTOK_I_COPYING, /* a service copies the frame, without the lock */
    EPPTOK_I_RUNNING,
    EPPTOK_I_REPLYING, /* a service copies the reply of a direct call, without the lock */
    EPPTOK_I_SETTLED   /* nobody waits for a reply any more: answered, expired or given up */
} epptok_i_job_state;

struct epptok_i_job {
    uint64_t ticket;               /* never given out twice */
    epptok_i_job *chain;           /* in the ticket table */
    epptok_i_job *next, *previous; /* in the queue */
    epptok_i_timer timer; /* the call's deadline; in the heap for socket calls only: a direct caller wakes itself */
    int64_t queued_ns;
    uint8_t *frame; /* a socket job's own; borrowed from a direct caller */
    size_t length;
    uint64_t call_id;
    uint32_t queue;
    epptok_i_job_state state;
    unsigned references;             /* the ticket table, a service that copies */
    bool copying;                    /* a service still reads `frame` */
    bool over;                       /* settled: written under the lock, read without by a direct caller that spins */
    bool direct;                     /* a caller in this process, else a connection */
    epptok_i_connection *connection; /* until the call is settled */
    epptok_i_waiter *waiter;         /* the direct caller's */
    epptok_status status;            /* once settled */
    uint8_t *reply;
    size_t reply_length;
};

typedef struct epptok_i_queue {
    epptok_i_job *head, *tail;
    epptok_i_waiter *idle; /* services in next(), the last to come first: its caches are warm */
    uint64_t calls; /* changed under the lock, read without by a service that spins */
    uint64_t bytes, running;
    bool spinning;     /* a service is; atomic */
    bool served;       /* next() was called */
    unsigned services; /* threads that have called next() and have not ended */
    unsigned large;    /* of these, how many serve a large call */
} epptok_i_queue;

#define EPPTOK_I_QUEUES 2u

struct epptok_i_host {
    pthread_mutex_t lock;
    uint32_t number;
    unsigned references;     /* guarded by the table */
    epptok_i_host *forsaken; /* in a forked child: the next host of the parent */

    uint64_t max_queue_calls, max_queue_bytes, max_frame_bytes;
    uint32_t hello_ms;
    epptok_status ready;
    char ready_message[512];

    bool ended; /* no calls are taken any more */
    bool stopping, stopped;
    pthread_cond_t changed; /* copying or stopped */
    unsigned copying;       /* services that read a frame without the lock */

    epptok_i_queue queues[EPPTOK_I_QUEUES];
    epptok_i_job **tickets; /* a hash table: the ticket modulo its size */
    size_t ticket_slots, jobs;
    uint64_t last_ticket;
    epptok_i_timers timers;
    epptok_i_waiter *free_waiters;
    epptok_host_counters counters;

    bool caller_spins; /* a direct caller does; atomic */

    epptok_i_connection *connections;
    epptok_i_io *io; /* NULL: no socket and no control descriptor */
};

/* A prompt of more takes a worker tens of milliseconds and longer; src/protocol/large.ts says the same. */
#define EPPTOK_I_LARGE_BYTES (256u * 1024u)

/* ---- host_table.c ---- */

/* Enters a host with one reference; false if there is no free number. */
bool epptok_i_host_enter(epptok_i_host *host);
/* NULL if there is no such host, or it is of the parent of a fork. Give it back with release. */
epptok_i_host *epptok_i_host_acquire(uint32_t number);
void epptok_i_host_release(epptok_i_host *host);
/* The number means nothing from now on; drops the reference of enter. */
void epptok_i_host_leave(epptok_i_host *host);

/* ---- host.c ---- */

void epptok_i_host_destroy(epptok_i_host *host);
/* Takes no calls from now on: settles every job with SHUTTING_DOWN, wakes every service. host->lock is held. */
void epptok_i_host_end(epptok_i_host *host);

/* ---- host_queue.c: host->lock is held ---- */

/* OK if a call of that many bytes may enter; else why not, with a reason. */
epptok_status epptok_i_admit(epptok_i_host *host, uint32_t queue, size_t length, char *message, size_t capacity);
/* Appends the job, gives it its ticket and wakes a service: signal the waiter that comes back after unlocking. */
bool epptok_i_enqueue(epptok_i_host *host, epptok_i_job *job, epptok_i_waiter **service);
/* Enters a job that is settled already into the ticket table alone. */
bool epptok_i_enter_ticket(epptok_i_host *host, epptok_i_job *job);
/* Gives the job its ticket and its deadline without queueing it: it is running already. */
bool epptok_i_enter_running(epptok_i_host *host, epptok_i_job *job);
epptok_i_job *epptok_i_find_ticket(epptok_i_host *host, uint64_t ticket);
/* Out of the queue, into the hands of a service. */
void epptok_i_dequeue(epptok_i_host *host, epptok_i_job *job);
/* Ends the job for whoever waits for it: out of the queue, no deadline, no longer running. */
void epptok_i_settle(epptok_i_host *host, epptok_i_job *job, epptok_status status);
/* Settles a job of a socket and takes it out of the ticket table. Its connection's reference passes to the caller. */
epptok_i_connection *epptok_i_retire(epptok_i_host *host, epptok_i_job *job, epptok_status status);
/* true: that was the last one, destroy the job after unlocking. */
bool epptok_i_job_drop(epptok_i_job *job);
void epptok_i_forget_ticket(epptok_i_host *host, epptok_i_job *job);
void epptok_i_job_destroy(epptok_i_job *job);

/* NULL if memory ran out. */
epptok_i_waiter *epptok_i_waiter_take(epptok_i_host *host);
void epptok_i_waiter_give(epptok_i_host *host, epptok_i_waiter *waiter);
void epptok_i_idle_push(epptok_i_queue *queue, epptok_i_waiter *waiter);
void epptok_i_idle_remove(epptok_i_queue *queue, epptok_i_waiter *waiter);

/* ---- host_service.c: host->lock is held ---- */

/* A call has landed with the calling thread, which leads: true if that is a service, and this is the call that it would serve next. */
bool epptok_i_service_takes(const epptok_i_host *host, const epptok_i_job *job, int64_t now);
/* Then it serves it. false: memory ran out. */
bool epptok_i_service_begin(epptok_i_host *host, epptok_i_job *job, int64_t now);
/* Without the lock: the calling thread no longer owes an answer to that call. */
void epptok_i_service_replied(const epptok_i_host *host, uint64_t ticket);

#endif
