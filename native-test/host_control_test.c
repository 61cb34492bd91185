/* Descriptors that come from a parent, and what a forked child inherits. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_path_fixture.h"

#include "../src/native/descriptor.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static int32_t next_within(uint32_t host, uint32_t wait_ms)
{
    uint8_t buffer[1024];
    epptok_host_job job;
    return epptok_host_next(host, EPPTOK_HOST_QUEUE_CALLS, buffer, sizeof buffer, &job, wait_ms);
}

static void connections_come_over_the_control_descriptor_until_its_end(void)
{
    int control[2];
    CHECK(epptok_i_socket_pair(control) == 0);
    uint32_t host = start_at(NULL, NULL, control[1]);
    CHECK(host != 0);
    int pairs[3][2];
    for (int i = 0; i < 3; i++) {
        CHECK(epptok_i_socket_pair(pairs[i]) == 0);
        CHECK(epptok_i_socket_pass(control[0], 'c', pairs[i][1]) == 0);
        close(pairs[i][1]);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(ready_over(pairs[i][0]));
    }
    int file = open("/dev/null", O_RDONLY); /* no socket: dropped, and nothing else happens */
    CHECK(epptok_i_socket_pass(control[0], 'c', file) == 0);
    close(file);
    size_t length;
    uint8_t reply[1024], *call = host_peer_tokenize(1, 10, 20000, &length);
    CHECK(host_peer_write(pairs[0][0], call, length));
    free(call);
    int64_t until = epptok_i_deadline_in_ms(3000);
    epptok_host_counters counters = {0};
    while (counters.queued_calls == 0 && epptok_i_now_ns() < until) {
        epptok_host_counters_read(host, &counters);
    }
    close(control[0]); /* the parent is gone */
    CHECK(host_peer_read_frame(pairs[0][0], reply, sizeof reply) != 0);
    CHECK(host_peer_status(reply) == EPPTOK_SHUTTING_DOWN);
    CHECK(next_within(host, 2000) == EPPTOK_HOST_STOPPED);
    for (int i = 0; i < 3; i++) {
        CHECK(host_peer_is_closed(pairs[i][0], 1000));
        close(pairs[i][0]);
    }
    epptok_host_stop(host);
}

static void the_end_of_control_wakes_a_waiting_service(void)
{
    int control[2];
    CHECK(epptok_i_socket_pair(control) == 0);
    uint32_t host = start_at(NULL, NULL, control[1]);
    pid_t child = fork(); /* holds no copy that would keep the peer alive: it ends at once */
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, NULL, 0);
    close(control[0]);
    int64_t start_ns = epptok_i_now_ns();
    CHECK(next_within(host, 10000) == EPPTOK_HOST_STOPPED);
    CHECK(epptok_i_now_ns() - start_ns < 5000000000ll);
    epptok_host_stop(host);
}

static void a_forked_child_keeps_no_connection_and_no_socket(void)
{
    uint32_t host = start_at(path, NULL, -1);
    int fd = host_peer_connect(path);
    CHECK(ready_over(fd));
    int hold[2];
    CHECK(pipe(hold) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(hold[1]);
        close(fd);
        _exit(read(hold[0], &byte, 1) != 0); /* lives until the parent is done */
    }
    close(hold[0]);
    CHECK(kill(child, 0) == 0);
    uint8_t bad[64] = {0};
    CHECK(host_peer_write(fd, bad, sizeof bad));
    CHECK(host_peer_is_closed(fd, 1000)); /* the parent closes, and the peer sees it */
    close(fd);
    fd = host_peer_connect(path);
    CHECK(ready_over(fd));
    close(fd);
    epptok_host_stop(host);
    uint32_t again = start_at(path, NULL, -1);
    CHECK(again != 0);
    epptok_host_stop(again);
    close(hold[1]);
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    rmdir(directory);
}

