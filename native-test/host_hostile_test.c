/* The I/O thread, seen by bad peers: each harms its own connection only. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_socket_fixture.h"

#include <sys/resource.h>

static void a_library_of_another_version_is_told_both_numbers(void)
{
    uint32_t host = start();
    size_t length;
    uint8_t *hello = host_peer_hello_frame(9, &length);
    int fd = host_peer_connect(path);
    CHECK(host_peer_write(fd, hello, length));
    CHECK(host_peer_read_frame(fd, frame, sizeof frame) != 0);
    CHECK(host_peer_status(frame) == EPPTOK_ABI_MISMATCH);
    CHECK_NAMES(host_peer_message(frame), "ABI version 9, this runtime has 1");
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    hello[4] = 2;
    fd = host_peer_connect(path);
    CHECK(host_peer_write(fd, hello, length));
    CHECK(host_peer_read_frame(fd, frame, sizeof frame) != 0);
    CHECK(host_peer_status(frame) == EPPTOK_ABI_MISMATCH);
    CHECK_NAMES(host_peer_message(frame), "protocol version 2, this runtime speaks 1");
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    free(hello);
    epptok_host_stop(host);
}

static void a_peer_that_speaks_out_of_turn_is_closed(void)
{
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

static void hostile_frames_harm_their_own_connection_only(void)
{
    uint32_t host = start();
    uint64_t ticket;
    for (int fault = 0; fault < 12; fault++) {
        size_t length;
        uint8_t *call = host_peer_tokenize(1, 100, 5000, &length);
        int fd = greeted();
        switch (fault) {
        case 0: call[0] = 'X'; break;               /* magic */
        case 1: call[4] = 2; break;                 /* version */
        case 2: call[6] = 99; break;                /* type */
        case 3: call[6] = EPPTOK_I_RESPONSE; break; /* not a caller's */
        case 4: put64(call + 8, 63); break;         /* shorter than its header */
        case 5: put64(call + 8, length - 4); break; /* no multiple of 8 */
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

static void a_frame_above_the_limit_is_answered_and_closed(void)
{
    uint32_t host = start_with(0, 0, 10000);
    int fd = greeted();
    size_t length;
    uint8_t *call = host_peer_tokenize(12, 20000, 5000, &length);
    (void)host_peer_write(fd, call, length);
    CHECK(read_status(fd, 12) == EPPTOK_INVALID_REQUEST);
    CHECK_NAMES(host_peer_message(frame), "the request has 20080 bytes, the limit is 10000");
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    free(call);
    serves_one_good_call(host);
    epptok_host_stop(host);
}

static long resident_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void a_claim_costs_nothing_until_the_bytes_come(void)
{
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
    int large = greeted(); /* claims do not use up what frames under way may hold */
    send_call(large, 6, 700000, 5000);
    SOON(counters_of(host).queued_calls == 1);
    close(large);
    for (int i = 0; i < 50; i++) {
        close(fds[i]);
    }
    free(call);
    epptok_host_stop(host);
}

static void frames_under_way_are_limited_as_a_whole(void)
{
    uint32_t host = start_with(0, 1 << 20, 0);
    size_t length;
    uint8_t *call = host_peer_tokenize(3, 700000, 5000, &length);
    int first = greeted();
    CHECK(host_peer_write(first, call, length - 8));
    usleep(50000);
    int second = greeted(); /* who has been answered knows that what came before has been read */
    CHECK(host_peer_write(second, call, length));
    CHECK(read_status(second, 3) == EPPTOK_BACKPRESSURE);
    CHECK_NAMES(host_peer_message(frame), "the limit is 1048576");
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

static void a_frame_may_come_byte_by_byte_until_its_deadline(void)
{
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
    call = host_peer_tokenize(4, 100, 2000, &length);
    slow = greeted();
    CHECK(host_peer_write(slow, call, 100));
    serves_one_good_call(host);
    CHECK(!host_peer_is_closed(slow, 500));
    CHECK(host_peer_is_closed(slow, 10000));
    close(slow);
    free(call);
    epptok_host_stop(host);
}

static void a_peer_that_never_reads_is_closed_after_its_deadline(void)
{
    uint32_t host = start();
    uint64_t ticket;
    int fd = greeted();
    send_call(fd, 1, 10, 1500);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB);
    int64_t start_ns = epptok_i_now_ns();
    CHECK(reply_ids(host, ticket, 1, 1000000) == 1);
    CHECK(epptok_i_now_ns() - start_ns < 1500 * MS); /* the service thread does not wait for the peer */
    serves_one_good_call(host);
    CHECK(counters_of(host).connections >= 1);
    SOON(counters_of(host).connections == 0);
    close(fd);
    epptok_host_stop(host);
}

