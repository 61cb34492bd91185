/* The I/O thread, seen by good peers: calls, deadlines, backpressure, disconnects, many at once. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_socket_fixture.h"

#include <sys/resource.h>

static void calls_follow_each_other_on_one_connection(void)
{
    uint32_t host = start();
    int fd = greeted();
    for (uint64_t i = 1; i < 20; i++) {
        uint64_t ticket;
        send_call(fd, i, i * 10000, 5000);
        CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
        CHECK(reply_ids(host, ticket, i, i * 10000) == 1);
        CHECK(read_status(fd, i) == EPPTOK_OK);
    }
    close(fd);
    SOON(counters_of(host).connections == 0);
    epptok_host_stop(host);
    CHECK(access(path, F_OK) != 0);
}

static void ready_is_answered_by_the_host_itself(void)
{
    uint32_t host = start();
    size_t length;
    int fd = greeted();
    uint8_t *ready = host_peer_call(EPPTOK_I_READY, 5, 1000, &length);
    epptok_host_set_ready(host, EPPTOK_NOT_READY, "loading qwen3");
    CHECK(host_peer_write(fd, ready, length));
    CHECK(read_status(fd, 5) == EPPTOK_NOT_READY);
    CHECK_NAMES(host_peer_message(frame), "loading qwen3");
    send_call(fd, 6, 10, 1000);
    CHECK(read_status(fd, 6) == EPPTOK_NOT_READY);
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    CHECK(host_peer_write(fd, ready, length));
    CHECK(read_status(fd, 5) == EPPTOK_OK);
    free(ready);
    close(fd);
    epptok_host_stop(host);
}

/* In time at least once of several calls, since a busy machine may wake this thread late; never early. */
#define TRIES 8

static void queued_and_running_calls_expire_in_time(void)
{
    uint32_t host = start();
    bool in_time[2] = {false, false};
    uint64_t expired = 0;
    for (int i = 0; i < 2 * TRIES; i++) {
        int running = i % 2;
        if (in_time[running]) {
            continue;
        }
        uint64_t ticket = 0;
        int fd = greeted();
        int64_t start_ns = epptok_i_now_ns();
        send_call(fd, 8, 10, 250);
        if (running) {
            CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
        }
        CHECK(read_status(fd, 8) == EPPTOK_TIMEOUT);
        int64_t took = epptok_i_now_ns() - start_ns;
        CHECK(took >= 249 * MS);
        in_time[running] = took < (250 + SLACK_MS) * MS;
        expired++;
        CHECK_NAMES(host_peer_message(frame), running ? "while a worker served" : "while the call waited");
        if (running) {
            CHECK(reply_ids(host, ticket, 8, 10) == 0);
        }
        /* The next call on the same connection gets its own answer. */
        send_call(fd, 9, 10, 1000);
        CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
        CHECK(reply_ids(host, ticket, 9, 3) == 1);
        CHECK(read_status(fd, 9) == EPPTOK_OK);
        close(fd);
    }
    CHECK(in_time[0] && in_time[1]);
    CHECK(counters_of(host).expired == expired);
    epptok_host_stop(host);
}

static void backpressure_comes_at_once_while_every_service_is_busy(void)
{
    uint32_t host = start_with(2, 0, 0);
    int fds[4];
    uint64_t ticket;
    for (int i = 0; i < 4; i++) {
        fds[i] = greeted();
    }
    send_call(fds[0], 1, 10, 30000);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB); /* and never replied to */
    send_call(fds[1], 1, 10, 30000);
    send_call(fds[2], 1, 10, 30000);
    SOON(counters_of(host).queued_calls == 2);
    bool in_time = false;
    for (int i = 0; i < TRIES && !in_time; i++) {
        int64_t start_ns = epptok_i_now_ns();
        send_call(fds[3], 4, 10, 5000);
        CHECK(read_status(fds[3], 4) == EPPTOK_BACKPRESSURE);
        in_time = epptok_i_now_ns() - start_ns < 50 * MS;
        CHECK_NAMES(host_peer_message(frame), "2 calls are waiting, the limit is 2");
    }
    CHECK(in_time);
    for (int i = 0; i < 4; i++) {
        close(fds[i]);
    }
    epptok_host_stop(host);
}

