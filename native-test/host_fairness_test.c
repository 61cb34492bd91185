/* Of peers that have sent a call each, none is passed over for one that sends its next one quickly; and they count for the limits. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_socket_fixture.h"

enum { PEERS_AT_ONCE = 5 };

/* Peers that all have sent a call to a service that reads, and `limit` as the calls that may wait. */
static uint32_t start_at_once(int fds[PEERS_AT_ONCE], uint32_t limit)
{
    uint32_t host = start_with(limit, 0, 0);
    for (int i = 0; i < PEERS_AT_ONCE; i++) {
        fds[i] = greeted();
    }
    return host;
}

static void send_at_once(uint32_t host, const int fds[PEERS_AT_ONCE], uint64_t round)
{
    uint64_t ticket;
    send_call(fds[0], 9, 100, 5000);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
    CHECK(reply_ids(host, ticket, 9, 1) == 1);
    CHECK(read_status(fds[0], 9) == EPPTOK_OK);
    /* The I/O thread does not lead for a moment now. */
    for (uint64_t i = 0; i < PEERS_AT_ONCE; i++) {
        send_call(fds[i], 10 * round + i, 100, 5000);
    }
}

static void stop_at_once(uint32_t host, const int fds[PEERS_AT_ONCE])
{
    for (int i = 0; i < PEERS_AT_ONCE; i++) {
        close(fds[i]);
    }
    epptok_host_stop(host);
}

/* A peer that is quick enough is readable first each time the service comes back. */
static void each_peer_is_served_once_before_one_is_served_twice(void)
{
    int fds[PEERS_AT_ONCE];
    uint32_t host = start_at_once(fds, 0);
    uint64_t ticket;
    for (uint64_t round = 10; round < 30; round++) {
        send_at_once(host, fds, round);
        unsigned seen[PEERS_AT_ONCE] = {0};
        for (int turn = 0; turn < 2 * PEERS_AT_ONCE; turn++) {
            CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
            uint64_t call_id = host_peer_call_id(request), peer = call_id % 10;
            CHECK(seen[peer]++ == (turn < PEERS_AT_ONCE ? 0u : 1u));
            CHECK(reply_ids(host, ticket, call_id, 1) == 1);
            CHECK(read_status(fds[peer], call_id) == EPPTOK_OK);
            if (turn < PEERS_AT_ONCE) {
                send_call(fds[peer], call_id, 100, 5000);
            }
        }
    }
    stop_at_once(host, fds);
}

static void what_waits_behind_a_call_that_has_landed_counts_for_the_limit(void)
{
    int fds[PEERS_AT_ONCE];
    uint32_t host = start_at_once(fds, 2);
    uint64_t ticket;
    unsigned refused_at_once = 0;
    for (uint64_t round = 10; round < 30; round++) {
        uint64_t before = counters_of(host).refused_backpressure;
        send_at_once(host, fds, round);
        for (int i = 0; i < 3; i++) {
            CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
            /* Sooner than the I/O thread would look. */
            refused_at_once += i == 0 && counters_of(host).refused_backpressure - before == 2;
            CHECK(reply_ids(host, ticket, host_peer_call_id(request), 1) == 1);
        }
        /* If this thread was held up, some calls came after the first was served, and none of them need be refused. */
        while (next(host, &ticket, 0) == EPPTOK_HOST_JOB) {
            CHECK(reply_ids(host, ticket, host_peer_call_id(request), 1) == 1);
        }
        for (uint64_t i = 0; i < PEERS_AT_ONCE; i++) {
            uint32_t status = read_status(fds[i], 10 * round + i);
            CHECK(status == EPPTOK_OK || status == EPPTOK_BACKPRESSURE);
        }
    }
    CHECK(refused_at_once >= 5);
    stop_at_once(host, fds);
}

int main(void)
{
    make_directory();
    RUN(each_peer_is_served_once_before_one_is_served_twice);
    RUN(what_waits_behind_a_call_that_has_landed_counts_for_the_limit);
    remove_directory();
    return 0;
}
