/* A host that listens and peers that talk to it, for the tests of its I/O. */
#ifndef HOST_SOCKET_FIXTURE_H
#define HOST_SOCKET_FIXTURE_H

#include "check.h"
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/frame.h"
#include "../src/native/host.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLS EPPTOK_HOST_QUEUE_CALLS
#define MS 1000000ll
/* How late a deadline may be noticed: more on a busy machine, still more under a sanitizer. */
#ifndef SLACK_MS
#define SLACK_MS 20
#endif

static char directory[64], path[96], message[256];
static uint8_t frame[1 << 20];   /* the last response read */
static uint8_t request[1 << 18]; /* the last call taken */

static inline uint32_t start_with(uint32_t max_calls, uint64_t max_bytes, uint64_t max_frame)
{
    epptok_host_options options = {sizeof options, max_calls, max_bytes, max_frame, path, NULL, -1, 0};
    uint32_t host = epptok_host_start(&options, message, sizeof message);
    if (host == 0) {
        fprintf(stderr, "%s\n", message);
    }
    CHECK(host != 0);
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    return host;
}

static inline uint32_t start(void) { return start_with(0, 0, 0); }

static inline int greeted(void)
{
    int fd = host_peer_connect(path);
    CHECK(fd >= 0);
    CHECK(host_peer_hello(fd) == EPPTOK_OK);
    return fd;
}

static inline void send_call(int fd, uint64_t call_id, size_t body, uint32_t ms)
{
    size_t length;
    uint8_t *call = host_peer_tokenize(call_id, body, ms, &length);
    CHECK(host_peer_write(fd, call, length));
    free(call);
}

static inline uint32_t read_status(int fd, uint64_t call_id)
{
    if (host_peer_read_frame(fd, frame, sizeof frame) == 0) {
        return 999;
    }
    CHECK(host_peer_call_id(frame) == call_id);
    return host_peer_status(frame);
}

static inline int32_t next(uint32_t host, uint64_t *ticket, uint32_t wait_ms)
{
    epptok_host_job job;
    int32_t found = epptok_host_next(host, CALLS, request, sizeof request, &job, wait_ms);
    *ticket = job.ticket;
    return found;
}

static inline int32_t reply_ids(uint32_t host, uint64_t ticket, uint64_t call_id, size_t count)
{
    size_t length;
    uint32_t *ids = calloc(count, sizeof *ids);
    uint8_t *response = host_peer_response(call_id, EPPTOK_OK, ids, count, &length);
    int32_t delivered = epptok_host_reply(host, ticket, response, length);
    free(response);
    free(ids);
    return delivered;
}

static inline epptok_host_counters counters_of(uint32_t host)
{
    epptok_host_counters counters;
    CHECK(epptok_host_counters_read(host, &counters) == 1);
    return counters;
}

/* The host does it soon. */
#define SOON(condition)                                                                                                \
    do {                                                                                                               \
        int64_t until = epptok_i_deadline_in_ms(3000);                                                                 \
        while (!(condition) && epptok_i_now_ns() < until)                                                              \
            usleep(1000);                                                                                              \
        CHECK(condition);                                                                                              \
    } while (0)

static inline void serves_one_good_call(uint32_t host)
{
    uint64_t ticket;
    int fd = greeted();
    send_call(fd, 77, 100, 5000);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
    CHECK(reply_ids(host, ticket, 77, 10) == 1);
    CHECK(read_status(fd, 77) == EPPTOK_OK);
    close(fd);
}

static inline void make_directory(void)
{
    strcpy(directory, P_tmpdir "/epptok-test-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/socket", directory);
}

static inline void remove_directory(void) { CHECK(rmdir(directory) == 0); }

#endif
