/* The socket file: its modes, and what stood there before. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_path_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/un.h>

static mode_t mode_of(const char *name)
{
    struct stat found;
    return stat(name, &found) == 0 ? found.st_mode & 0777 : 0;
}

static void directory_and_socket_are_private(void)
{
    umask(0);
    uint32_t host = start_at(path, NULL, -1);
    CHECK(host != 0);
    CHECK(mode_of(directory) == 0700);
    CHECK(mode_of(path) == 0600);
    epptok_host_stop(host);
    CHECK(access(path, F_OK) != 0);
    rmdir(directory);
}

static void a_group_may_be_let_in(void)
{
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
    CHECK_NAMES(message, "there is no group no-such-group");
    CHECK(access(directory, F_OK) != 0);
}

static void a_directory_that_exists_keeps_its_mode(void)
{
    CHECK(mkdir(directory, 0755) == 0 && chmod(directory, 0755) == 0);
    uint32_t host = start_at(path, NULL, -1);
    CHECK(host != 0);
    CHECK(mode_of(directory) == 0755);
    epptok_host_stop(host);
    rmdir(directory);
}

static void leave_a_stale_socket(void)
{
    struct sockaddr_un address = {0};
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0);
    close(fd);
}

static void a_stale_socket_is_replaced(void)
{
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

static void a_live_socket_is_an_error_that_names_it(void)
{
    uint32_t host = start_at(path, NULL, -1);
    CHECK(start_at(path, NULL, -1) == 0);
    CHECK_NAMES(message, path);
    CHECK_NAMES(message, "another runtime listens there");
    int fd = host_peer_connect(path); /* the first one is as alive as before */
    CHECK(ready_over(fd));
    close(fd);
    epptok_host_stop(host);
    rmdir(directory);
}

static void what_is_no_socket_is_left_alone(void)
{
    mkdir(directory, 0700);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(write(fd, "precious", 8) == 8);
    close(fd);
    CHECK(start_at(path, NULL, -1) == 0);
    CHECK_NAMES(message, "exists and is not a socket");
    CHECK(access(path, F_OK) == 0);
    unlink(path);
    rmdir(directory);
}

static void only_its_own_socket_file_is_removed(void)
{
    uint32_t host = start_at(path, NULL, -1);
    CHECK(unlink(path) == 0);
    leave_a_stale_socket(); /* somebody else's now */
    epptok_host_stop(host);
    CHECK(access(path, F_OK) == 0);
    unlink(path);
    rmdir(directory);
}

static void paths_that_cannot_be_are_refused(void)
{
    char longer[300];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CHECK(start_at(longer, NULL, -1) == 0);
    CHECK_NAMES(message, "the socket path has 299 bytes");
    CHECK(start_at("", NULL, -1) == 0);
    CHECK(start_at("/nowhere/at/all/socket", NULL, -1) == 0);
    CHECK_NAMES(message, "/nowhere/at/all");
    CHECK(epptok_host_start(NULL, message, sizeof message) == 0);
    CHECK_NAMES(message, "struct_size");
}

static void *start_in_thread(void *number)
{
    epptok_host_options options = {sizeof options, 0, 0, 0, path, NULL, -1, 0};
    char reason[256];
    *(uint32_t *)number = epptok_host_start(&options, reason, sizeof reason);
    return NULL;
}

static void of_two_that_start_together_one_wins(void)
{
    for (int round = 0; round < 20; round++) {
        mkdir(directory, 0700);
        leave_a_stale_socket();
        pthread_t threads[4];
        uint32_t hosts[4];
        int started = 0;
        for (int i = 0; i < 4; i++) {
            pthread_create(&threads[i], NULL, start_in_thread, &hosts[i]);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i], NULL);
        }
        for (int i = 0; i < 4; i++) {
            started += hosts[i] != 0;
        }
        CHECK(started == 1);
        int fd = host_peer_connect(path);
        CHECK(fd >= 0);
        close(fd);
        for (int i = 0; i < 4; i++) {
            epptok_host_stop(hosts[i]);
        }
        rmdir(directory);
    }
}

static void a_relative_path_is_removed_from_another_directory_too(void)
{
    CHECK(chdir(root) == 0);
    uint32_t host = start_at("run/socket", NULL, -1);
    CHECK(host != 0 && access(path, F_OK) == 0);
    CHECK(chdir("/") == 0);
    epptok_host_stop(host);
    CHECK(access(path, F_OK) != 0);
    CHECK(rmdir(directory) == 0);
}

int main(void)
{
    make_directory();
    RUN(directory_and_socket_are_private);
    RUN(a_group_may_be_let_in);
    RUN(a_directory_that_exists_keeps_its_mode);
    RUN(a_stale_socket_is_replaced);
    RUN(a_live_socket_is_an_error_that_names_it);
    RUN(what_is_no_socket_is_left_alone);
    RUN(only_its_own_socket_file_is_removed);
    RUN(paths_that_cannot_be_are_refused);
    RUN(of_two_that_start_together_one_wins);
    RUN(a_relative_path_is_removed_from_another_directory_too);
    remove_directory();
    return 0;
}
