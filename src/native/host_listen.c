/*
 * The socket file. A stale one (nobody accepts) is replaced, a live one is an error. The directory is locked from the
 * test to the listen(), so that of two runtimes that start together one finds the other alive.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "absolute.h"
#include "descriptor.h"
#include "host_io.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifdef SOCK_CLOEXEC
#define STREAM (SOCK_STREAM | SOCK_CLOEXEC)
#else
#define STREAM SOCK_STREAM
#endif
#define BACKLOG 4096
#define LOCK_TRIES 50 /* of 10 ms */

typedef struct epptok_i_access {
    bool group_given;
    gid_t group;
    mode_t directory_mode, socket_mode;
} epptok_i_access;

bool epptok_i_descriptor_prepare(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool fail(epptok_i_reason *reason, const char *what, const char *path)
{
    char text[128];
    epptok_i_because(reason, EPPTOK_INIT_FAILED, "%s %s: %s", what, path,
                     epptok_i_errno_text(errno, text, sizeof text));
    return false;
}

static bool find_access(const char *group, epptok_i_access *access_, epptok_i_reason *reason)
{
    access_->group_given = group != NULL;
    access_->directory_mode = group == NULL ? 0700 : 0750;
    access_->socket_mode = group == NULL ? 0600 : 0660;
    if (group == NULL) {
        return true;
    }
    char *end = NULL;
    unsigned long number = strtoul(group, &end, 10);
    if (*group >= '0' && *group <= '9' && *end == '\0' && number < UINT_MAX) {
        access_->group = (gid_t)number;
        return true;
    }
    struct group entry, *found = NULL;
    size_t capacity = 1 << 16;
    char *buffer = malloc(capacity);
    if (buffer != NULL && getgrnam_r(group, &entry, buffer, capacity, &found) == 0 && found != NULL) {
        access_->group = entry.gr_gid;
    }
    free(buffer);
    if (found != NULL) {
        return true;
    }
    epptok_i_because(reason, EPPTOK_INIT_FAILED, "there is no group %s", group);
    return false;
}

/* The descriptor of the directory, locked; -1 with a reason. */
static int lock_directory(const char *path, const epptok_i_access *access_, epptok_i_reason *reason)
{
    char directory[sizeof(((epptok_i_listener *)0)->path)];
    snprintf(directory, sizeof directory, "%s", path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL) {
        snprintf(directory, sizeof directory, ".");
    } else if (slash == directory) {
        directory[1] = '\0';
    } else {
        *slash = '\0';
    }
    bool made = mkdir(directory, access_->directory_mode) == 0;
    if (!made && errno != EEXIST) {
        return fail(reason, "cannot make the directory", directory), -1;
    }
    int fd = epptok_i_above_standard(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd < 0) {
        return fail(reason, "cannot open the directory", directory), -1;
    }
    if (made) {
        /* The mode of mkdir() went through the umask. One that was there keeps what it has. */
        bool done = (!access_->group_given || fchown(fd, (uid_t)-1, access_->group) == 0) &&
                    fchmod(fd, access_->directory_mode) == 0;
        if (!done) {
            fail(reason, "cannot set group and mode of the directory", directory);
            close(fd);
            return -1;
        }
    }
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (i == LOCK_TRIES || errno != EWOULDBLOCK) {
            fail(reason, "cannot lock the directory", directory);
            close(fd);
            return -1;
        }
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return fd;
}

/* true: nothing is at the path any more. */
static bool remove_stale(const struct sockaddr_un *address, epptok_i_reason *reason)
{
    struct stat found;
    if (lstat(address->sun_path, &found) != 0) {
        return errno == ENOENT || fail(reason, "cannot look at", address->sun_path);
    }
    if (!S_ISSOCK(found.st_mode)) {
        epptok_i_because(reason, EPPTOK_INIT_FAILED, "%s exists and is not a socket", address->sun_path);
        return false;
    }
    int fd = -1;
    int error = epptok_i_socket_connect(address->sun_path, &fd);
    epptok_i_descriptor_close(&fd);
    errno = error;
    /* EAGAIN: its backlog is full, so there is somebody. */
    if (error == 0 || error == EAGAIN || error == EINPROGRESS) {
        epptok_i_because(reason, EPPTOK_INIT_FAILED, "%s is in use: another runtime listens there", address->sun_path);
        return false;
    }
    if (error != ECONNREFUSED) {
        return fail(reason, "cannot tell whether somebody listens at", address->sun_path);
    }
    if (unlink(address->sun_path) != 0) {
        return fail(reason, "cannot remove the stale socket", address->sun_path);
    }
    return true;
}

static bool bind_and_listen(int fd, const struct sockaddr_un *address, const epptok_i_access *access_,
                            epptok_i_listener *listener, epptok_i_reason *reason)
{
    /* On Linux the file is made with the mode of the descriptor: there is no moment in which others could connect. */
    (void)fchmod(fd, 0600);
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) != 0) {
        return fail(reason, "cannot bind", address->sun_path);
    }
    struct stat made;
    bool done = lstat(address->sun_path, &made) == 0 &&
                (!access_->group_given || chown(address->sun_path, (uid_t)-1, access_->group) == 0) &&
                chmod(address->sun_path, access_->socket_mode) == 0 && listen(fd, BACKLOG) == 0;
    if (!done) {
        fail(reason, "cannot set group and mode of, or listen at,", address->sun_path);
        (void)unlink(address->sun_path);
        return false;
    }
    listener->device = (uint64_t)made.st_dev;
    listener->inode = (uint64_t)made.st_ino;
    return true;
}

