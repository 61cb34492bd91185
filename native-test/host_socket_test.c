/* The I/O thread, seen by peers over a socket: good ones, slow ones, hostile ones, many. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_check.h"
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/frame.h"
#include "../src/native/host.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALLS EPPTOK_HOST_QUEUE_CALLS
#define MS 1000000ll

static char directory[64], path[96], message[256];
static uint8_t frame[1 << 20];

static uint32_t start_with(uint32_t max_calls, uint64_t max_bytes, uint64_t max_frame) {
    epptok_host_options options = {sizeof options, max_calls, max_bytes, max_frame, path, NULL, -1, 0};
    uint32_t host = epptok_host_start(&options, message, sizeof message);
    if (host == 0) fprintf(stderr, "%s\n", message);
    CHECK(host != 0);
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    return host;
}

static uint32_t start(void) { return start_with(0, 0, 0); }

static int greeted(void) {
    int fd = host_peer_connect(path);
    CHECK(fd >= 0);
    CHECK(host_peer_hello(fd) == EPPTOK_OK);
    return fd;
}

static void send_call(int fd, uint64_t call_id, size_t body, uint32_t ms) {
    size_t length;
    uint8_t *call = host_peer_tokenize(call_id, body, ms, &length);
    CHECK(host_peer_write(fd, call, length));
    free(call);
}

static uint32_t read_status(int fd, uint64_t call_id) {
    if (host_peer_read_frame(fd, frame, sizeof frame) == 0) return 999;
    CHECK(host_peer_call_id(frame) == call_id);
    return host_peer_status(frame);
}

static int32_t next(uint32_t host, uint64_t *ticket, uint32_t wait_ms) {
    static uint8_t buffer[1 << 18];
    epptok_host_job job;
    int32_t found = epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, wait_ms);
    *ticket = job.ticket;
    return found;
}

static int32_t reply_ids(uint32_t host, uint64_t ticket, uint64_t call_id, size_t count) {
    size_t length;
    uint32_t *ids = calloc(count, sizeof *ids);
    uint8_t *response = host_peer_response(call_id, EPPTOK_OK, ids, count, &length);
    int32_t delivered = epptok_host_reply(host, ticket, response, length);
    free(response);
    free(ids);
    return delivered;
}

static epptok_host_counters counters_of(uint32_t host) {
    epptok_host_counters counters;
    CHECK(epptok_host_counters_read(host, &counters) == 1);
    return counters;
}

/* The I/O thread does it soon. */
#define SOON(condition)                                                                                                \
    do {                                                                                                               \
        int64_t until = epptok_i_deadline_in_ms(3000);                                                                 \
        while (!(condition) && epptok_i_now_ns() < until) usleep(1000);                                                \
        CHECK(condition);                                                                                              \
    } while (0)

static void serves_one_good_call(uint32_t host) {
    uint64_t ticket;
    int fd = greeted();
    send_call(fd, 77, 100, 5000);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
    CHECK(reply_ids(host, ticket, 77, 10) == 1);
    CHECK(read_status(fd, 77) == EPPTOK_OK);
    close(fd);
}

