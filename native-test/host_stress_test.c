/*
 * Eight callers, four services, over sockets and direct at once, with cancels, short deadlines, disconnects and a stop in the
 * middle. Every call ends, in time, with its own answer: a reply repeats the body's checksum. Meant for the sanitizers.
 *
 *     host_stress_test [milliseconds]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "check.h"
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/frame.h"
#include "../src/native/host.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLERS 8
#define SERVICES 4
#define CAPACITY (1u << 19)

static uint32_t host;
static char path[96];
static bool over;                          /* atomic */
static uint64_t answered, refused, broken; /* atomic */

static uint32_t sum_of(const uint8_t *frame, size_t length)
{
    uint32_t sum = 0;
    for (size_t i = EPPTOK_I_HEADER_BYTES; i < length; i++) {
        sum = sum * 31u + frame[i];
    }
    return sum;
}

static uint64_t call_id_of(const uint8_t *frame) { return host_peer_call_id(frame); }

static void *serve(void *unused)
{
    (void)unused;
    uint8_t *buffer = malloc(CAPACITY);
    uint32_t ids[2000] = {0};
    epptok_host_job job;
    int32_t found;
    while ((found = epptok_host_next(host, EPPTOK_HOST_QUEUE_CALLS, buffer, CAPACITY, &job, 100)) !=
           EPPTOK_HOST_STOPPED) {
        if (found != EPPTOK_HOST_JOB) {
            continue;
        }
        size_t length;
        if (job.ticket % 17 == 0) {
            usleep(3000);
        }
        ids[0] = sum_of(buffer, job.length);
        uint8_t *reply = host_peer_response(call_id_of(buffer), EPPTOK_OK, ids, 2000, &length);
        epptok_host_reply(host, job.ticket, reply, length);
        free(reply);
    }
    free(buffer);
    return NULL;
}

/* OK with the right ids, or a status that such a call may have. */
static void judge(epptok_status status, const uint8_t *request, size_t length, const uint8_t *reply)
{
    if (status != EPPTOK_OK) {
        bool legal = status == EPPTOK_TIMEOUT || status == EPPTOK_CANCELLED || status == EPPTOK_SHUTTING_DOWN ||
                     status == EPPTOK_UNAVAILABLE || status == EPPTOK_BACKPRESSURE;
        __atomic_add_fetch(legal ? &refused : &broken, 1u, __ATOMIC_RELAXED);
        return;
    }
    uint32_t sum;
    memcpy(&sum, reply + EPPTOK_I_HEADER_BYTES + 32, sizeof sum);
    bool right = sum == sum_of(request, length) && call_id_of(reply) == call_id_of(request);
    __atomic_add_fetch(right ? &answered : &broken, 1u, __ATOMIC_RELAXED);
}

static uint8_t *random_request(unsigned *seed, size_t *length, uint32_t *ms)
{
    static const size_t sizes[] = {10, 100, 4000, 70000, 300000};
    uint64_t call_id = (uint64_t)rand_r(seed) << 20 | (uint64_t)rand_r(seed);
    *ms = rand_r(seed) % 8 == 0 ? 2 : 5000;
    uint8_t *request = host_peer_tokenize(call_id, sizes[rand_r(seed) % 5], *ms, length);
    request[*length - 8] = (uint8_t)rand_r(seed);
    return request;
}

static void *cancel_soon(void *ticket)
{
    usleep(500);
    epptok_i_host_cancel(host, *(uint64_t *)ticket, EPPTOK_CANCELLED);
    return NULL;
}

static void call_direct(unsigned *seed)
{
    size_t length, reply_length;
    uint32_t ms;
    uint64_t ticket;
    char message[128];
    uint8_t *reply = NULL, *request = random_request(seed, &length, &ms);
    pthread_t canceller;
    epptok_status status =
        epptok_i_host_submit(host, request, length, epptok_i_deadline_in_ms(ms), &ticket, message, sizeof message);
    if (status == EPPTOK_OK) {
        bool cancels = rand_r(seed) % 16 == 0 && pthread_create(&canceller, NULL, cancel_soon, &ticket) == 0;
        status = epptok_i_host_wait(host, ticket, &reply, &reply_length);
        if (cancels) {
            pthread_join(canceller, NULL);
        }
    }
    judge(status, request, length, reply);
    free(reply);
    free(request);
}

static int call_socket(int fd, unsigned *seed, uint8_t *reply)
{
    if (fd < 0) {
        fd = host_peer_connect(path);
        if (fd < 0) {
            return -1;
        }
        if (host_peer_hello(fd) != EPPTOK_OK) {
            close(fd);
            return -1;
        }
    }
    size_t length;
    uint32_t ms;
    uint8_t *request = random_request(seed, &length, &ms);
    bool leaves = rand_r(seed) % 32 == 0;
    bool alive = host_peer_write(fd, request, length) && !leaves && host_peer_read_frame(fd, reply, CAPACITY) != 0;
    if (alive) {
        judge((epptok_status)host_peer_status(reply), request, length, reply);
    }
    free(request);
    if (alive) {
        return fd;
    }
    close(fd);
    return -1;
}

static void *call(void *number)
{
    unsigned seed = *(unsigned *)number;
    uint8_t *reply = malloc(CAPACITY);
    int fd = -1;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        if (seed % 2 == 0) {
            call_direct(&seed);
        } else {
            fd = call_socket(fd, &seed, reply);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    free(reply);
    return NULL;
}

int main(int argc, char **argv)
{
    long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 3000;
    char directory[] = P_tmpdir "/epptok-stress-XXXXXX", message[256];
    if (mkdtemp(directory) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/socket", directory);
    for (int round = 0; round < 3; round++) {
        epptok_host_options options = {sizeof options, 6, 0, 0, path, NULL, -1, 0};
        host = epptok_host_start(&options, message, sizeof message);
        CHECK(host != 0);
        epptok_host_set_ready(host, EPPTOK_OK, NULL);
        __atomic_store_n(&over, false, __ATOMIC_RELAXED);
        pthread_t callers[CALLERS], services[SERVICES];
        unsigned seeds[CALLERS];
        for (int i = 0; i < SERVICES; i++) {
            pthread_create(&services[i], NULL, serve, NULL);
        }
        for (int i = 0; i < CALLERS; i++) {
            seeds[i] = (unsigned)(round * CALLERS + i + 1);
            pthread_create(&callers[i], NULL, call, &seeds[i]);
        }
        int64_t until = epptok_i_now_ns() + ms * 1000000ll / 3;
        epptok_host_counters counters;
        while (epptok_i_now_ns() < until) {
            usleep(2000);
            epptok_host_counters_read(host, &counters);
        }
        epptok_host_stop(host); /* in the middle of it */
        usleep(20000);
        __atomic_store_n(&over, true, __ATOMIC_RELAXED);
        for (int i = 0; i < CALLERS; i++) {
            pthread_join(callers[i], NULL);
        }
        for (int i = 0; i < SERVICES; i++) {
            pthread_join(services[i], NULL);
        }
    }
    rmdir(directory);
    printf("%llu answered, %llu refused with a legal status, %llu wrong\n", (unsigned long long)answered,
           (unsigned long long)refused, (unsigned long long)broken);
    CHECK(broken == 0);
    CHECK(answered > 100);
    CHECK(refused > 0);
    return 0;
}
