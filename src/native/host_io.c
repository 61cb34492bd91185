#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_io.h"

#include "descriptor.h"
#include "host_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 64
#define LAST_FLUSH_MS 200

static void take_attention(epptok_i_host *host)
{
    epptok_i_io *io = host->io;
    char bytes[64];
    while (read(io->wake_read, bytes, sizeof bytes) > 0) {
        continue;
    }
    pthread_mutex_lock(&io->attention_lock);
    io->woken = false;
    epptok_i_connection *first = io->attention;
    io->attention = NULL;
    for (epptok_i_connection *c = first; c != NULL; c = c->attention) {
        c->needs_attention = false;
    }
    pthread_mutex_unlock(&io->attention_lock);
    while (first != NULL) {
        epptok_i_connection *connection = first;
        first = connection->attention;
        epptok_i_connection_attend(connection);
        epptok_i_connection_drop(connection);
    }
}

void epptok_i_io_attend(epptok_i_host *host, epptok_i_connection *connection)
{
    epptok_i_io *io = host->io;
    if (io == NULL) {
        return;
    }
    pthread_mutex_lock(&io->attention_lock);
    if (connection != NULL && !connection->needs_attention) {
        connection->needs_attention = true;
        __atomic_add_fetch(&connection->references, 1u, __ATOMIC_RELAXED);
        connection->attention = io->attention;
        io->attention = connection;
    }
    bool wake = !io->woken;
    io->woken = true;
    pthread_mutex_unlock(&io->attention_lock);
    if (wake) {
        while (write(io->wake_write, "", 1) < 0 && errno == EINTR) {
            continue;
        }
    }
}

static void handle(epptok_i_host *host, const epptok_i_event *event)
{
    epptok_i_io *io = host->io;
    if (event->data == &io->listener) {
        epptok_i_accept_some(host);
    } else if (event->data == &io->control_fd) {
        epptok_i_control_readable(host);
    } else if (event->data == &io->wake_read) {
        take_attention(host);
    } else {
        epptok_i_connection *connection = event->data;
        if (event->writable) {
            epptok_i_connection_writable(connection);
        }
        if (event->readable) {
            epptok_i_connection_readable(connection);
        }
    }
}

static bool any_output_waits(const epptok_i_host *host)
{
    for (epptok_i_connection *c = host->connections; c != NULL; c = c->next) {
        if (__atomic_load_n(&c->output_waits, __ATOMIC_ACQUIRE)) {
            return true;
        }
    }
    return false;
}

/* The last answers are out or wait for their peers: give these a moment, then close. Nobody leads any more. */
static void finish(epptok_i_host *host)
{
    int64_t until = epptok_i_deadline_in_ms(LAST_FLUSH_MS);
    while (any_output_waits(host) && epptok_i_now_ns() < until) {
        for (epptok_i_connection *c = host->connections; c != NULL; c = c->next) {
            if (__atomic_load_n(&c->output_waits, __ATOMIC_ACQUIRE)) {
                epptok_i_connection_writable(c);
            }
        }
        if (any_output_waits(host)) {
            usleep(1000);
        }
    }
    while (host->connections != NULL) {
        epptok_i_connection_close(host->connections);
    }
    take_attention(host);
    epptok_i_unlisten(&host->io->listener);
}

void epptok_i_io_turn(epptok_i_host *host, int64_t until)
{
    epptok_i_io *io = host->io;
    epptok_i_event events[EVENTS];
    bool ended = false;
    int64_t nearest = epptok_i_jobs_expire(host, &ended);
    if (ended) {
        return;
    }
    if (nearest > io->accepts_again_ns) {
        nearest = io->accepts_again_ns;
    }
    if (nearest > until) {
        nearest = until;
    }
    int timeout_ms = nearest == EPPTOK_I_NEVER ? -1 : epptok_i_poll_ms(nearest);
    size_t count = epptok_i_poller_wait(io->poller, events, EVENTS, timeout_ms);
    for (size_t i = 0; i < count; i++) {
        handle(host, &events[i]);
    }
    if (!io->accepts && io->listener.fd >= 0) {
        epptok_i_accept_again(host);
    }
}

static void *run(void *argument)
{
    epptok_i_host *host = argument;
    pthread_mutex_lock(&host->lock);
    while (epptok_i_lead_stand_by(host)) {
        do {
            pthread_mutex_unlock(&host->lock);
            epptok_i_io_turn(host, EPPTOK_I_NEVER);
            pthread_mutex_lock(&host->lock);
        } while (epptok_i_lead_keep(host));
    }
    pthread_mutex_unlock(&host->lock);
    finish(host);
    return NULL;
}

static bool open_wake(epptok_i_io *io)
{
    int ends[2];
#if defined(__linux__)
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return false;
    }
#else
    if (pipe(ends) != 0) {
        return false;
    }
#endif
    io->wake_read = epptok_i_above_standard(ends[0]);
    io->wake_write = epptok_i_above_standard(ends[1]);
    return io->wake_read >= 0 && io->wake_write >= 0 && epptok_i_descriptor_prepare(io->wake_read) &&
           epptok_i_descriptor_prepare(io->wake_write);
}