static void a_peer_that_leaves_cancels_its_call(void)
{
    uint32_t host = start();
    uint64_t ticket;
    int fd = greeted();
    send_call(fd, 1, 10, 5000);
    SOON(counters_of(host).queued_calls == 1);
    close(fd);
    SOON(counters_of(host).queued_calls == 0);
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE);
    fd = greeted();
    send_call(fd, 1, 10, 5000);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    close(fd);
    SOON(counters_of(host).running_calls == 0);
    CHECK(reply_ids(host, ticket, 1, 10) == 0);
    CHECK(counters_of(host).disconnected == 2);
    epptok_host_stop(host);
}

static void a_large_reply_reaches_a_slow_reader_whole(void)
{
    uint32_t host = start();
    uint64_t ticket;
    int fd = greeted();
    send_call(fd, 1, 10, 5000);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    CHECK(reply_ids(host, ticket, 1, 2000000) == 1);
    size_t capacity = 9000000;
    uint8_t *large = malloc(capacity);
    usleep(20000);
    CHECK(host_peer_read_frame(fd, large, capacity) == 64 + 32 + 8000000 + 8);
    free(large);
    send_call(fd, 2, 10, 5000);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    CHECK(reply_ids(host, ticket, 2, 1) == 1);
    CHECK(read_status(fd, 2) == EPPTOK_OK);
    close(fd);
    epptok_host_stop(host);
}

static void a_thousand_connections(void)
{
    enum { MANY = 1000 };
    static int fds[MANY];
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &limit);
    uint32_t host = start();
    uint64_t ticket;
    for (int i = 0; i < MANY; i++) {
        fds[i] = greeted();
    }
    CHECK(counters_of(host).connections == MANY);
    for (int i = 0; i < MANY; i++) {
        send_call(fds[i], (uint64_t)i, 50, 20000);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
        CHECK(reply_ids(host, ticket, host_peer_call_id(request), 3) == 1);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(read_status(fds[i], (uint64_t)i) == EPPTOK_OK);
    }
    for (int i = 0; i < MANY; i++) {
        close(fds[i]);
    }
    SOON(counters_of(host).connections == 0);
    epptok_host_stop(host);
}

static void stop_answers_and_closes_every_connection(void)
{
    uint32_t host = start();
    uint64_t ticket;
    int running = greeted(), queued = greeted(), idle = greeted();
    send_call(running, 1, 10, 20000);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    send_call(queued, 2, 10, 20000);
    SOON(counters_of(host).queued_calls == 1);
    epptok_host_stop(host);
    CHECK(read_status(running, 1) == EPPTOK_SHUTTING_DOWN);
    CHECK(read_status(queued, 2) == EPPTOK_SHUTTING_DOWN);
    CHECK(host_peer_is_closed(running, 1000) && host_peer_is_closed(queued, 1000) && host_peer_is_closed(idle, 1000));
    CHECK(reply_ids(host, ticket, 1, 1) == 0);
    close(running);
    close(queued);
    close(idle);
}

int main(void)
{
    make_directory();
    RUN(calls_follow_each_other_on_one_connection);
    RUN(ready_is_answered_by_the_host_itself);
    RUN(queued_and_running_calls_expire_in_time);
    RUN(backpressure_comes_at_once_while_every_service_is_busy);
    RUN(a_peer_that_leaves_cancels_its_call);
    RUN(a_large_reply_reaches_a_slow_reader_whole);
    RUN(a_thousand_connections);
    RUN(stop_answers_and_closes_every_connection);
    remove_directory();
    return 0;
}