static double processor_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void without_descriptors_the_host_waits_and_does_not_spin(void)
{
    uint32_t host = start();
    serves_one_good_call(host);
    int kept = greeted(), waiting = socket(AF_UNIX, SOCK_STREAM, 0);
    struct rlimit limit, small;
    getrlimit(RLIMIT_NOFILE, &limit);
    small = limit;
    int fill[512], filled = 0;
    small.rlim_cur = (rlim_t)waiting + 1;
    /* Everything below the limit is taken, so that accept() finds none. */
    while (filled < 512 && (fill[filled] = dup(0)) >= 0 && fill[filled] < waiting) {
        filled++;
    }
    if (filled < 512 && fill[filled] >= 0) {
        close(fill[filled]);
    }
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
    while (filled > 0) {
        close(fill[--filled]);
    }
    close(kept);
    close(fd);
    epptok_host_stop(host);
}

/* Good frames, cut, joined, doubled and with bytes changed, in pieces of any size: reproducible, the seed is the round. */
static void mangled_bytes_never_harm_the_host(void)
{
    uint32_t host = start_with(4, 0, 1 << 20);
    for (unsigned round = 1; round <= 400; round++) {
        unsigned seed = round;
        uint8_t bytes[2048];
        size_t total = 0;
        int fd = rand_r(&seed) % 4 == 0 ? host_peer_connect(path) : greeted();
        for (int frames = 0; frames < 3; frames++) {
            size_t length;
            uint8_t *made = rand_r(&seed) % 4 == 0
                                ? host_peer_hello_frame(EPPTOK_ABI_VERSION, &length)
                                : host_peer_tokenize(round, (size_t)(rand_r(&seed) % 300), 200, &length);
            memcpy(bytes + total, made, length);
            total += length;
            free(made);
        }
        for (int changes = rand_r(&seed) % 4; changes > 0; changes--) {
            bytes[(size_t)rand_r(&seed) % (rand_r(&seed) % 2 == 0 ? 96 : total)] = (uint8_t)rand_r(&seed);
        }
        total -= (size_t)rand_r(&seed) % total;
        for (size_t sent = 0, part; sent < total; sent += part) {
            part = 1 + (size_t)rand_r(&seed) % 700;
            if (part > total - sent) {
                part = total - sent;
            }
            if (!host_peer_write(fd, bytes + sent, part)) {
                break;
            }
        }
        uint64_t ticket;
        if (next(host, &ticket, 0) == EPPTOK_HOST_JOB) {
            (void)reply_ids(host, ticket, round, 5);
        }
        close(fd);
    }
    SOON(counters_of(host).connections == 0 && counters_of(host).queued_calls == 0);
    CHECK(counters_of(host).bad_frames > 20);
    serves_one_good_call(host);
    epptok_host_stop(host);
}

int main(void)
{
    make_directory();
    RUN(a_library_of_another_version_is_told_both_numbers);
    RUN(a_peer_that_speaks_out_of_turn_is_closed);
    RUN(hostile_frames_harm_their_own_connection_only);
    RUN(a_frame_above_the_limit_is_answered_and_closed);
    RUN(a_claim_costs_nothing_until_the_bytes_come);
    RUN(frames_under_way_are_limited_as_a_whole);
    RUN(a_frame_may_come_byte_by_byte_until_its_deadline);
    RUN(a_peer_that_never_reads_is_closed_after_its_deadline);
    RUN(without_descriptors_the_host_waits_and_does_not_spin);
    RUN(mangled_bytes_never_harm_the_host);
    remove_directory();
    return 0;
}
