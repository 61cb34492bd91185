/* The socket transport: against the native host, and opening it when something is wrong at the other end. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "scripted_peer.h"
#include "service.h"
#include "socket_calls.h"

/* ---- the native host behind a socket ---- */

static void the_native_host_serves_over_a_socket(void)
{
    service *runtime = service_start(socket_path, -1, 2, 1);
    epptok *handle = opened();
    call one = called(handle, "hello", 0, 0);
    CHECK_STATUS(one.status, EPPTOK_OK);
    CHECK_NUMBER(one.count, 5);
    CHECK_STATUS(called(handle, "", 0, 0).status, EPPTOK_OK);
    call failed = called(handle, "status:12", 0, 0);
    CHECK_STATUS(failed.status, EPPTOK_UNKNOWN_MODEL);
    CHECK_TEXT(failed.message, "as the body asked");
    epptok_result *result = NULL;
    size_t length;
    CHECK_STATUS(epptok_stats(handle, 1000, &result), EPPTOK_OK);
    CHECK_NAMES(epptok_result_text(result, &length), "epptok_up");
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
}

static void a_body_of_ten_megabytes_passes(void)
{
    service *runtime = service_start(socket_path, -1, 1, 1);
    epptok *handle = opened();
    size_t length = 10u << 20;
    char *body = malloc(length);
    CHECK(body != NULL);
    memset(body, 'x', length);
    call large = {handle, body, length, 0, 20000, EPPTOK_INTERNAL, "", 0, 0};
    (void)make_call(&large);
    CHECK_STATUS(large.status, EPPTOK_OK);
    CHECK_NUMBER(large.count, length);
    free(body);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
}

