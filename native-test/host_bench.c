/*
 * What the bridge costs: round trips of a frame to an echo service that answers 1,000 ids, over a unix socket and direct.
 *
 *     host_bench [calls]            p50 and p99 in microseconds, for 100 B, 4 kB and 167 kB
 *
 * The socket's caller is a process of its own. Pin with `taskset -c 0` to compare; a wake that crosses cores costs more
 * than the rest.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDS 1000
#define LARGEST (1u << 20)

static uint32_t host;

static void *serve(void *unused)
{
    (void)unused;
    static uint32_t ids[IDS];
    uint8_t *buffer = malloc(LARGEST);
    size_t length;
    uint8_t *reply = host_peer_response(0, EPPTOK_OK, ids, IDS, &length);
    epptok_host_job job;
    int32_t found;
    while ((found = epptok_host_next(host, EPPTOK_HOST_QUEUE_CALLS, buffer, LARGEST, &job, 100)) !=
           EPPTOK_HOST_STOPPED) {
        if (found == EPPTOK_HOST_JOB) {
            epptok_host_reply(host, job.ticket, reply, length);
        }
    }
    free(reply);
    free(buffer);
    return NULL;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print(const char *way, size_t body, int64_t *times, size_t calls)
{
    qsort(times, calls, sizeof *times, by_time);
    printf("%-8s %8zu B   p50 %8.1f us   p99 %8.1f us\n", way, body, (double)times[calls / 2] / 1000.0,
           (double)times[calls * 99 / 100] / 1000.0);
    fflush(stdout);
}

static int bench_socket(const char *path, size_t body, size_t calls)
{
    int fd = host_peer_connect(path);
    size_t length;
    uint8_t *request = host_peer_tokenize(1, body, 30000, &length);
    uint8_t *reply = malloc(LARGEST);
    int64_t *times = calloc(calls, sizeof *times);
    if (fd < 0 || host_peer_hello(fd) != EPPTOK_OK) {
        return 1;
    }
    for (size_t i = 0; i < calls + calls / 10; i++) {
        int64_t start = epptok_i_now_ns();
        if (!host_peer_write(fd, request, length) || host_peer_read_frame(fd, reply, LARGEST) == 0) {
            return 1;
        }
        if (i >= calls / 10) {
            times[i - calls / 10] = epptok_i_now_ns() - start;
        }
    }
    print("socket", body, times, calls);
    free(times);
    free(reply);
    free(request);
    close(fd);
    return 0;
}

static int bench_direct(size_t body, size_t calls)
{
    size_t length;
    uint8_t *request = host_peer_tokenize(1, body, 30000, &length);
    int64_t *times = calloc(calls, sizeof *times);
    for (size_t i = 0; i < calls + calls / 10; i++) {
        int64_t start = epptok_i_now_ns();
        uint64_t ticket;
        uint8_t *reply;
        size_t reply_length;
        char message[128];
        if (epptok_i_host_submit(host, request, length, start + 30000000000ll, &ticket, message, sizeof message) !=
            EPPTOK_OK) {
            return 1;
        }
        if (epptok_i_host_wait(host, ticket, &reply, &reply_length) != EPPTOK_OK) {
            return 1;
        }
        free(reply);
        if (i >= calls / 10) {
            times[i - calls / 10] = epptok_i_now_ns() - start;
        }
    }
    print("direct", body, times, calls);
    free(times);
    free(request);
    return 0;
}

static int start(const char *path, pthread_t *service)
{
    char message[256];
    epptok_host_options options = {sizeof options, 0, 0, 0, path, NULL, -1, 0};
    host = epptok_host_start(&options, message, sizeof message);
    if (host == 0) {
        fprintf(stderr, "%s\n", message);
        return 0;
    }
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    return pthread_create(service, NULL, serve, NULL) == 0;
}

static void stop(pthread_t service)
{
    epptok_host_stop(host);
    pthread_join(service, NULL);
}

int main(int argc, char **argv)
{
    static const size_t bodies[] = {100, 4096, 167000};
    size_t calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
    char directory[] = P_tmpdir "/epptok-bench-XXXXXX", path[64];
    if (mkdtemp(directory) == NULL) {
        return 1;
    }
    snprintf(path, sizeof path, "%s/socket", directory);
    int go[2];
    if (pipe(go) != 0) {
        return 1;
    }
    pid_t caller = fork();
    if (caller == 0) {
        char byte;
        int failed = read(go[0], &byte, 1) != 1;
        for (size_t i = 0; i < 3 && !failed; i++) {
            failed = bench_socket(path, bodies[i], calls);
        }
        _exit(failed);
    }
    pthread_t service;
    if (!start(path, &service)) {
        return 1;
    }
    int failed = write(go[1], "", 1) != 1, status = 0;
    waitpid(caller, &status, 0);
    failed |= status != 0;
    stop(service);
    /* As in a Node process: a host without sockets. */
    if (!start(NULL, &service)) {
        return 1;
    }
    for (size_t i = 0; i < 3 && !failed; i++) {
        failed = bench_direct(bodies[i], calls);
    }
    stop(service);
    rmdir(directory);
    if (failed) {
        fprintf(stderr, "a call failed\n");
    }
    return failed;
}