/* Handlers of the program that we are in shall not run on our thread. */
static int start_thread(epptok_i_host *host)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&host->io->thread, NULL, run, host);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static bool open_all(epptok_i_host *host, const epptok_host_options *options, epptok_i_reason *reason)
{
    epptok_i_io *io = host->io;
    char text[128];
    io->poller = epptok_i_poller_open();
    if (io->poller == NULL || !open_wake(io) || !epptok_i_poller_add(io->poller, io->wake_read, &io->wake_read)) {
        epptok_i_because(reason, EPPTOK_INIT_FAILED, "cannot prepare the I/O thread: %s",
                         epptok_i_errno_text(errno, text, sizeof text));
        return false;
    }
    if (options->control_fd >= 0 && (!epptok_i_descriptor_prepare(options->control_fd) ||
                                     !epptok_i_poller_add(io->poller, options->control_fd, &io->control_fd))) {
        epptok_i_because(reason, EPPTOK_INIT_FAILED, "control descriptor %d: %s", options->control_fd,
                         epptok_i_errno_text(errno, text, sizeof text));
        return false;
    }
    io->control_fd = options->control_fd;
    if (options->socket_path == NULL) {
        return true;
    }
    if (!epptok_i_listen(&io->listener, options->socket_path, options->socket_group, reason)) {
        return false;
    }
    io->accepts = epptok_i_poller_add(io->poller, io->listener.fd, &io->listener);
    if (!io->accepts) {
        epptok_i_because(reason, EPPTOK_INIT_FAILED, "cannot watch %s", options->socket_path);
    }
    return io->accepts;
}

static epptok_i_io *make(void)
{
    epptok_i_io *io = calloc(1, sizeof *io);
    if (io == NULL || epptok_i_condition_init(&io->lead.io_thread) != 0) {
        free(io);
        return NULL;
    }
    if (pthread_mutex_init(&io->attention_lock, NULL) != 0) {
        pthread_cond_destroy(&io->lead.io_thread);
        free(io);
        return NULL;
    }
    return io;
}

bool epptok_i_io_start(epptok_i_host *host, const epptok_host_options *options, epptok_i_reason *reason)
{
    epptok_i_io *io = make();
    if (io == NULL) {
        epptok_i_out_of_memory(reason);
        return false;
    }
    io->listener.fd = io->control_fd = io->wake_read = io->wake_write = -1;
    io->accepts_again_ns = EPPTOK_I_NEVER;
    pthread_mutex_lock(&host->lock);
    host->io = io;
    pthread_mutex_unlock(&host->lock);
    if (open_all(host, options, reason)) {
        int error = start_thread(host);
        if (error == 0) {
            return true;
        }
        char text[128];
        epptok_i_because(reason, EPPTOK_INIT_FAILED, "cannot start the I/O thread: %s",
                         epptok_i_errno_text(error, text, sizeof text));
        epptok_i_unlisten(&io->listener);
    }
    io->control_fd = -1; /* the caller's, as before */
    pthread_mutex_lock(&host->lock);
    host->io = NULL;
    pthread_mutex_unlock(&host->lock);
    epptok_i_io_free(io);
    return false;
}

void epptok_i_io_join(epptok_i_host *host)
{
    if (host->io == NULL) {
        return;
    }
    epptok_i_io_attend(host, NULL);
    pthread_join(host->io->thread, NULL);
}

void epptok_i_io_free(epptok_i_io *io)
{
    if (io == NULL) {
        return;
    }
    epptok_i_unlisten(&io->listener);
    epptok_i_poller_close(io->poller);
    if (io->control_fd >= 0) {
        close(io->control_fd);
    }
    if (io->wake_read >= 0) {
        close(io->wake_read);
    }
    if (io->wake_write >= 0) {
        close(io->wake_write);
    }
    /* Of services that wrote to a connection while it was being closed. */
    while (io->attention != NULL) {
        epptok_i_connection *connection = io->attention;
        io->attention = connection->attention;
        epptok_i_connection_drop(connection);
    }
    pthread_mutex_destroy(&io->attention_lock);
    pthread_cond_destroy(&io->lead.io_thread);
    free(io);
}

void epptok_i_io_abandon(epptok_i_host *host)
{
    epptok_i_io *io = host->io;
    if (io == NULL) {
        return;
    }
    int poller = io->poller == NULL ? -1 : epptok_i_poller_fd(io->poller);
    if (poller >= 0) {
        close(poller);
    }
    if (io->listener.fd >= 0) {
        close(io->listener.fd);
    }
    if (io->control_fd >= 0) {
        close(io->control_fd);
    }
    if (io->wake_read >= 0) {
        close(io->wake_read);
    }
    if (io->wake_write >= 0) {
        close(io->wake_write);
    }
    for (epptok_i_connection *c = host->connections; c != NULL; c = c->next) {
        if (c->fd >= 0) {
            close(c->fd);
        }
    }
}