static void a_body_beyond_the_limit_is_refused_not_lost(void)
{
    service *runtime = service_start(socket_path, -1, 1, 1);
    epptok *handle = opened();
    size_t length = (size_t)65 << 20;
    char *body = calloc(1, length);
    CHECK(body != NULL);
    call large = {handle, body, length, 0, 20000, EPPTOK_INTERNAL, "", 0, 0};
    (void)make_call(&large);
    CHECK_STATUS(large.status, EPPTOK_INVALID_REQUEST);
    free(body);
    CHECK_STATUS(called(handle, "abc", 0, 0).status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
}

static void a_restarted_sidecar_is_found_again(void)
{
    service *runtime = service_start(socket_path, -1, 1, 1);
    epptok *handle = opened();
    CHECK_STATUS(called(handle, "abc", 0, 0).status, EPPTOK_OK);
    service_stop(runtime);
    call lost = called(handle, "abc", 0, 1000);
    CHECK_STATUS(lost.status, EPPTOK_UNAVAILABLE);
    CHECK_NAMES(lost.message, socket_path);
    CHECK_STATUS(epptok_ready(handle, 1000), EPPTOK_UNAVAILABLE);
    runtime = service_start(socket_path, -1, 1, 1);
    CHECK_STATUS(called(handle, "abc", 0, 1000).status, EPPTOK_OK);
    CHECK_STATUS(epptok_ready(handle, 1000), EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
}

static void a_sidecar_that_loads_is_awaited_by_open_and_reported_by_ready(void)
{
    service *runtime = service_start(socket_path, -1, 1, 0);
    epptok *handle = NULL;
    char message[256];
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.socket_path = socket_path;
    options.open_timeout_ms = 80;
    CHECK_STATUS(epptok_open(&options, &handle, message, sizeof message), EPPTOK_TIMEOUT);
    CHECK_NAMES(message, "loading");
    service_ready(runtime, EPPTOK_OK, "");
    handle = opened();
    service_ready(runtime, EPPTOK_NOT_READY, "loading again");
    CHECK_STATUS(epptok_ready(handle, 1000), EPPTOK_NOT_READY);
    CHECK_STATUS(called(handle, "abc", 0, 1000).status, EPPTOK_NOT_READY);
    service_ready(runtime, EPPTOK_OK, "");
    CHECK_STATUS(called(handle, "abc", 0, 1000).status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
}

/* ---- opening ---- */

static void a_socket_that_is_not_there_is_named(void)
{
    epptok *handle = NULL;
    char message[256], long_path[300];
    CHECK_STATUS(open_at("/nowhere/epptok.sock", 0, &handle, message), EPPTOK_UNAVAILABLE);
    CHECK_NAMES(message, "/nowhere/epptok.sock");
    CHECK(handle == NULL);
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    CHECK_STATUS(open_at(long_path, 0, &handle, message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "socket_path");
}

static void a_relative_path_stays_what_it_was_at_open(void)
{
    service *runtime = service_start(socket_path, -1, 1, 1);
    epptok *handle = NULL;
    char message[256];
    CHECK(chdir(socket_folder) == 0);
    CHECK_STATUS(open_at(strrchr(socket_path, '/') + 1, 0, &handle, message), EPPTOK_OK);
    CHECK(chdir("/") == 0);
    service_stop(runtime);
    runtime = service_start(socket_path, -1, 1, 1);
    CHECK_STATUS(called(handle, "abc", 0, 1000).status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
    CHECK_STATUS(open_at("", 0, &handle, message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "socket_path");
}

static void a_relative_path_that_is_too_long_as_an_absolute_one_is_named(void)
{
    epptok *handle = NULL;
    char message[256], deep[180];
    int length = snprintf(deep, sizeof deep, "%s/", socket_folder);
    memset(deep + length, 'x', 100);
    deep[length + 100] = '\0';
    CHECK(mkdir(deep, 0700) == 0 && chdir(deep) == 0);
    CHECK_STATUS(open_at("short.sock", 0, &handle, message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.socket_path");
    CHECK_NAMES(message, "short.sock");
    CHECK(chdir("/") == 0 && rmdir(deep) == 0);
}

static void a_dead_socket_file_is_unavailable(void)
{
    peer left;
    epptok *handle = NULL;
    char message[256], moved[96];
    peer_start(&left, socket_path, HONEST);
    (void)snprintf(moved, sizeof moved, "%s.left", socket_path);
    CHECK(rename(socket_path, moved) == 0);
    peer_stop(&left, socket_path);
    CHECK_STATUS(open_at(moved, 0, &handle, message), EPPTOK_UNAVAILABLE);
    CHECK_NAMES(message, "refused");
    (void)unlink(moved);
}

static void a_peer_of_another_abi_is_a_mismatch(void)
{
    static const behaviour both[] = {REFUSE_ABI, OTHER_ABI};
    for (unsigned i = 0; i < 2; i++) {
        peer other;
        epptok *handle = NULL;
        char message[256];
        peer_start(&other, socket_path, both[i]);
        CHECK_STATUS(open_at(socket_path, 0, &handle, message), EPPTOK_ABI_MISMATCH);
        CHECK_NAMES(message, "ABI");
        CHECK_NAMES(message, "9");
        peer_stop(&other, socket_path);
    }
}

static void a_refusal_in_the_welcome_is_passed_on(void)
{
    peer other;
    epptok *handle = NULL;
    char message[256];
    peer_start(&other, socket_path, REFUSE_WITH_MESSAGE);
    CHECK_STATUS(open_at(socket_path, 0, &handle, message), EPPTOK_SHUTTING_DOWN);
    CHECK_NAMES(message, "no more today");
    peer_stop(&other, socket_path);
}

static void a_peer_that_hangs_up_at_once_is_given_up(void)
{
    peer other;
    epptok *handle = NULL;
    char message[256];
    peer_start(&other, socket_path, NO_WELCOME);
    CHECK_STATUS(open_at(socket_path, 0, &handle, message), EPPTOK_UNAVAILABLE);
    for (unsigned i = 0; i < 100 && peer_accepted(&other) < 3; i++) {
        check_sleep_ms(10);
    }
    CHECK_NUMBER(peer_accepted(&other), 3);
    peer_stop(&other, socket_path);
}

static void a_socket_of_another_user_is_refused_unless_allowed(void)
{
    if (geteuid() != 0) {
        printf("   (needs root to show)\n");
        return;
    }
    int ready[2];
    CHECK(pipe(ready) == 0);
    CHECK(chmod(socket_folder, 0777) == 0);
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        peer self;
        CHECK(setuid(65534) == 0);
        peer_start(&self, socket_path, HONEST);
        (void)!write(ready[1], "r", 1);
        (void)alarm(10);
        for (;;) {
            (void)pause();
        }
    }
    char byte;
    CHECK(read(ready[0], &byte, 1) == 1);
    epptok *handle = NULL;
    char message[256];
    CHECK_STATUS(open_at(socket_path, 0, &handle, message), EPPTOK_INIT_FAILED);
    CHECK_NAMES(message, "65534");
    CHECK_STATUS(open_at(socket_path, EPPTOK_OPEN_ALLOW_OTHER_USER, &handle, message), EPPTOK_OK);
    CHECK_STATUS(called(handle, "abc", 0, 0).status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
    CHECK(chmod(socket_folder, 0700) == 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)unlink(socket_path);
}

int main(void)
{
    socket_calls_begin();
    RUN(the_native_host_serves_over_a_socket);
    RUN(a_body_of_ten_megabytes_passes);
    RUN(a_body_beyond_the_limit_is_refused_not_lost);
    RUN(a_restarted_sidecar_is_found_again);
    RUN(a_sidecar_that_loads_is_awaited_by_open_and_reported_by_ready);
    RUN(a_socket_that_is_not_there_is_named);
    RUN(a_relative_path_stays_what_it_was_at_open);
    RUN(a_relative_path_that_is_too_long_as_an_absolute_one_is_named);
    RUN(a_dead_socket_file_is_unavailable);
    RUN(a_peer_of_another_abi_is_a_mismatch);
    RUN(a_refusal_in_the_welcome_is_passed_on);
    RUN(a_peer_that_hangs_up_at_once_is_given_up);
    RUN(a_socket_of_another_user_is_refused_unless_allowed);
    socket_calls_end();
    return 0;
}
