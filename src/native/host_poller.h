/* Which descriptors can be read or written: epoll on Linux, poll elsewhere. For one thread, level-triggered. */
#ifndef EPPTOK_HOST_POLLER_H
#define EPPTOK_HOST_POLLER_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__linux__) && !defined(EPPTOK_POLLER_POLL)
#define EPPTOK_POLLER_EPOLL 1
#endif

typedef struct epptok_i_poller epptok_i_poller;

typedef struct epptok_i_event {
    void *data;
    bool readable; /* or at its end, or broken: a read tells */
    bool writable;
} epptok_i_event;

/* NULL if memory or descriptors ran out. */
epptok_i_poller *epptok_i_poller_open(void);
void epptok_i_poller_close(epptok_i_poller *poller);
/* The descriptor of the poller itself, -1 if it has none. A forked child closes it. */
int epptok_i_poller_fd(const epptok_i_poller *poller);

/* Watches `fd` for reading. false if memory ran out. */
bool epptok_i_poller_add(epptok_i_poller *poller, int fd, void *data);
bool epptok_i_poller_watch_writes(epptok_i_poller *poller, int fd, void *data, bool writes);
/* Before the descriptor is closed: a copy of it in a forked child would keep an epoll entry alive. */
void epptok_i_poller_remove(epptok_i_poller *poller, int fd);

/* Waits at most timeout_ms (-1: for ever). Returns the number of events, 0 also when interrupted. */
size_t epptok_i_poller_wait(epptok_i_poller *poller, epptok_i_event *events, size_t capacity, int timeout_ms);

#endif
