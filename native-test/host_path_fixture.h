/* Hosts at a path whose directory they make themselves. */
#ifndef HOST_PATH_FIXTURE_H
#define HOST_PATH_FIXTURE_H

#include "check.h"
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/frame.h"
#include "../src/native/host.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static char root[32], directory[48], path[64], message[256];

static inline uint32_t start_at(const char *socket_path, const char *group, int control_fd)
{
    epptok_host_options options = {sizeof options, 0, 0, 0, socket_path, group, control_fd, 0};
    uint32_t host = epptok_host_start(&options, message, sizeof message);
    if (host != 0) {
        epptok_host_set_ready(host, EPPTOK_OK, NULL);
    }
    return host;
}

static inline bool ready_over(int fd)
{
    size_t length;
    uint8_t reply[1024], *ready = host_peer_call(EPPTOK_I_READY, 5, 1000, &length);
    bool done = host_peer_hello(fd) == EPPTOK_OK && host_peer_write(fd, ready, length) &&
                host_peer_read_frame(fd, reply, sizeof reply) != 0 && host_peer_status(reply) == EPPTOK_OK;
    free(ready);
    return done;
}

static inline void make_directory(void)
{
    strcpy(root, P_tmpdir "/epptok-test-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    snprintf(directory, sizeof directory, "%s/run", root);
    snprintf(path, sizeof path, "%s/socket", directory);
}

static inline void remove_directory(void) { CHECK(rmdir(root) == 0); }

#endif
