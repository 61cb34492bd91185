/*
 * The native host: the queue between callers and the service threads that serve them.
 *
 *     socket connections ── whoever leads ─┐                     ┌─ epptok_host_next()
 *     callers in this process ─────────────┴─► queue ─► services ┤  serve, in JavaScript or C
 *                    ▲                                            └─ epptok_host_reply()
 *                    └───────────── replies ◄───────────────────────┘
 *
 * A service that waits in next() leads (host_lead.h): it reads the sockets itself. While none waits, the I/O thread does.
 *
 * Bytes only: a job is a request frame, a reply is a response frame (docs/protocol.md). The host owns admission, deadlines,
 * disconnects and cancellation, and answers BACKPRESSURE, TIMEOUT, NOT_READY and SHUTTING_DOWN by itself, however busy the
 * services are.
 *
 * The first half is called by the runtime (through koffi); the second half by the library's own transports. Every
 * function may be called from any thread. A host is named by a number, never by an address; 0 is none.
 */
#ifndef EPPTOK_HOST_H
#define EPPTOK_HOST_H

#include "../../include/epptok.h"

/* ---- For the runtime ----------------------------------------------------------------------------------------- */

typedef struct epptok_host_options {
    uint32_t struct_size;
    uint32_t max_queue_calls;      /* 0: 1,024 */
    uint64_t max_queue_bytes;      /* 0: 256 MiB */
    uint64_t max_frame_bytes;      /* 0: 64 MiB */
    const char *socket_path;       /* listen here; NULL: do not */
    const char *socket_group;      /* group name or number: directory 0750, socket 0660; NULL: 0700 and 0600 */
    int32_t control_fd;            /* private child: connections arrive here as descriptors, its end of file ends the host; -1: none.
                                      The host's own once it has started */
    uint32_t hello_ms;             /* a connection that has not said HELLO by then is closed; 0: 10,000 */
} epptok_host_options;

/* Starts a host; no socket and no control_fd: no I/O thread. 0 on failure, with a NUL-terminated reason in `message`. */
EPPTOK_API uint32_t epptok_host_start(const epptok_host_options *options, char *message, size_t message_capacity);

/* Until it is called, calls are answered NOT_READY with `message`. status OK: ready. */
EPPTOK_API void epptok_host_set_ready(uint32_t host, uint32_t status, const char *message);

/* What epptok_host_next() found. */
#define EPPTOK_HOST_JOB 1       /* a job is in `buffer`; job->ticket names it */
#define EPPTOK_HOST_IDLE 0      /* nothing within wait_ms */
#define EPPTOK_HOST_GROW (-1)   /* the next job needs job->length bytes; it is still queued */
#define EPPTOK_HOST_STOPPED (-2) /* stopped, or no such host */

typedef struct epptok_host_job {
    uint64_t ticket;
    uint64_t length;        /* bytes of the request frame */
    uint64_t deadline_ms;   /* milliseconds left, at least 1 */
    uint64_t queue_us;      /* time spent in the queue */
} epptok_host_job;

/* Which queue a service takes from. */
#define EPPTOK_HOST_QUEUE_CALLS 0u   /* TOKENIZE and DETOKENIZE */
#define EPPTOK_HOST_QUEUE_CONTROL 1u /* STATS, for the runtime's own thread */

/*
 * Waits at most wait_ms for a job whose frame it puts into `buffer`; until then it may put others' bytes there. A job whose deadline has passed is never handed out.
 * First in, first out, but calls of more than 256 KiB never hold all services: one thread stays free for the others, if
 * there are two. A thread that ends without a reply to the last call it took ends that call with UNAVAILABLE.
 */
EPPTOK_API int32_t epptok_host_next(uint32_t host, uint32_t queue, uint8_t *buffer, size_t capacity,
                                    epptok_host_job *job, uint32_t wait_ms);

/* Copies `frame` as the answer of `ticket`. 1 if somebody still waited for it, 0 if not (expired, cancelled, disconnected). */
EPPTOK_API int32_t epptok_host_reply(uint32_t host, uint64_t ticket, const uint8_t *frame, size_t length);

