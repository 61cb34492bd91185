#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_connection.h"

#include "descriptor.h"
#include "host_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A peer whose deadline is past still gets a moment to read why. */
#define LEAST_OUTPUT_MS 1000
/* The kernel cuts it to what it allows; a reply that fits is written by the service thread in one go. */
#define SOCKET_BUFFER_BYTES (1 << 20)

#if defined(MSG_NOSIGNAL)
#define SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL)
#else
#define SEND_FLAGS MSG_DONTWAIT /* SO_NOSIGPIPE is set on the socket */
#endif

bool epptok_i_connection_open(epptok_i_host *host, int accepted)
{
    int fd = epptok_i_above_standard(accepted);
    if (fd < 0) {
        return false;
    }
    epptok_i_connection *connection = calloc(1, sizeof *connection);
    bool made = connection != NULL && pthread_mutex_init(&connection->output_lock, NULL) == 0;
    if (!made || !epptok_i_descriptor_prepare(fd) || !epptok_i_poller_add(host->io->poller, fd, connection)) {
        if (made) {
            pthread_mutex_destroy(&connection->output_lock);
        }
        free(connection);
        close(fd);
        return false;
    }
    int bytes = SOCKET_BUFFER_BYTES;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
#if defined(SO_NOSIGPIPE)
    int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    connection->host = host;
    connection->fd = fd;
    connection->references = 1;
    connection->timer.owner = EPPTOK_I_TIMER_CONNECTION;
    pthread_mutex_lock(&host->lock);
    connection->next = host->connections;
    if (host->connections != NULL) {
        host->connections->previous = connection;
    }
    host->connections = connection;
    host->counters.connections++;
    pthread_mutex_unlock(&host->lock);
    epptok_i_connection_set_timer(connection, epptok_i_deadline_in_ms(host->hello_ms));
    return true;
}

void epptok_i_connection_drop(epptok_i_connection *connection)
{
    if (__atomic_sub_fetch(&connection->references, 1u, __ATOMIC_ACQ_REL) != 0) {
        return;
    }
    pthread_mutex_destroy(&connection->output_lock);
    free(connection->frame);
    free(connection->output);
    free(connection);
}

void epptok_i_connection_close(epptok_i_connection *connection)
{
    epptok_i_host *host = connection->host;
    epptok_i_poller_remove(host->io->poller, connection->fd);
    host->io->partial_bytes -= connection->reserved;
    connection->reserved = 0;
    epptok_i_job *job;
    bool last = false;
    pthread_mutex_lock(&host->lock);
    if (connection->previous == NULL) {
        host->connections = connection->next;
    } else {
        connection->previous->next = connection->next;
    }
    if (connection->next != NULL) {
        connection->next->previous = connection->previous;
    }
    host->counters.connections--;
    epptok_i_timers_remove(&host->timers, &connection->timer);
    job = connection->job;
    if (job != NULL) {
        host->counters.disconnected++;
        epptok_i_retire(host, job, EPPTOK_CANCELLED);
        last = epptok_i_job_drop(job);
    }
    pthread_mutex_unlock(&host->lock);
    if (last) {
        epptok_i_job_destroy(job);
    }
    pthread_mutex_lock(&connection->output_lock);
    /* A child forked while the connection was being made may hold a copy: close() alone would not reach the peer. */
    (void)shutdown(connection->fd, SHUT_RDWR);
    close(connection->fd);
    connection->fd = -1;
    pthread_mutex_unlock(&connection->output_lock);
    if (job != NULL) {
        epptok_i_connection_drop(connection);
    }
    epptok_i_connection_drop(connection);
}

void epptok_i_connection_set_timer(epptok_i_connection *connection, int64_t deadline_ns)
{
    epptok_i_host *host = connection->host;
    pthread_mutex_lock(&host->lock);
    epptok_i_timers_remove(&host->timers, &connection->timer);
    connection->timer.deadline_ns = deadline_ns;
    /* Without memory for it the connection lives on without a limit of time. */
    connection->timed = epptok_i_timers_add(&host->timers, &connection->timer);
    pthread_mutex_unlock(&host->lock);
}

void epptok_i_connection_clear_timer(epptok_i_connection *connection)
{
    if (!connection->timed) {
        return;
    }
    connection->timed = false;
    pthread_mutex_lock(&connection->host->lock);
    epptok_i_timers_remove(&connection->host->timers, &connection->timer);
    pthread_mutex_unlock(&connection->host->lock);
}