static void calls_follow_each_other_on_one_connection(void) {
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

static void a_library_of_another_version_is_told_both_numbers(void) {
    uint32_t host = start();
    size_t length;
    uint8_t *hello = host_peer_hello_frame(9, &length);
    int fd = host_peer_connect(path);
    CHECK(host_peer_write(fd, hello, length));
    CHECK(host_peer_read_frame(fd, frame, sizeof frame) != 0);
    CHECK(host_peer_status(frame) == EPPTOK_ABI_MISMATCH);
    CHECK_TEXT(host_peer_message(frame), "ABI version 9, this runtime has 1");
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    hello[4] = 2;
    fd = host_peer_connect(path);
    CHECK(host_peer_write(fd, hello, length));
    CHECK(host_peer_read_frame(fd, frame, sizeof frame) != 0);
    CHECK(host_peer_status(frame) == EPPTOK_ABI_MISMATCH);
    CHECK_TEXT(host_peer_message(frame), "protocol version 2, this runtime speaks 1");
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    free(hello);
    epptok_host_stop(host);
}

static void ready_is_answered_by_the_host_itself(void) {
    uint32_t host = start();
    size_t length;
    int fd = greeted();
    uint8_t *ready = host_peer_call(EPPTOK_I_READY, 5, 1000, &length);
    epptok_host_set_ready(host, EPPTOK_NOT_READY, "loading qwen3");
    CHECK(host_peer_write(fd, ready, length));
    CHECK(read_status(fd, 5) == EPPTOK_NOT_READY);
    CHECK_TEXT(host_peer_message(frame), "loading qwen3");
    send_call(fd, 6, 10, 1000);
    CHECK(read_status(fd, 6) == EPPTOK_NOT_READY);
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    CHECK(host_peer_write(fd, ready, length));
    CHECK(read_status(fd, 5) == EPPTOK_OK);
    free(ready);
    close(fd);
    epptok_host_stop(host);
}

static void queued_and_running_calls_expire_in_time(void) {
    uint32_t host = start();
    for (int running = 0; running < 2; running++) {
        uint64_t ticket = 0;
        int fd = greeted();
        int64_t start_ns = epptok_i_now_ns();
        send_call(fd, 8, 10, 60);
        if (running) CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
        CHECK(read_status(fd, 8) == EPPTOK_TIMEOUT);
        int64_t took = epptok_i_now_ns() - start_ns;
        CHECK(took >= 59 * MS && took < 80 * MS);
        CHECK_TEXT(host_peer_message(frame), running ? "while a worker served" : "while the call waited");
        if (running) CHECK(reply_ids(host, ticket, 8, 10) == 0);
        /* The next call on the same connection gets its own answer. */
        send_call(fd, 9, 10, 1000);
        CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
        CHECK(reply_ids(host, ticket, 9, 3) == 1);
        CHECK(read_status(fd, 9) == EPPTOK_OK);
        close(fd);
    }
    CHECK(counters_of(host).expired == 2);
    epptok_host_stop(host);
}

static void backpressure_comes_at_once_while_every_service_is_busy(void) {
    uint32_t host = start_with(2, 0, 0);
    int fds[4];
    uint64_t ticket;
    for (int i = 0; i < 4; i++) fds[i] = greeted();
    send_call(fds[0], 1, 10, 5000);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB); /* and never replied to */
    send_call(fds[1], 1, 10, 5000);
    send_call(fds[2], 1, 10, 5000);
    SOON(counters_of(host).queued_calls == 2);
    int64_t start_ns = epptok_i_now_ns();
    send_call(fds[3], 4, 10, 5000);
    CHECK(read_status(fds[3], 4) == EPPTOK_BACKPRESSURE);
    CHECK(epptok_i_now_ns() - start_ns < 50 * MS);
    CHECK_TEXT(host_peer_message(frame), "2 calls are waiting, the limit is 2");
    for (int i = 0; i < 4; i++) close(fds[i]);
    epptok_host_stop(host);
}

static void a_peer_that_leaves_cancels_its_call(void) {
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

static void a_peer_that_speaks_out_of_turn_is_closed(void) {
    uint32_t host = start();
    int fd = greeted();
    send_call(fd, 1, 10, 5000);
    SOON(counters_of(host).queued_calls == 1);
    send_call(fd, 2, 10, 5000);
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    CHECK(counters_of(host).queued_calls == 0 && counters_of(host).bad_frames == 1);
    /* Two in one go. */
    size_t length;
    uint8_t *call = host_peer_tokenize(1, 100, 5000, &length), two[1024];
    memcpy(two, call, length);
    memcpy(two + length, call, length);
    fd = greeted();
    CHECK(host_peer_write(fd, two, 2 * length));
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    /* A call before HELLO. */
    fd = host_peer_connect(path);
    CHECK(host_peer_write(fd, call, length));
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    free(call);
    serves_one_good_call(host);
    epptok_host_stop(host);
}

static void put64(uint8_t *at, uint64_t value) { memcpy(at, &value, sizeof value); }
static void put32(uint8_t *at, uint32_t value) { memcpy(at, &value, sizeof value); }

static void hostile_frames_harm_their_own_connection_only(void) {
    uint32_t host = start();
    uint64_t ticket;
    for (int fault = 0; fault < 12; fault++) {
        size_t length;
        uint8_t *call = host_peer_tokenize(1, 100, 5000, &length);
        int fd = greeted();
        switch (fault) {
        case 0: call[0] = 'X'; break;                    /* magic */
        case 1: call[4] = 2; break;                      /* version */
        case 2: call[6] = 99; break;                     /* type */
        case 3: call[6] = EPPTOK_I_RESPONSE; break;      /* not a caller's */
        case 4: put64(call + 8, 63); break;              /* shorter than its header */
        case 5: put64(call + 8, length - 4); break;      /* no multiple of 8 */
        case 6: put64(call + 8, UINT64_MAX); break;
        case 7: put64(call + 8, UINT64_MAX - 7); break;
        case 8: put32(call + 24, 17); break;             /* sections */
        case 9: put64(call + 72, UINT64_MAX - 3); break; /* a section's length overflows */
        case 10: put64(call + 72, 8); break;             /* sections do not fill the frame */
        default: put32(call + 24, 4); break;             /* a table that reaches into the body */
        }
        CHECK(host_peer_write(fd, call, length));
        CHECK(host_peer_is_closed(fd, 1000));
        close(fd);
        free(call);
    }
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE);
    CHECK(counters_of(host).bad_frames == 12 && counters_of(host).accepted == 0);
    serves_one_good_call(host);
    epptok_host_stop(host);
}

