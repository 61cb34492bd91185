/* How connections reach the host: the socket file, its modes, what stood there before; the control descriptor; fork. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_check.h"
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/descriptor.h"
#include "../src/native/frame.h"
#include "../src/native/host.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[32], directory[48], path[64], message[256];

static uint32_t start_at(const char *socket_path, const char *group, int control_fd) {
    epptok_host_options options = {sizeof options, 0, 0, 0, socket_path, group, control_fd, 0};
    uint32_t host = epptok_host_start(&options, message, sizeof message);
    if (host != 0) epptok_host_set_ready(host, EPPTOK_OK, NULL);
    return host;
}

static mode_t mode_of(const char *name) {
    struct stat found;
    return stat(name, &found) == 0 ? found.st_mode & 0777 : 0;
}

static bool ready_over(int fd) {
    size_t length;
    uint8_t reply[1024], *ready = host_peer_call(EPPTOK_I_READY, 5, 1000, &length);
    bool done = host_peer_hello(fd) == EPPTOK_OK && host_peer_write(fd, ready, length) &&
                host_peer_read_frame(fd, reply, sizeof reply) != 0 && host_peer_status(reply) == EPPTOK_OK;
    free(ready);
    return done;
}

static void directory_and_socket_are_private(void) {
    umask(0);
    uint32_t host = start_at(path, NULL, -1);
    CHECK(host != 0);
    CHECK(mode_of(directory) == 0700);
    CHECK(mode_of(path) == 0600);
    epptok_host_stop(host);
    CHECK(access(path, F_OK) != 0);
    rmdir(directory);
}

static void a_group_may_be_let_in(void) {
    umask(077);
    char group[32];
    snprintf(group, sizeof group, "%u", (unsigned)getegid());
    uint32_t host = start_at(path, group, -1);
    CHECK(host != 0);
    CHECK(mode_of(directory) == 0750);
    CHECK(mode_of(path) == 0660);
    epptok_host_stop(host);
    rmdir(directory);
    CHECK(start_at(path, "no-such-group", -1) == 0);
    CHECK_TEXT(message, "there is no group no-such-group");
    CHECK(access(directory, F_OK) != 0);
}

static void a_directory_that_exists_keeps_its_mode(void) {
    CHECK(mkdir(directory, 0755) == 0 && chmod(directory, 0755) == 0);
    uint32_t host = start_at(path, NULL, -1);
    CHECK(host != 0);
    CHECK(mode_of(directory) == 0755);
    epptok_host_stop(host);
    rmdir(directory);
}

static void leave_a_stale_socket(void) {
    struct sockaddr_un address = {0};
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    close(fd);
}

static void a_stale_socket_is_replaced(void) {
    mkdir(directory, 0700);
    leave_a_stale_socket();
    CHECK(host_peer_connect(path) < 0);
    uint32_t host = start_at(path, NULL, -1);
    CHECK(host != 0);
    int fd = host_peer_connect(path);
    CHECK(ready_over(fd));
    close(fd);
    epptok_host_stop(host);
    rmdir(directory);
}

static void a_live_socket_is_an_error_that_names_it(void) {
    uint32_t host = start_at(path, NULL, -1);
    CHECK(start_at(path, NULL, -1) == 0);
    CHECK_TEXT(message, path);
    CHECK_TEXT(message, "another runtime listens there");
    int fd = host_peer_connect(path); /* the first one is as alive as before */
    CHECK(ready_over(fd));
    close(fd);
    epptok_host_stop(host);
    rmdir(directory);
}

static void what_is_no_socket_is_left_alone(void) {
    mkdir(directory, 0700);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(write(fd, "precious", 8) == 8);
    close(fd);
    CHECK(start_at(path, NULL, -1) == 0);
    CHECK_TEXT(message, "exists and is not a socket");
    CHECK(access(path, F_OK) == 0);
    unlink(path);
    rmdir(directory);
}

static void only_its_own_socket_file_is_removed(void) {
    uint32_t host = start_at(path, NULL, -1);
    CHECK(unlink(path) == 0);
    leave_a_stale_socket(); /* somebody else's now */
    epptok_host_stop(host);
    CHECK(access(path, F_OK) == 0);
    unlink(path);
    rmdir(directory);
}