/* Bytes taken by the socket, of those that follow the first `done`, or -1 if it is broken. */
static ssize_t write_some(int fd, const epptok_i_bytes *pieces, size_t count, size_t done)
{
    size_t length = epptok_i_pieces_length(pieces, count);
    size_t at = done;
    while (at < length) {
        struct iovec vector[EPPTOK_I_MOST_PIECES];
        struct msghdr message;
        memset(&message, 0, sizeof message);
        message.msg_iov = vector;
        message.msg_iovlen = epptok_i_pieces_after(pieces, count, at, vector);
        ssize_t n = sendmsg(fd, &message, SEND_FLAGS);
        if (n >= 0) {
            at += (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
            break;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return (ssize_t)(at - done);
}

/* output_lock is held. */
static bool keep_for_later(epptok_i_connection *connection, const epptok_i_bytes *pieces, size_t count, size_t done,
                           int64_t deadline_ns)
{
    size_t rest = epptok_i_pieces_length(pieces, count) - done;
    uint8_t *output = realloc(connection->output, connection->output_length + rest);
    if (output == NULL) {
        return false;
    }
    epptok_i_pieces_write(pieces, count, done, output + connection->output_length);
    connection->output = output;
    connection->output_length += rest;
    int64_t least = epptok_i_deadline_in_ms(LEAST_OUTPUT_MS);
    connection->output_deadline_ns = deadline_ns > least ? deadline_ns : least;
    __atomic_store_n(&connection->output_waits, true, __ATOMIC_RELEASE);
    return true;
}

int32_t epptok_i_connection_send(epptok_i_connection *connection, const epptok_i_bytes *pieces, size_t count,
                                 int64_t deadline_ns)
{
    size_t length = epptok_i_pieces_length(pieces, count);
    ssize_t written = 0;
    bool kept = false;
    pthread_mutex_lock(&connection->output_lock);
    if (connection->fd < 0) {
        written = -1;
    } else if (connection->output_length == 0) {
        written = write_some(connection->fd, pieces, count, 0);
    }
    if (written >= 0 && (size_t)written < length) {
        kept = keep_for_later(connection, pieces, count, (size_t)written, deadline_ns);
        if (!kept) {
            /* Half an answer is none: the leader sees the end and closes. */
            (void)shutdown(connection->fd, SHUT_RDWR);
            written = -1;
        }
    }
    pthread_mutex_unlock(&connection->output_lock);
    if (kept) {
        epptok_i_io_attend(connection->host, connection);
    }
    return written >= 0;
}

int32_t epptok_i_connection_send_answer(epptok_i_connection *connection, const epptok_i_answer *answer)
{
    const epptok_i_bytes whole = {answer->bytes, answer->length};
    return epptok_i_connection_send(connection, &whole, 1, 0);
}

int32_t epptok_i_connection_answer(epptok_i_connection *connection, uint64_t call_id, epptok_status status,
                                   const char *message)
{
    epptok_i_answer answer;
    epptok_i_answer_call(&answer, call_id, status, message);
    return epptok_i_connection_send_answer(connection, &answer);
}

void epptok_i_connection_attend(epptok_i_connection *connection)
{
    if (connection->fd < 0) {
        return;
    }
    pthread_mutex_lock(&connection->output_lock);
    bool waits = connection->output_waits;
    int64_t deadline_ns = connection->output_deadline_ns;
    pthread_mutex_unlock(&connection->output_lock);
    if (!waits) {
        return;
    }
    epptok_i_connection_set_timer(connection, deadline_ns);
    epptok_i_poller_watch_writes(connection->host->io->poller, connection->fd, connection, true);
}

void epptok_i_connection_writable(epptok_i_connection *connection)
{
    pthread_mutex_lock(&connection->output_lock);
    const epptok_i_bytes output = {connection->output, connection->output_length};
    size_t left = connection->output_length - connection->output_sent;
    ssize_t written = write_some(connection->fd, &output, 1, connection->output_sent);
    bool done = written >= 0 && (size_t)written == left;
    if (written > 0) {
        connection->output_sent += (size_t)written;
    }
    if (done) {
        free(connection->output);
        connection->output = NULL;
        connection->output_length = connection->output_sent = 0;
        __atomic_store_n(&connection->output_waits, false, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&connection->output_lock);
    if (!done) {
        return; /* a broken socket is readable too */
    }
    epptok_i_poller_watch_writes(connection->host->io->poller, connection->fd, connection, false);
    epptok_i_connection_clear_timer(connection);
}
