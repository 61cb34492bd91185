/*
 * The I/O loop: it accepts, reads whole frames, keeps the deadlines of sockets, and finishes what others could not write. Its
 * turns are run by whichever thread leads (host_lead.h); the I/O thread leads when no service does.
 */
#ifndef EPPTOK_HOST_IO_H
#define EPPTOK_HOST_IO_H

#include "host_lead.h"
#include "host_poller.h"
#include "host_state.h"
#include "reason.h"

#include <limits.h>

#define EPPTOK_I_SCRATCH_BYTES 65536u

/* A listening socket and what is needed to remove its file only while it is still ours. */
typedef struct epptok_i_listener {
    int fd; /* -1: none */
    char path[PATH_MAX]; /* absolute */
    uint64_t device, inode;
} epptok_i_listener;

/*
 * Where the leader reads what it does not know the length of yet. A service lends the buffer that its next call is wanted in: a
 * call that comes whole, while no other waits, stays there, and is served without having been copied or queued. The others that
 * have come by then are read behind it, into the queue: left in their sockets they would count for no limit, and a peer that sends
 * its next call quickly enough would be found first again each time.
 */
typedef struct epptok_i_landing {
    uint8_t *bytes;
    size_t capacity;
    bool lent;               /* by a service, which takes what lands */
    epptok_host_job landed;  /* ticket 0: nothing has; else the buffer is the call's, and no longer lent */
} epptok_i_landing;

struct epptok_i_io {
    pthread_t thread;
    epptok_i_lead lead; /* host->lock */
    /* Of the leader: */
    epptok_i_landing landing;
    epptok_i_poller *poller;
    epptok_i_listener listener;
    bool accepts; /* the listener is polled: not while descriptors are exhausted */
    int64_t accepts_again_ns;
    int control_fd;            /* -1: none */
    int wake_read, wake_write; /* a pipe */
    uint64_t partial_bytes;    /* held for frames that are still coming in */
    uint8_t scratch[EPPTOK_I_SCRATCH_BYTES];

    pthread_mutex_t attention_lock;
    epptok_i_connection *attention;
    bool woken; /* a byte is in the pipe */
};

/* false with a reason; nothing is left open then, and control_fd is still the caller's. */
bool epptok_i_io_start(epptok_i_host *host, const epptok_host_options *options, epptok_i_reason *reason);
/* After the host has ended: writes what is left for a moment, closes everything, joins the thread. */
void epptok_i_io_join(epptok_i_host *host);
void epptok_i_io_free(epptok_i_io *io);
/* In the child of a fork: closes this process's copies of the descriptors. */
void epptok_i_io_abandon(epptok_i_host *host);
/* One turn, by the leader, without host->lock: does what is due, waits for sockets until then at the latest, serves these. */
void epptok_i_io_turn(epptok_i_host *host, int64_t until);
/* Makes the leader look at `connection` (may be NULL: at the host). */
void epptok_i_io_attend(epptok_i_host *host, epptok_i_connection *connection);

/* host_accept.c */
void epptok_i_accept_some(epptok_i_host *host);
/* After a pause for want of descriptors. */
void epptok_i_accept_again(epptok_i_host *host);
/* At its end the host ends. */
void epptok_i_control_readable(epptok_i_host *host);

/* host_listen.c */
bool epptok_i_listen(epptok_i_listener *listener, const char *path, const char *group, epptok_i_reason *reason);
void epptok_i_unlisten(epptok_i_listener *listener);
bool epptok_i_descriptor_prepare(int fd);

#endif
