/* Connections that say nothing, or never finish saying HELLO. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_socket_fixture.h"

#define HELLO_LIMIT_MS 500

static uint32_t start_with_hello_limit(void)
{
    epptok_host_options options = {sizeof options, 0, 0, 0, path, NULL, -1, HELLO_LIMIT_MS};
    uint32_t host = epptok_host_start(&options, message, sizeof message);
    CHECK(host != 0);
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    return host;
}

/* Not before the limit by more than the connecting took, and not as late as any other limit would be. */
static void closed_by_the_limit(int fd, int64_t connected_ns)
{
    CHECK(host_peer_is_closed(fd, 5000));
    CHECK(epptok_i_now_ns() - connected_ns >= HELLO_LIMIT_MS * MS);
    close(fd);
}

static void a_peer_that_says_nothing_is_closed(void)
{
    uint32_t host = start_with_hello_limit();
    int64_t now = epptok_i_now_ns();
    int fd = host_peer_connect(path);
    closed_by_the_limit(fd, now);
    CHECK(counters_of(host).connections == 0);
    epptok_host_stop(host);
}

static void bytes_of_a_hello_do_not_prolong_the_limit(void)
{
    uint32_t host = start_with_hello_limit();
    size_t length;
    uint8_t *hello = host_peer_hello_frame(EPPTOK_ABI_VERSION, &length);
    int64_t now = epptok_i_now_ns();
    int part = host_peer_connect(path), drips = host_peer_connect(path);
    CHECK(host_peer_write(part, hello, length - 1));
    size_t sent = 0;
    /* More bytes than fit into the limit at that pace: it ends when the host has closed. */
    while (sent < length - 1 && send(drips, hello + sent, 1, MSG_NOSIGNAL) == 1) {
        sent++;
        usleep(20000);
    }
    CHECK(sent > 0 && sent < length - 1);
    closed_by_the_limit(drips, now);
    closed_by_the_limit(part, now);
    free(hello);
    epptok_host_stop(host);
}

static void one_that_has_said_hello_may_be_silent_and_is_served_later(void)
{
    uint32_t host = start_with_hello_limit();
    uint64_t ticket;
    int fd = greeted();
    CHECK(!host_peer_is_closed(fd, 3 * HELLO_LIMIT_MS));
    send_call(fd, 7, 10, 5000);
    CHECK(next(host, &ticket, 5000) == EPPTOK_HOST_JOB);
    epptok_host_stop(host);
    close(fd);
}

static void silent_peers_do_not_hold_up_one_that_speaks(void)
{
    uint32_t host = start_with_hello_limit();
    int silent[100];
    for (int i = 0; i < 100; i++) {
        silent[i] = host_peer_connect(path);
        CHECK(silent[i] >= 0);
    }
    serves_one_good_call(host);
    for (int i = 0; i < 100; i++) {
        CHECK(host_peer_is_closed(silent[i], 5000));
        close(silent[i]);
    }
    SOON(counters_of(host).connections == 0);
    epptok_host_stop(host);
}

int main(void)
{
    make_directory();
    RUN(a_peer_that_says_nothing_is_closed);
    RUN(bytes_of_a_hello_do_not_prolong_the_limit);
    RUN(one_that_has_said_hello_may_be_silent_and_is_served_later);
    RUN(silent_peers_do_not_hold_up_one_that_speaks);
    remove_directory();
    return 0;
}
