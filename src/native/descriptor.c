#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE instead */
#endif

#ifdef SOCK_CLOEXEC
#define STREAM (SOCK_STREAM | SOCK_CLOEXEC)
#else
#define STREAM SOCK_STREAM
#endif

static void tame(int descriptor)
{
#ifndef SOCK_CLOEXEC
    (void)fcntl(descriptor, F_SETFD, FD_CLOEXEC);
#endif
#ifdef SO_NOSIGPIPE
    int on = 1;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    (void)descriptor;
}

int epptok_i_above_standard(int descriptor)
{
    if (descriptor < 0 || descriptor > STDERR_FILENO) {
        return descriptor;
    }
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    (void)close(descriptor);
    errno = error;
    return moved;
}

int epptok_i_socket_pair(int pair[2])
{
    if (socketpair(AF_UNIX, STREAM, 0, pair) != 0) {
        return errno;
    }
    int error = 0;
    for (int i = 0; i < 2; i++) {
        pair[i] = epptok_i_above_standard(pair[i]);
        error = pair[i] < 0 ? errno : error;
    }
    if (error != 0) {
        epptok_i_descriptor_close(&pair[0]);
        epptok_i_descriptor_close(&pair[1]);
        return error;
    }
    tame(pair[0]);
    tame(pair[1]);
    return 0;
}

int epptok_i_socket_connect(const char *path, int *descriptor)
{
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path) {
        return ENAMETOOLONG;
    }
    memcpy(address.sun_path, path, length);
    int made = epptok_i_above_standard(socket(AF_UNIX, STREAM, 0));
    if (made < 0) {
        return errno;
    }
    tame(made);
    int flags = fcntl(made, F_GETFL);
    if (flags < 0 || fcntl(made, F_SETFL, flags | O_NONBLOCK) != 0 ||
        connect(made, (const struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        (void)close(made);
        return error;
    }
    *descriptor = made;
    return 0;
}

bool epptok_i_socket_user(int descriptor, unsigned long *user)
{
#if defined(SO_PEERCRED)
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) {
        return false;
    }
    *user = (unsigned long)peer.uid;
    return true;
#else
    uid_t uid;
    gid_t gid;
    if (getpeereid(descriptor, &uid, &gid) != 0) {
        return false;
    }
    *user = (unsigned long)uid;
    return true;
#endif
}

int epptok_i_socket_pass(int control, char payload, int passed)
{
    struct iovec piece = {&payload, 1};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } ancillary;
    memset(&ancillary, 0, sizeof ancillary);
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.space;
    message.msg_controllen = sizeof ancillary.space;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &passed, sizeof passed);
    for (;;) {
        if (sendmsg(control, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) {
            return 0;
        }
        if (errno != EINTR) {
            return errno;
        }
    }
}

void epptok_i_descriptor_close(int *descriptor)
{
    if (*descriptor >= 0) {
        (void)close(*descriptor);
        *descriptor = -1;
    }
}