static void paths_that_cannot_be_are_refused(void) {
    char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CHECK(start_at(longer, NULL, -1) == 0);
    CHECK_TEXT(message, "the socket path has 299 bytes");
    CHECK(start_at("", NULL, -1) == 0);
    CHECK(start_at("/nowhere/at/all/socket", NULL, -1) == 0);
    CHECK_TEXT(message, "/nowhere/at/all");
    CHECK(epptok_host_start(NULL, message, sizeof message) == 0);
    CHECK_TEXT(message, "struct_size");
}

static void *start_in_thread(void *number) {
    epptok_host_options options = {sizeof options, 0, 0, 0, path, NULL, -1, 0};
    char reason[256];
    *(uint32_t *)number = epptok_host_start(&options, reason, sizeof reason);
    return NULL;
}

static void of_two_that_start_together_one_wins(void) {
    for (int round = 0; round < 20; round++) {
        mkdir(directory, 0700);
        leave_a_stale_socket();
        pthread_t threads[4];
        uint32_t hosts[4];
        int started = 0;
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, start_in_thread, &hosts[i]);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < 4; i++) started += hosts[i] != 0;
        CHECK(started == 1);
        int fd = host_peer_connect(path);
        CHECK(fd >= 0);
        close(fd);
        for (int i = 0; i < 4; i++) epptok_host_stop(hosts[i]);
        rmdir(directory);
    }
}

static int32_t next_within(uint32_t host, uint32_t wait_ms) {
    uint8_t buffer[1024];
    epptok_host_job job;
    return epptok_host_next(host, EPPTOK_HOST_QUEUE_CALLS, buffer, sizeof buffer, &job, wait_ms);
}

static void connections_come_over_the_control_descriptor_until_its_end(void) {
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
    for (int i = 0; i < 3; i++) CHECK(ready_over(pairs[i][0]));
    int file = open("/dev/null", O_RDONLY); /* no socket: dropped, and nothing else happens */
    CHECK(epptok_i_socket_pass(control[0], 'c', file) == 0);
    close(file);
    size_t length;
    uint8_t reply[1024], *call = host_peer_tokenize(1, 10, 20000, &length);
    CHECK(host_peer_write(pairs[0][0], call, length));
    free(call);
    int64_t until = epptok_i_deadline_in_ms(3000);
    epptok_host_counters counters = {0};
    while (counters.queued_calls == 0 && epptok_i_now_ns() < until) epptok_host_counters_read(host, &counters);
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

static void the_end_of_control_wakes_a_waiting_service(void) {
    int control[2];
    CHECK(epptok_i_socket_pair(control) == 0);
    uint32_t host = start_at(NULL, NULL, control[1]);
    pid_t child = fork(); /* holds no copy that would keep the peer alive: it ends at once */
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    close(control[0]);
    int64_t start_ns = epptok_i_now_ns();
    CHECK(next_within(host, 10000) == EPPTOK_HOST_STOPPED);
    CHECK(epptok_i_now_ns() - start_ns < 1000000000ll);
    epptok_host_stop(host);
}

static void a_forked_child_keeps_no_connection_and_no_socket(void) {
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

#define TEST(name) {#name, name}
int main(int argc, char **argv) {
    static const host_check_test tests[] = {
        TEST(directory_and_socket_are_private),
        TEST(a_group_may_be_let_in),
        TEST(a_directory_that_exists_keeps_its_mode),
        TEST(a_stale_socket_is_replaced),
        TEST(a_live_socket_is_an_error_that_names_it),
        TEST(what_is_no_socket_is_left_alone),
        TEST(only_its_own_socket_file_is_removed),
        TEST(paths_that_cannot_be_are_refused),
        TEST(of_two_that_start_together_one_wins),
        TEST(connections_come_over_the_control_descriptor_until_its_end),
        TEST(the_end_of_control_wakes_a_waiting_service),
        TEST(a_forked_child_keeps_no_connection_and_no_socket),
    };
    strcpy(root, "/tmp/epptok-test-XXXXXX");
    if (mkdtemp(root) == NULL) return 1;
    snprintf(directory, sizeof directory, "%s/run", root);
    snprintf(path, sizeof path, "%s/socket", directory);
    int failed = host_check_run(tests, sizeof tests / sizeof *tests, argc, argv);
    rmdir(root);
    return failed;
}
