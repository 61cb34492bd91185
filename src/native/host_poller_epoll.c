#include "host_poller.h"

#ifdef EPPTOK_POLLER_EPOLL

#include "descriptor.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define BATCH 64

struct epptok_i_poller {
    int fd;
};

epptok_i_poller *epptok_i_poller_open(void)
{
    epptok_i_poller *poller = malloc(sizeof *poller);
    if (poller == NULL) {
        return NULL;
    }
    poller->fd = epptok_i_above_standard(epoll_create1(EPOLL_CLOEXEC));
    if (poller->fd < 0) {
        free(poller);
        return NULL;
    }
    return poller;
}

void epptok_i_poller_close(epptok_i_poller *poller)
{
    if (poller == NULL) {
        return;
    }
    close(poller->fd);
    free(poller);
}

int epptok_i_poller_fd(const epptok_i_poller *poller) { return poller->fd; }

static bool control(epptok_i_poller *poller, int operation, int fd, void *data, bool writes)
{
    struct epoll_event event = {0};
    event.events = EPOLLIN | (writes ? (unsigned)EPOLLOUT : 0u);
    event.data.ptr = data;
    return epoll_ctl(poller->fd, operation, fd, &event) == 0;
}

bool epptok_i_poller_add(epptok_i_poller *poller, int fd, void *data)
{
    return control(poller, EPOLL_CTL_ADD, fd, data, false);
}

bool epptok_i_poller_watch_writes(epptok_i_poller *poller, int fd, void *data, bool writes)
{
    return control(poller, EPOLL_CTL_MOD, fd, data, writes);
}

void epptok_i_poller_remove(epptok_i_poller *poller, int fd) { control(poller, EPOLL_CTL_DEL, fd, NULL, false); }

size_t epptok_i_poller_wait(epptok_i_poller *poller, epptok_i_event *events, size_t capacity, int timeout_ms)
{
    struct epoll_event found[BATCH];
    int count = epoll_wait(poller->fd, found, capacity < BATCH ? (int)capacity : BATCH, timeout_ms);
    for (int i = 0; i < count; i++) {
        events[i].data = found[i].data.ptr;
        events[i].readable = (found[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
        events[i].writable = (found[i].events & EPOLLOUT) != 0;
    }
    return count < 0 ? 0 : (size_t)count;
}

#endif