static void a_frame_above_the_limit_is_answered_and_closed(void) {
    uint32_t host = start_with(0, 0, 10000);
    int fd = greeted();
    size_t length;
    uint8_t *call = host_peer_tokenize(12, 20000, 5000, &length);
    (void)host_peer_write(fd, call, length);
    CHECK(read_status(fd, 12) == EPPTOK_INVALID_REQUEST);
    CHECK_TEXT(host_peer_message(frame), "the request has 20080 bytes, the limit is 10000");
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    free(call);
    serves_one_good_call(host);
    epptok_host_stop(host);
}

static long resident_kb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void a_claim_costs_nothing_until_the_bytes_come(void) {
    uint32_t host = start();
    size_t length;
    uint8_t *call = host_peer_tokenize(1, 100, 5000, &length);
    put64(call + 8, (uint64_t)64 << 20);
    long before = resident_kb();
    int fds[50];
    for (int i = 0; i < 50; i++) {
        fds[i] = greeted();
        CHECK(host_peer_write(fds[i], call, length));
    }
    usleep(50000);
    CHECK(resident_kb() - before < 50 * 1024); /* claimed: 3.2 GB */
    serves_one_good_call(host);
    for (int i = 0; i < 50; i++) close(fds[i]);
    free(call);
    epptok_host_stop(host);
}

static void frames_under_way_are_limited_as_a_whole(void) {
    uint32_t host = start_with(0, 1 << 20, 0);
    size_t length;
    uint8_t *call = host_peer_tokenize(3, 700000, 5000, &length);
    int first = greeted(), second = greeted();
    CHECK(host_peer_write(first, call, length - 8));
    usleep(50000);
    CHECK(host_peer_write(second, call, length));
    CHECK(read_status(second, 3) == EPPTOK_BACKPRESSURE);
    CHECK_TEXT(host_peer_message(frame), "the limit is 1048576");
    CHECK(host_peer_write(first, call + length - 8, 8));
    SOON(counters_of(host).queued_calls == 1);
    close(first);
    SOON(counters_of(host).queued_calls == 0);
    CHECK(host_peer_write(second, call, length)); /* the connection is as good as before */
    SOON(counters_of(host).queued_calls == 1);
    close(second);
    free(call);
    epptok_host_stop(host);
}

static void a_frame_may_come_byte_by_byte_until_its_deadline(void) {
    uint32_t host = start();
    uint64_t ticket;
    size_t length;
    int slow = greeted();
    uint8_t *call = host_peer_tokenize(4, 100, 5000, &length);
    for (size_t i = 0; i < length; i++) {
        CHECK(host_peer_write(slow, call + i, 1));
        usleep(200);
    }
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    CHECK(reply_ids(host, ticket, 4, 5) == 1);
    CHECK(read_status(slow, 4) == EPPTOK_OK);
    close(slow);
    free(call);
    /* One that stops halfway is closed once its caller has given up. */
    call = host_peer_tokenize(4, 100, 50, &length);
    slow = greeted();
    CHECK(host_peer_write(slow, call, 100));
    serves_one_good_call(host);
    CHECK(!host_peer_is_closed(slow, 500));
    CHECK(host_peer_is_closed(slow, 1500));
    close(slow);
    free(call);
    epptok_host_stop(host);
}

