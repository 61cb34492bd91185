/* How connections come: over the listening socket, or as descriptors over the control descriptor. Of the leader (host_lead.h). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_connection.h"
#include "host_io.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define ACCEPTS_IN_A_ROW 64
#define ACCEPT_PAUSE_MS 100
#define MAX_PASSED 16

void epptok_i_accept_some(epptok_i_host *host)
{
    epptok_i_io *io = host->io;
    for (int i = 0; i < ACCEPTS_IN_A_ROW; i++) {
#if defined(__linux__)
        int fd = accept4(io->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
        int fd = accept(io->listener.fd, NULL, NULL);
#endif
        if (fd >= 0) {
            (void)epptok_i_connection_open(host, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* The peer stays in the backlog and keeps the listener readable: look again later instead of spinning. */
            epptok_i_poller_remove(io->poller, io->listener.fd);
            io->accepts = false;
            io->accepts_again_ns = epptok_i_deadline_in_ms(ACCEPT_PAUSE_MS);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

void epptok_i_accept_again(epptok_i_host *host)
{
    epptok_i_io *io = host->io;
    if (epptok_i_now_ns() < io->accepts_again_ns) {
        return;
    }
    io->accepts = epptok_i_poller_add(io->poller, io->listener.fd, &io->listener);
    io->accepts_again_ns = io->accepts ? EPPTOK_I_NEVER : epptok_i_deadline_in_ms(ACCEPT_PAUSE_MS);
}

/* Takes the descriptors that a message carries. false: the parent is gone. */
static bool take_passed(epptok_i_host *host)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MAX_PASSED * sizeof(int))];
    } control;
    char byte[MAX_PASSED];
    struct iovec data = {byte, sizeof byte};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
#if defined(MSG_CMSG_CLOEXEC)
    ssize_t got = recvmsg(host->io->control_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
#else
    ssize_t got = recvmsg(host->io->control_fd, &message, MSG_DONTWAIT);
#endif
    if (got < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    }
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part != NULL; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            (void)epptok_i_connection_open(host, fd);
        }
    }
    return got > 0;
}

void epptok_i_control_readable(epptok_i_host *host)
{
    if (take_passed(host)) {
        return;
    }
    epptok_i_poller_remove(host->io->poller, host->io->control_fd);
    pthread_mutex_lock(&host->lock);
    epptok_i_host_end(host);
    pthread_mutex_unlock(&host->lock);
}