/* The parent dies without a word, its forked child lives: nothing of the host may live on with it. */
static void a_child_that_outlives_its_parent_keeps_nothing_open(void)
{
    int hold[2], ready[2];
    CHECK(pipe(hold) == 0 && pipe(ready) == 0);
    pid_t parent = fork();
    if (parent == 0) {
        close(hold[1]);
        if (start_at(path, NULL, -1) == 0) {
            _exit(1);
        }
        int fd = host_peer_connect(path); /* a connection that the child inherits */
        if (!ready_over(fd)) {
            _exit(1);
        }
        if (fork() == 0) {
            char byte;
            close(fd);
            (void)!write(ready[1], "", 1);
            _exit(read(hold[0], &byte, 1) != 0);
        }
        pause();
    }
    close(hold[0]);
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    int fd = host_peer_connect(path);
    CHECK(ready_over(fd));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    CHECK(host_peer_is_closed(fd, 1000));
    close(fd);
    CHECK(host_peer_connect(path) < 0);
    uint32_t host = start_at(path, NULL, -1); /* stale, not live */
    CHECK(host != 0);
    epptok_host_stop(host);
    close(hold[1]);
    close(ready[0]);
    close(ready[1]);
    rmdir(directory);
}

static int lowest_free_descriptor(void)
{
    int fd = dup(0);
    close(fd);
    return fd;
}

static void hosts_that_come_and_go_leave_no_descriptor(void)
{
    int before = lowest_free_descriptor();
    for (int round = 0; round < 300; round++) {
        int control[2];
        CHECK(epptok_i_socket_pair(control) == 0);
        uint32_t host = start_at(path, NULL, control[1]);
        CHECK(host != 0);
        int fds[3];
        for (int i = 0; i < 3; i++) {
            fds[i] = host_peer_connect(path);
            CHECK(fds[i] >= 0);
        }
        CHECK(ready_over(fds[0]));
        CHECK(epptok_i_socket_pass(control[0], 'c', fds[1]) == 0);
        close(fds[2]); /* some leave before the stop, some do not, some are still in the backlog or on their way */
        epptok_host_stop(host);
        close(fds[0]);
        close(fds[1]);
        close(control[0]);
    }
    /* A start that fails leaves none either, and does not take the control descriptor. */
    int control[2];
    CHECK(epptok_i_socket_pair(control) == 0);
    for (int round = 0; round < 100; round++) {
        CHECK(start_at("/nowhere/at/all/socket", NULL, control[1]) == 0);
        CHECK(fcntl(control[1], F_GETFD) >= 0);
    }
    close(control[0]);
    close(control[1]);
    CHECK(lowest_free_descriptor() == before);
    rmdir(directory);
}

/* One that both listens and is passed connections: none of its descriptors is 0, 1 or 2. */
static void without_standard_descriptors_a_host_takes_none_of_their_numbers(void)
{
    for (int first = 0; first < 3; first++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            int control[2], passed[2];
            CHECK(epptok_i_socket_pair(control) == 0 && epptok_i_socket_pair(passed) == 0);
            for (int number = first; number < 3; number++) {
                (void)close(number);
            }
            uint32_t host = start_at(path, NULL, control[1]);
            bool served = host != 0 && epptok_i_socket_pass(control[0], 'c', passed[1]) == 0 && ready_over(passed[0]);
            int connected = -1;
            served = served && epptok_i_socket_connect(path, &connected) == 0;
            served = served && fcntl(connected, F_SETFL, 0) == 0 && ready_over(connected);
            bool untouched = true;
            for (int number = first; number < 3; number++) {
                untouched = untouched && fcntl(number, F_GETFD) < 0;
            }
            if (host != 0) {
                epptok_host_stop(host);
            }
            _exit(!served ? 1 : !untouched ? 2 : 0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK_NUMBER(WEXITSTATUS(status), 0);
    }
    (void)rmdir(directory);
}

int main(void)
{
    make_directory();
    RUN(connections_come_over_the_control_descriptor_until_its_end);
    RUN(the_end_of_control_wakes_a_waiting_service);
    RUN(a_forked_child_keeps_no_connection_and_no_socket);
    RUN(a_child_that_outlives_its_parent_keeps_nothing_open);
    RUN(hosts_that_come_and_go_leave_no_descriptor);
    RUN(without_standard_descriptors_a_host_takes_none_of_their_numbers);
    remove_directory();
    return 0;
}
