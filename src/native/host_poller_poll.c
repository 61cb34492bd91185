#include "host_poller.h"

#ifndef EPPTOK_POLLER_EPOLL

#include <poll.h>
#include <stdlib.h>

struct epptok_i_poller {
    struct pollfd *watched;
    void **data;
    size_t count, capacity;
    size_t first; /* where the next report starts, so that a full batch starves nobody */
};

epptok_i_poller *epptok_i_poller_open(void) { return calloc(1, sizeof(epptok_i_poller)); }

void epptok_i_poller_close(epptok_i_poller *poller)
{
    if (poller == NULL) {
        return;
    }
    free(poller->watched);
    free(poller->data);
    free(poller);
}

int epptok_i_poller_fd(const epptok_i_poller *poller)
{
    (void)poller;
    return -1;
}

static bool grow(epptok_i_poller *poller)
{
    size_t capacity = poller->capacity == 0 ? 16 : poller->capacity * 2;
    struct pollfd *watched = realloc(poller->watched, capacity * sizeof *watched);
    if (watched == NULL) {
        return false;
    }
    poller->watched = watched;
    void **data = realloc(poller->data, capacity * sizeof *data);
    if (data == NULL) {
        return false;
    }
    poller->data = data;
    poller->capacity = capacity;
    return true;
}

static size_t find(const epptok_i_poller *poller, int fd)
{
    size_t i = 0;
    while (i < poller->count && poller->watched[i].fd != fd) {
        i++;
    }
    return i;
}

bool epptok_i_poller_add(epptok_i_poller *poller, int fd, void *data)
{
    if (poller->count == poller->capacity && !grow(poller)) {
        return false;
    }
    poller->watched[poller->count].fd = fd;
    poller->watched[poller->count].events = POLLIN;
    poller->watched[poller->count].revents = 0;
    poller->data[poller->count++] = data;
    return true;
}

bool epptok_i_poller_watch_writes(epptok_i_poller *poller, int fd, void *data, bool writes)
{
    size_t i = find(poller, fd);
    if (i == poller->count) {
        return false;
    }
    poller->watched[i].events = (short)(POLLIN | (writes ? POLLOUT : 0));
    poller->data[i] = data;
    return true;
}

void epptok_i_poller_remove(epptok_i_poller *poller, int fd)
{
    size_t i = find(poller, fd);
    if (i == poller->count) {
        return;
    }
    poller->count--;
    poller->watched[i] = poller->watched[poller->count];
    poller->data[i] = poller->data[poller->count];
}

size_t epptok_i_poller_wait(epptok_i_poller *poller, epptok_i_event *events, size_t capacity, int timeout_ms)
{
    int ready = poll(poller->watched, (nfds_t)poller->count, timeout_ms);
    if (ready <= 0) {
        return 0;
    }
    size_t found = 0;
    size_t i = poller->first;
    for (size_t seen = 0; seen < poller->count && found < capacity; seen++, i++) {
        if (i >= poller->count) {
            i = 0;
        }
        short got = poller->watched[i].revents;
        if (got == 0) {
            continue;
        }
        events[found].data = poller->data[i];
        events[found].readable = (got & (POLLIN | POLLHUP | POLLERR | POLLNVAL)) != 0;
        events[found].writable = (got & POLLOUT) != 0;
        found++;
    }
    poller->first = i;
    return found;
}

#endif
