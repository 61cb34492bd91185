/* A host without sockets and calls into it, for the tests of the queue. */
#ifndef HOST_DIRECT_FIXTURE_H
#define HOST_DIRECT_FIXTURE_H

#include "check.h"
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/frame.h"
#include "../src/native/host.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS EPPTOK_HOST_QUEUE_CALLS
#define MS 1000000ll
/* How late a deadline may be noticed: more on a busy machine, still more under a sanitizer. */
#ifndef SLACK_MS
#define SLACK_MS 20
#endif

static char message[256];

static inline uint32_t start_with(uint32_t max_calls, uint64_t max_bytes, uint64_t max_frame)
{
    epptok_host_options options = {sizeof options, max_calls, max_bytes, max_frame, NULL, NULL, -1, 0};
    uint32_t host = epptok_host_start(&options, message, sizeof message);
    CHECK(host != 0);
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    return host;
}

static inline uint32_t start(void) { return start_with(0, 0, 0); }

typedef struct call {
    uint32_t host;
    uint8_t *frame;
    size_t length;
    uint64_t ticket;
    epptok_status status;
    uint8_t *reply;
    size_t reply_length;
    int64_t submitted_ns, took_ns;
    pthread_t thread;
} call;

static inline epptok_status submit(call *c, uint32_t host, size_t body, int ms)
{
    memset(c, 0, sizeof *c);
    c->host = host;
    c->submitted_ns = epptok_i_now_ns();
    c->frame = host_peer_tokenize(1, body, (uint32_t)ms, &c->length);
    return epptok_i_host_submit(host, c->frame, c->length, c->submitted_ns + ms * MS, &c->ticket, message,
                                sizeof message);
}

static inline void finish(call *c)
{
    c->status = epptok_i_host_wait(c->host, c->ticket, &c->reply, &c->reply_length);
    c->took_ns = epptok_i_now_ns() - c->submitted_ns;
    free(c->frame); /* borrowed until here: the sanitizer sees who still reads it */
}

static inline void *finish_in_thread(void *c)
{
    finish(c);
    return NULL;
}

static inline int32_t next(uint32_t host, uint64_t *ticket, uint32_t wait_ms)
{
    static uint8_t buffer[1 << 16];
    epptok_host_job job;
    int32_t found = epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, wait_ms);
    *ticket = job.ticket;
    return found;
}

#endif
