/*
 * Any bytes at the host's socket, in pieces of any size, from a peer that has said HELLO or not. Whatever they are, the
 * connection comes to its end, nothing of it stays behind, and the next peer is served.
 *
 *     byte 0        bit 0: say HELLO first; bit 1: read the answers only at the end; bit 2: leave without reading
 *     then, again and again: a byte n, and n*8+1 bytes (what is left, at the end) in one write
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>

#include "../host_socket_fixture.h"

static uint32_t host;

static void *serve(void *unused)
{
    static uint8_t buffer[1 << 20];
    uint32_t ids[64] = {0};
    (void)unused;
    for (;;) {
        epptok_host_job job;
        int32_t found = epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, 100);
        if (found == EPPTOK_HOST_JOB) {
            epptok_i_incoming call;
            size_t length;
            CHECK(epptok_i_frame_decode(buffer, (size_t)job.length, &call) == NULL);
            CHECK(call.type == EPPTOK_I_TOKENIZE || call.type == EPPTOK_I_DETOKENIZE);
            uint8_t *answer = host_peer_response(call.call_id, EPPTOK_OK, ids, (size_t)(call.call_id % 64), &length);
            (void)epptok_host_reply(host, job.ticket, answer, length);
            free(answer);
        }
        CHECK(found != EPPTOK_HOST_GROW && found != EPPTOK_HOST_STOPPED);
    }
}

static void begin(void)
{
    pthread_t thread;
    make_directory();
    host = start_with(16, 1 << 22, 1 << 20);
    CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
}

static void the_next_peer_is_served(void)
{
    int fd = greeted();
    send_call(fd, 41, 24, 5000);
    CHECK(read_status(fd, 41) == EPPTOK_OK);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned runs;
    if (host == 0) {
        begin();
    }
    if (size == 0) {
        return 0;
    }
    uint8_t how = *data++;
    size--;
    int fd = (how & 1) != 0 ? greeted() : host_peer_connect(path);
    CHECK(fd >= 0);
    bool open = true;
    while (size > 0 && open) {
        size_t part = (size_t)*data++ * 8 + 1;
        part = part < --size ? part : size;
        open = host_peer_write(fd, data, part);
        data += part;
        size -= part;
        if ((how & 2) == 0) {
            uint8_t answers[4096];
            (void)!recv(fd, answers, sizeof answers, MSG_DONTWAIT);
        }
    }
    if ((how & 4) == 0) {
        (void)shutdown(fd, SHUT_WR);
        CHECK(host_peer_is_closed(fd, 5000));
    }
    close(fd);
    if (++runs % 64 == 0) {
        the_next_peer_is_served();
        SOON(counters_of(host).connections == 0);
        SOON(counters_of(host).queued_calls == 0 && counters_of(host).running_calls == 0);
    }
    return 0;
}