/* The same for a frame whose IDS, its last section, lies elsewhere: `frame` is all that stands before it. */
EPPTOK_API int32_t epptok_host_reply_with_ids(uint32_t host, uint64_t ticket, const uint8_t *frame, size_t length,
                                              const uint32_t *ids, size_t count);

/* 1 when a caller waits in the queue and no service has called next() yet: the services are started on first use. */
EPPTOK_API int32_t epptok_host_wanted(uint32_t host);

/* Numbers for metrics, in the order of this struct. */
typedef struct epptok_host_counters {
    uint64_t queued_calls, queued_bytes, running_calls, connections;          /* now; STATS is no such call */
    uint64_t accepted, refused_backpressure, expired, disconnected, bad_frames; /* since the start */
} epptok_host_counters;
EPPTOK_API int32_t epptok_host_counters_read(uint32_t host, epptok_host_counters *counters);

/*
 * Answers everything queued and running with SHUTTING_DOWN, wakes every next() with STOPPED, closes the sockets, joins
 * the I/O thread and releases the host. Services that are inside serve() get 0 from reply(). Safe to call twice.
 */
EPPTOK_API void epptok_host_stop(uint32_t host);

/* ---- In-process handles, for the runtime ----------------------------------------------------------------------- */

/*
 * Calls back into JavaScript on the thread that attached, with the token of an exchange. 1 if it has answered with
 * epptok_exchange_put(), 0 if not (an exception gives 0): then the call is INTERNAL.
 */
typedef int32_t (*epptok_serve_callback)(uint64_t exchange);

/*
 * Makes a handle onto `host` in this process, owned by the calling thread: calls of that thread go to `callback` (may be
 * NULL), those of any other thread to the queue. NULL on failure, with a reason.
 */
EPPTOK_API epptok *epptok_host_attach(uint32_t host, epptok_serve_callback callback, uint32_t default_timeout_ms,
                                      char *message, size_t message_capacity);

/*
 * However the calling thread ends, `host` is stopped then, and `handle` (may be NULL) is closed. A JavaScript thread that is
 * terminated or runs out of heap runs no handler of its own, and calls would wait for services that died with it.
 * 0 if memory ran out, else 1.
 */
EPPTOK_API int32_t epptok_host_end_with_thread(uint32_t host, epptok *handle);

/* Inside the callback: the request frame's length; copied into `buffer` if that fits capacity. 0: no such exchange. */
EPPTOK_API size_t epptok_exchange_take(uint64_t exchange, uint8_t *buffer, size_t capacity);
/* Inside the callback: 0 while the call is wanted, else the status to give up with (CANCELLED, SHUTTING_DOWN, TIMEOUT). */
EPPTOK_API uint32_t epptok_exchange_abandoned(uint64_t exchange);
/* Inside the callback: copies the response frame. 0 if memory ran out or the exchange is unknown, else 1. */
EPPTOK_API int32_t epptok_exchange_put(uint64_t exchange, const uint8_t *frame, size_t length);

/* ---- For the direct transport ---------------------------------------------------------------------------------- */

/*
 * Queues a request frame. `frame` is borrowed until host_wait() returns for the ticket. deadline_ns is CLOCK_MONOTONIC.
 * Returns OK and *ticket, or why not (BACKPRESSURE, SHUTTING_DOWN, UNAVAILABLE, OUT_OF_MEMORY, INVALID_REQUEST above
 * max_frame_bytes, or what set_ready() said) with a reason in `message`.
 */
epptok_status epptok_i_host_submit(uint32_t host, const uint8_t *frame, size_t length, int64_t deadline_ns,
                                   uint64_t *ticket, char *message, size_t message_capacity);

/*
 * Waits for the answer until the deadline. OK: *reply is malloc'ed, the caller's. Otherwise TIMEOUT, SHUTTING_DOWN,
 * UNAVAILABLE (the service died), OUT_OF_MEMORY or what cancel() said. Called exactly once per ticket; the ticket is gone afterwards.
 */
epptok_status epptok_i_host_wait(uint32_t host, uint64_t ticket, uint8_t **reply, size_t *length);

/* Makes host_wait() return `status` at once. */
void epptok_i_host_cancel(uint32_t host, uint64_t ticket, epptok_status status);

#endif
