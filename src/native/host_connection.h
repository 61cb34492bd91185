/*
 * One peer. The leader (host_lead.h) reads; whoever answers a call writes: a service thread sends its reply itself, and leaves
 * to the leader only what the socket did not take.
 *
 * A call ends (connection->job = NULL, under host->lock) before its answer is written: once the peer can have read it, its
 * next frame is welcome. What it sends earlier is a breach of the protocol.
 */
#ifndef EPPTOK_HOST_CONNECTION_H
#define EPPTOK_HOST_CONNECTION_H

#include "frame.h"
#include "host_answer.h"
#include "host_state.h"

struct epptok_i_connection {
    epptok_i_host *host;
    epptok_i_connection *next, *previous; /* host->connections; host->lock */
    epptok_i_job *job;                    /* the call in flight; host->lock */
    unsigned references;                  /* atomic: the list, the call in flight or whoever answers it */
    epptok_i_timer timer; /* for HELLO, for the rest of a frame, for unread output; set by the leader */
    bool timed;           /* the timer runs; the leader's */

    /* Of the leader alone: the frame that is coming in. */
    bool greeted;
    bool discards; /* no memory is left for it: read to its end, then BACKPRESSURE */
    uint8_t header[EPPTOK_I_HEADER_BYTES];
    uint8_t *frame; /* from the header's end on; it grows as bytes come, whatever length was announced */
    size_t received, capacity, length;
    size_t reserved; /* its part of io->partial_bytes */
    int64_t first_byte_ns;

    /* output_lock. */
    pthread_mutex_t output_lock;
    int fd;          /* -1: closed */
    uint8_t *output; /* what the socket did not take yet */
    size_t output_length, output_sent;
    int64_t output_deadline_ns;
    bool
        output_waits; /* written under the lock, read by the leader without: it never lags behind what a peer has read */

    epptok_i_connection *attention; /* host->io's list of connections that need the leader */
    bool needs_attention;
};

/* Takes over the descriptor. false: it is closed. The leader. */
bool epptok_i_connection_open(epptok_i_host *host, int fd);
void epptok_i_connection_close(epptok_i_connection *connection);
void epptok_i_connection_drop(epptok_i_connection *connection);

#define EPPTOK_I_MOST_PIECES 3u

/* 1 if the socket took it or will take it later; 0 if the connection is gone. Any thread, without host->lock. */
int32_t epptok_i_connection_send(epptok_i_connection *connection, const epptok_i_bytes *pieces, size_t count,
                                 int64_t deadline_ns);
int32_t epptok_i_connection_send_answer(epptok_i_connection *connection, const epptok_i_answer *answer);
int32_t epptok_i_connection_answer(epptok_i_connection *connection, uint64_t call_id, epptok_status status,
                                   const char *message);

/* Called by the leader. */
void epptok_i_connection_readable(epptok_i_connection *connection);
void epptok_i_connection_writable(epptok_i_connection *connection);
void epptok_i_connection_attend(epptok_i_connection *connection);
void epptok_i_connection_set_timer(epptok_i_connection *connection, int64_t deadline_ns);
void epptok_i_connection_clear_timer(epptok_i_connection *connection);

/* host_call.c: a whole frame came in; false: the connection must be closed. Takes over `frame`, unless it stands in the landing. */
bool epptok_i_connection_call(epptok_i_connection *connection, uint8_t *frame, size_t length, int64_t arrived_ns,
                              bool in_landing);
/* Ends a call of either kind, in the queue or running, with an answer of the host's own. Without host->lock. */
void epptok_i_job_end(epptok_i_host *host, uint64_t ticket, epptok_status status, const char *message);
/* The leader: ends calls of sockets whose deadline has passed, closes connections whose time is up. Returns the nearest deadline. */
int64_t epptok_i_jobs_expire(epptok_i_host *host, bool *ended);
void epptok_i_explain_limit(const epptok_i_host *host, uint64_t length, char *message, size_t capacity);

#endif