static void a_peer_that_never_reads_is_closed_after_its_deadline(void) {
    uint32_t host = start();
    uint64_t ticket;
    int fd = greeted();
    send_call(fd, 1, 10, 1500);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    int64_t start_ns = epptok_i_now_ns();
    CHECK(reply_ids(host, ticket, 1, 4000000) == 1);
    CHECK(epptok_i_now_ns() - start_ns < 500 * MS); /* the service thread does not wait for the peer */
    serves_one_good_call(host);
    CHECK(counters_of(host).connections >= 1);
    SOON(counters_of(host).connections == 0);
    close(fd);
    epptok_host_stop(host);
}

static void a_large_reply_reaches_a_slow_reader_whole(void) {
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

static void a_thousand_connections(void) {
    enum { MANY = 1000 };
    static int fds[MANY];
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &limit);
    uint32_t host = start();
    uint64_t ticket;
    for (int i = 0; i < MANY; i++) fds[i] = greeted();
    CHECK(counters_of(host).connections == MANY);
    for (int i = 0; i < MANY; i++) send_call(fds[i], (uint64_t)i, 50, 20000);
    for (int i = 0; i < MANY; i++) {
        CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
        uint64_t call_id = (uint64_t)i; /* first in, first out */
        CHECK(reply_ids(host, ticket, call_id, 3) == 1);
    }
    for (int i = 0; i < MANY; i++) CHECK(read_status(fds[i], (uint64_t)i) == EPPTOK_OK);
    for (int i = 0; i < MANY; i++) close(fds[i]);
    SOON(counters_of(host).connections == 0);
    epptok_host_stop(host);
}

static double processor_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void without_descriptors_the_host_waits_and_does_not_spin(void) {
    uint32_t host = start();
    serves_one_good_call(host);
    int kept = greeted(), waiting = socket(AF_UNIX, SOCK_STREAM, 0);
    struct rlimit limit, small;
    getrlimit(RLIMIT_NOFILE, &limit);
    small = limit;
    int fill[512], filled = 0;
    small.rlim_cur = (rlim_t)waiting + 1;
    /* Everything below the limit is taken, so that accept() finds none. */
    while (filled < 512 && (fill[filled] = dup(0)) >= 0 && fill[filled] < waiting) filled++;
    if (filled < 512 && fill[filled] >= 0) close(fill[filled]);
    setrlimit(RLIMIT_NOFILE, &small);
    CHECK(dup(0) < 0);
    int fd = host_peer_connect_with(waiting, path);
    double before = processor_seconds();
    usleep(500000);
    CHECK(processor_seconds() - before < 0.1);
    uint64_t ticket;
    send_call(kept, 2, 10, 5000); /* who is connected is served */
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    CHECK(reply_ids(host, ticket, 2, 1) == 1);
    CHECK(read_status(kept, 2) == EPPTOK_OK);
    setrlimit(RLIMIT_NOFILE, &limit);
    CHECK(host_peer_hello(fd) == EPPTOK_OK); /* and who waited is accepted */
    while (filled > 0) close(fill[--filled]);
    close(kept);
    close(fd);
    epptok_host_stop(host);
}

static void stop_answers_and_closes_every_connection(void) {
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

#define TEST(name) {#name, name}
int main(int argc, char **argv) {
    static const host_check_test tests[] = {
        TEST(calls_follow_each_other_on_one_connection),
        TEST(a_library_of_another_version_is_told_both_numbers),
        TEST(ready_is_answered_by_the_host_itself),
        TEST(queued_and_running_calls_expire_in_time),
        TEST(backpressure_comes_at_once_while_every_service_is_busy),
        TEST(a_peer_that_leaves_cancels_its_call),
        TEST(a_peer_that_speaks_out_of_turn_is_closed),
        TEST(hostile_frames_harm_their_own_connection_only),
        TEST(a_frame_above_the_limit_is_answered_and_closed),
        TEST(a_claim_costs_nothing_until_the_bytes_come),
        TEST(frames_under_way_are_limited_as_a_whole),
        TEST(a_frame_may_come_byte_by_byte_until_its_deadline),
        TEST(a_peer_that_never_reads_is_closed_after_its_deadline),
        TEST(a_large_reply_reaches_a_slow_reader_whole),
        TEST(without_descriptors_the_host_waits_and_does_not_spin),
        TEST(a_thousand_connections),
        TEST(stop_answers_and_closes_every_connection),
    };
    strcpy(directory, "/tmp/epptok-test-XXXXXX");
    if (mkdtemp(directory) == NULL) return 1;
    snprintf(path, sizeof path, "%s/socket", directory);
    int failed = host_check_run(tests, sizeof tests / sizeof *tests, argc, argv);
    rmdir(directory);
    return failed;
}