bool epptok_i_listen(epptok_i_listener *listener, const char *path, const char *group, epptok_i_reason *reason)
{
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    const size_t limit = sizeof address.sun_path;
    if (*path == '\0' || strlen(path) >= limit) {
        epptok_i_because(reason, EPPTOK_INIT_FAILED, "the socket path has %zu bytes, 1 to %zu are possible: %s",
                         strlen(path), limit - 1, path);
        return false;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    /* The file is removed at the end, when the current directory may be another. */
    char *absolute = NULL;
    if (epptok_i_absolute("the socket path", path, &absolute, reason) != EPPTOK_OK) {
        return false;
    }
    bool fits = strlen(absolute) < sizeof listener->path;
    if (fits) {
        memcpy(listener->path, absolute, strlen(absolute) + 1);
    } else {
        errno = ENAMETOOLONG;
        fail(reason, "cannot listen at", absolute);
    }
    free(absolute);
    if (!fits) {
        return false;
    }
    epptok_i_access access_ = {false, 0, 0, 0};
    if (!find_access(group, &access_, reason)) {
        return false;
    }
    int directory = lock_directory(path, &access_, reason);
    if (directory < 0) {
        return false;
    }
    int fd = epptok_i_above_standard(socket(AF_UNIX, STREAM, 0));
    bool done = fd >= 0 && epptok_i_descriptor_prepare(fd);
    if (!done) {
        fail(reason, "cannot make the socket", path);
    }
    done = done && remove_stale(&address, reason) && bind_and_listen(fd, &address, &access_, listener, reason);
    close(directory);
    if (!done && fd >= 0) {
        close(fd);
    }
    if (done) {
        listener->fd = fd;
    }
    return done;
}

static bool is_ours(const epptok_i_listener *listener)
{
    struct stat found;
    return lstat(listener->path, &found) == 0 && (uint64_t)found.st_dev == listener->device &&
           (uint64_t)found.st_ino == listener->inode;
}

void epptok_i_unlisten(epptok_i_listener *listener)
{
    if (listener->fd < 0) {
        return;
    }
    if (is_ours(listener)) {
        /* Locked, so that a runtime that starts now does not put its own file between the look and the unlink. */
        epptok_i_reason unused;
        const epptok_i_access as_found = {false, 0, 0700, 0600};
        int directory = lock_directory(listener->path, &as_found, &unused);
        if (is_ours(listener)) {
            (void)unlink(listener->path);
        }
        if (directory >= 0) {
            close(directory);
        }
    }
    close(listener->fd);
    listener->fd = -1;
}
