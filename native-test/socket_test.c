/* The socket transport: against the native host, and against peers that misbehave. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/native/frame.h"
#include "check.h"
#include "service.h"

static char folder[] = "/tmp/epptok-socket-test-XXXXXX";
static char path[64];

/* ---- a peer that does as it is told ---- */

typedef enum behaviour {
    HONEST,
    NO_WELCOME,
    REFUSE_ABI,
    OTHER_ABI,
    REFUSE_WITH_MESSAGE,
    NEVER_ANSWER,
    NEVER_READ,
    HANG_UP_ON_CALL,
    HANG_UP_AFTER_ANSWER,
    HANG_UP_IN_ANSWER,
    TRICKLE,
    NO_FRAME,
    HUGE_FRAME,
    STRAY_ANSWER,
    TWO_ANSWERS,
    SPEAK_WHILE_IDLE,
    REFUSE_BY_SIZE
} behaviour;

typedef struct peer {
    int listener;
    behaviour behaves;
    pthread_t acceptor;
    pthread_t threads[64];
    int descriptors[64];
    unsigned accepted;
    unsigned calls;
    bool stopping;
} peer;

typedef struct served_connection {
    peer *owner;
    int descriptor;
} served_connection;

static bool read_all(int descriptor, uint8_t *to, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = read(descriptor, to + done, length - done);
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool send_all(int descriptor, const uint8_t *from, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t sent = send(descriptor, from + done, length - done, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        done += (size_t)sent;
    }
    return true;
}

static uint8_t *read_request(int descriptor, size_t *length)
{
    uint8_t header[64];
    uint64_t announced;
    if (!read_all(descriptor, header, 64) || epptok_i_frame_announced(header, 1u << 28, &announced) != NULL) {
        return NULL;
    }
    uint8_t *frame = malloc((size_t)announced);
    CHECK(frame != NULL);
    memcpy(frame, header, 64);
    *length = (size_t)announced;
    if (!read_all(descriptor, frame + 64, *length - 64)) {
        free(frame);
        return NULL;
    }
    return frame;
}

static bool send_frame(int descriptor, epptok_i_frame_type type, epptok_status status, uint32_t abi, uint64_t call_id,
                       const char *message)
{
    uint32_t words[EPPTOK_I_WORDS] = {(uint32_t)status, abi};
    epptok_i_section section = {EPPTOK_I_MESSAGE, message, strlen(message)};
    epptok_i_outgoing frame;
    uint8_t bytes[512];
    CHECK(epptok_i_frame_encode(&frame, type, call_id, words, &section, 1) && frame.length <= sizeof bytes);
    epptok_i_frame_write(&frame, bytes);
    return send_all(descriptor, bytes, frame.length);
}

static behaviour does(const peer *self) { return __atomic_load_n(&self->behaves, __ATOMIC_SEQ_CST); }

static unsigned accepted_by(const peer *self) { return __atomic_load_n(&self->accepted, __ATOMIC_SEQ_CST); }
static unsigned calls_of(const peer *self) { return __atomic_load_n(&self->calls, __ATOMIC_SEQ_CST); }

static bool welcome(const peer *self, int descriptor)
{
    size_t length;
    uint8_t *hello = read_request(descriptor, &length);
    bool greeted = hello != NULL && hello[6] == EPPTOK_I_HELLO;
    free(hello);
    switch (does(self)) {
    case NO_WELCOME:
        return false;
    case REFUSE_ABI:
        (void)send_frame(descriptor, EPPTOK_I_WELCOME, EPPTOK_ABI_MISMATCH, 9, 0, "this runtime is of ABI 9");
        return false;
    case REFUSE_WITH_MESSAGE:
        (void)send_frame(descriptor, EPPTOK_I_WELCOME, EPPTOK_SHUTTING_DOWN, 1, 0, "no more today");
        return false;
    default:
        return greeted &&
               send_frame(descriptor, EPPTOK_I_WELCOME, EPPTOK_OK, does(self) == OTHER_ABI ? 9 : 1, 0, "");
    }
}

/* At least as long as a header. */
static const char HTTP_ANSWER[] = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nno\r\n";

/* False: the connection is to be closed. */
static bool answer(peer *self, int descriptor, const uint8_t *request, size_t request_length)
{
    size_t length = 0;
    uint8_t *bytes = service_answer(request, request_length, 1, &length);
    bool going_on = true;
    if (request[6] == EPPTOK_I_READY) {
        going_on = send_all(descriptor, bytes, length);
        free(bytes);
        return going_on;
    }
    (void)__atomic_add_fetch(&self->calls, 1, __ATOMIC_SEQ_CST);
    switch (does(self)) {
    case NEVER_ANSWER:
        break;
    case HANG_UP_ON_CALL:
        going_on = false;
        break;
    case HANG_UP_AFTER_ANSWER:
        (void)send_all(descriptor, bytes, length);
        going_on = false;
        break;
    case HANG_UP_IN_ANSWER:
        (void)send_all(descriptor, bytes, length / 2);
        going_on = false;
        break;
    case TRICKLE:
        for (size_t i = 0; i < length && going_on; i++) {
            going_on = send_all(descriptor, bytes + i, 1);
            check_sleep_ms(20);
        }
        break;
    case NO_FRAME:
        going_on = send_all(descriptor, (const uint8_t *)HTTP_ANSWER, sizeof HTTP_ANSWER - 1);
        break;
    case HUGE_FRAME: {
        uint64_t huge = UINT64_MAX - 7;
        memcpy(bytes + 8, &huge, sizeof huge);
        going_on = send_all(descriptor, bytes, length);
        break;
    }
    case STRAY_ANSWER:
        bytes[16] ^= 1;
        going_on = send_all(descriptor, bytes, length);
        break;
    case TWO_ANSWERS: {
        uint8_t *twice = malloc(2 * length);
        CHECK(twice != NULL);
        memcpy(twice, bytes, length);
        memcpy(twice + length, bytes, length);
        going_on = send_all(descriptor, twice, 2 * length);
        free(twice);
        break;
    }
    case SPEAK_WHILE_IDLE:
        going_on = send_all(descriptor, bytes, length);
        check_sleep_ms(20);
        going_on = send_all(descriptor, bytes, length);
        break;
    default:
        going_on = send_all(descriptor, bytes, length);
    }
    free(bytes);
    return going_on;
}

static void *serve_connection(void *argument)
{
    served_connection *given = argument;
    peer *self = given->owner;
    int descriptor = given->descriptor;
    free(given);
    bool going_on = welcome(self, descriptor);
    while (going_on) {
        uint8_t header[64];
        if (does(self) == NEVER_READ || does(self) == REFUSE_BY_SIZE) {
            /* Reads the questions of open, and no more than the header of a call. */
            ssize_t got = recv(descriptor, header, 64, MSG_PEEK | MSG_WAITALL);
            if (got == 64 && header[6] != EPPTOK_I_READY) {
                if (does(self) == REFUSE_BY_SIZE) {
                    (void)send_frame(descriptor, EPPTOK_I_RESPONSE, EPPTOK_INVALID_REQUEST, 0, 0, "longer than 64 MiB");
                    break;
                }
                while (!__atomic_load_n(&self->stopping, __ATOMIC_SEQ_CST)) {
                    check_sleep_ms(5);
                }
                break;
            }
        }
        size_t length;
        uint8_t *request = read_request(descriptor, &length);
        if (request == NULL) {
            break;
        }
        going_on = answer(self, descriptor, request, length);
        free(request);
    }
    (void)shutdown(descriptor, SHUT_RDWR);
    return NULL;
}

static void *accept_all(void *argument)
{
    peer *self = argument;
    for (;;) {
        int descriptor = accept(self->listener, NULL, NULL);
        if (descriptor < 0) {
            return NULL;
        }
        served_connection *given = malloc(sizeof *given);
        CHECK(given != NULL && self->accepted < 64);
        given->owner = self;
        given->descriptor = descriptor;
        self->descriptors[self->accepted] = descriptor;
        CHECK(pthread_create(&self->threads[self->accepted], NULL, serve_connection, given) == 0);
        (void)__atomic_add_fetch(&self->accepted, 1, __ATOMIC_SEQ_CST);
    }
}

static void peer_start(peer *self, behaviour behaves)
{
    struct sockaddr_un address;
    memset(self, 0, sizeof *self);
    memset(&address, 0, sizeof address);
    self->behaves = behaves;
    address.sun_family = AF_UNIX;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    (void)unlink(path);
    self->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(self->listener >= 0);
    CHECK(bind(self->listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(self->listener, 64) == 0);
    CHECK(pthread_create(&self->acceptor, NULL, accept_all, self) == 0);
}

static void peer_stop(peer *self)
{
    __atomic_store_n(&self->stopping, true, __ATOMIC_SEQ_CST);
    (void)shutdown(self->listener, SHUT_RDWR);
    (void)pthread_join(self->acceptor, NULL);
    (void)close(self->listener);
    for (unsigned i = 0; i < self->accepted; i++) {
        (void)shutdown(self->descriptors[i], SHUT_RDWR);
        (void)pthread_join(self->threads[i], NULL);
        (void)close(self->descriptors[i]);
    }
    (void)unlink(path);
}

/* ---- the library's side ---- */

static epptok_status open_at(const char *socket_path, uint32_t flags, epptok **handle, char message[256])
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.socket_path = socket_path;
    options.flags = flags;
    options.open_timeout_ms = 2000;
    return epptok_open(&options, handle, message, 256);
}

static epptok *opened(void)
{
    epptok *handle = NULL;
    char message[256];
    if (open_at(path, 0, &handle, message) != EPPTOK_OK) {
        FAIL_AT("%s", message);
    }
    return handle;
}

typedef struct call {
    epptok *handle;
    const char *body;
    size_t length;
    uint64_t call_id;
    uint32_t timeout_ms;
    epptok_status status;
    char message[256];
    size_t count;
    int64_t took_ms;
} call;

static void *make_call(void *argument)
{
    call *self = argument;
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = self->body;
    request.length = self->length;
    request.call_id = self->call_id;
    request.timeout_ms = self->timeout_ms;
    int64_t start = check_now_ms();
    epptok_result *result = NULL;
    self->status = epptok_tokenize(self->handle, &request, &result);
    self->took_ms = check_now_ms() - start;
    CHECK_STATUS(epptok_result_status(result), self->status);
    CHECK((self->status == EPPTOK_OK) == (epptok_result_message(result)[0] == '\0'));
    (void)snprintf(self->message, sizeof self->message, "%s", epptok_result_message(result));
    (void)epptok_result_ids(result, 0, &self->count);
    if (self->status == EPPTOK_OK) {
        CHECK_NUMBER(epptok_result_transport(result), EPPTOK_TRANSPORT_SOCKET);
    }
    epptok_result_free(&result);
    return NULL;
}

static call called(epptok *handle, const char *body, uint64_t call_id, uint32_t timeout_ms)
{
    call one = {handle, body, strlen(body), call_id, timeout_ms, EPPTOK_INTERNAL, "", 0, 0};
    (void)make_call(&one);
    return one;
}

/* ---- the native host behind a socket ---- */

static void the_native_host_serves_over_a_socket(void)
{
    service *runtime = service_start(path, -1, 2, 1);
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
    service *runtime = service_start(path, -1, 1, 1);
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
    service *runtime = service_start(path, -1, 1, 1);
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
    service *runtime = service_start(path, -1, 1, 1);
    epptok *handle = opened();
    CHECK_STATUS(called(handle, "abc", 0, 0).status, EPPTOK_OK);
    service_stop(runtime);
    call lost = called(handle, "abc", 0, 1000);
    CHECK_STATUS(lost.status, EPPTOK_UNAVAILABLE);
    CHECK_NAMES(lost.message, path);
    CHECK_STATUS(epptok_ready(handle, 1000), EPPTOK_UNAVAILABLE);
    runtime = service_start(path, -1, 1, 1);
    CHECK_STATUS(called(handle, "abc", 0, 1000).status, EPPTOK_OK);
    CHECK_STATUS(epptok_ready(handle, 1000), EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
}

static void a_sidecar_that_loads_is_awaited_by_open_and_reported_by_ready(void)
{
    service *runtime = service_start(path, -1, 1, 0);
    epptok *handle = NULL;
    char message[256];
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.socket_path = path;
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

static void a_dead_socket_file_is_unavailable(void)
{
    peer left;
    epptok *handle = NULL;
    char message[256], moved[96];
    peer_start(&left, HONEST);
    (void)snprintf(moved, sizeof moved, "%s.left", path);
    CHECK(rename(path, moved) == 0);
    peer_stop(&left);
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
        peer_start(&other, both[i]);
        CHECK_STATUS(open_at(path, 0, &handle, message), EPPTOK_ABI_MISMATCH);
        CHECK_NAMES(message, "ABI");
        CHECK_NAMES(message, "9");
        peer_stop(&other);
    }
}

static void a_refusal_in_the_welcome_is_passed_on(void)
{
    peer other;
    epptok *handle = NULL;
    char message[256];
    peer_start(&other, REFUSE_WITH_MESSAGE);
    CHECK_STATUS(open_at(path, 0, &handle, message), EPPTOK_SHUTTING_DOWN);
    CHECK_NAMES(message, "no more today");
    peer_stop(&other);
}

static void a_peer_that_hangs_up_at_once_is_given_up(void)
{
    peer other;
    epptok *handle = NULL;
    char message[256];
    peer_start(&other, NO_WELCOME);
    CHECK_STATUS(open_at(path, 0, &handle, message), EPPTOK_UNAVAILABLE);
    for (unsigned i = 0; i < 100 && accepted_by(&other) < 3; i++) {
        check_sleep_ms(10);
    }
    CHECK_NUMBER(accepted_by(&other), 3);
    peer_stop(&other);
}

static void a_socket_of_another_user_is_refused_unless_allowed(void)
{
    if (geteuid() != 0) {
        printf("   (needs root to show)\n");
        return;
    }
    int ready[2];
    CHECK(pipe(ready) == 0);
    CHECK(chmod(folder, 0777) == 0);
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        peer self;
        CHECK(setuid(65534) == 0);
        peer_start(&self, HONEST);
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
    CHECK_STATUS(open_at(path, 0, &handle, message), EPPTOK_INIT_FAILED);
    CHECK_NAMES(message, "65534");
    CHECK_STATUS(open_at(path, EPPTOK_OPEN_ALLOW_OTHER_USER, &handle, message), EPPTOK_OK);
    CHECK_STATUS(called(handle, "abc", 0, 0).status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(kill(other, SIGKILL) == 0 && waitpid(other, NULL, 0) == other);
    CHECK(chmod(folder, 0700) == 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)unlink(path);
}

/* ---- deadlines, cancelling, closing ---- */

/* Each within the slack of a busy machine, one of them within the 20 ms that are promised. */
static void a_call_times_out_at_its_deadline(behaviour behaves, size_t length)
{
    peer other;
    peer_start(&other, behaves);
    epptok *handle = opened();
    char *body = calloc(1, length);
    CHECK(body != NULL);
    int64_t least = 1000;
    for (unsigned attempt = 0; attempt < 10 && least > 120; attempt++) {
        call late = {handle, body, length, 0, 100, EPPTOK_OK, "", 0, 0};
        (void)make_call(&late);
        CHECK_STATUS(late.status, EPPTOK_TIMEOUT);
        CHECK_NAMES(late.message, "deadline");
        CHECK(late.took_ms >= 99 && late.took_ms < 100 + SLACK_MS);
        least = late.took_ms < least ? late.took_ms : least;
    }
    CHECK(least <= 120);
    free(body);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other);
}

static void a_silent_peer_costs_the_deadline(void) { a_call_times_out_at_its_deadline(NEVER_ANSWER, 10); }
static void a_trickling_peer_costs_the_deadline(void) { a_call_times_out_at_its_deadline(TRICKLE, 10); }
static void a_peer_that_does_not_read_costs_the_deadline(void) { a_call_times_out_at_its_deadline(NEVER_READ, 4u << 20); }

static void a_blocked_call_is_cancelled_at_once(behaviour behaves, size_t length)
{
    peer other;
    peer_start(&other, behaves);
    epptok *handle = opened();
    char *body = calloc(1, length);
    CHECK(body != NULL);
    call blocked = {handle, body, length, 42, 10000, EPPTOK_OK, "", 0, 0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, make_call, &blocked) == 0);
    check_sleep_ms(50);
    CHECK_STATUS(epptok_cancel(handle, 41), EPPTOK_INVALID_ARGUMENT);
    int64_t start = check_now_ms();
    CHECK_STATUS(epptok_cancel(handle, 42), EPPTOK_OK);
    (void)pthread_join(thread, NULL);
    CHECK(check_now_ms() - start < SLACK_MS);
    CHECK_STATUS(blocked.status, EPPTOK_CANCELLED);
    free(body);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other);
}

static void a_call_that_waits_is_cancelled(void) { a_blocked_call_is_cancelled_at_once(NEVER_ANSWER, 10); }
static void a_call_that_sends_is_cancelled(void) { a_blocked_call_is_cancelled_at_once(NEVER_READ, 4u << 20); }

static void close_wakes_the_calls_in_flight(void)
{
    peer other;
    peer_start(&other, NEVER_ANSWER);
    epptok *handle = opened();
    call blocked[8];
    pthread_t threads[8];
    for (unsigned i = 0; i < 8; i++) {
        call one = {handle, "abc", 3, i, 10000, EPPTOK_OK, "", 0, 0};
        blocked[i] = one;
        CHECK(pthread_create(&threads[i], NULL, make_call, &blocked[i]) == 0);
    }
    check_sleep_ms(100);
    int64_t start = check_now_ms();
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(check_now_ms() - start < SLACK_MS);
    for (unsigned i = 0; i < 8; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK_STATUS(blocked[i].status, EPPTOK_SHUTTING_DOWN);
    }
    CHECK_STATUS(called(handle, "abc", 0, 100).status, EPPTOK_INVALID_HANDLE);
    peer_stop(&other);
}

/* ---- peers that break the protocol: their connection is lost, nothing else ---- */

static void a_call_to_a_broken_peer_is_unavailable(behaviour behaves, const char *named)
{
    peer other;
    peer_start(&other, behaves);
    epptok *handle = opened();
    call broken = called(handle, "some body", 6, 2000);
    CHECK_STATUS(broken.status, EPPTOK_UNAVAILABLE);
    CHECK_NAMES(broken.message, named);
    /* It was sent, so it may have been served: no second attempt is the library's to make. */
    CHECK_NUMBER(calls_of(&other), 1);
    __atomic_store_n(&other.behaves, HONEST, __ATOMIC_SEQ_CST);
    CHECK_STATUS(called(handle, "some body", 6, 2000).status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other);
}

static void a_peer_that_hangs_up(void) { a_call_to_a_broken_peer_is_unavailable(HANG_UP_ON_CALL, "closed the connection"); }
static void a_peer_that_hangs_up_in_its_answer(void) { a_call_to_a_broken_peer_is_unavailable(HANG_UP_IN_ANSWER, "middle"); }
static void a_peer_that_speaks_http(void) { a_call_to_a_broken_peer_is_unavailable(NO_FRAME, "magic"); }
static void a_peer_that_announces_too_much(void) { a_call_to_a_broken_peer_is_unavailable(HUGE_FRAME, "limit"); }
static void a_peer_that_answers_another_call(void) { a_call_to_a_broken_peer_is_unavailable(STRAY_ANSWER, "another call"); }
static void a_peer_that_answers_twice(void) { a_call_to_a_broken_peer_is_unavailable(TWO_ANSWERS, "follow its end"); }

static void a_connection_that_died_idle_is_replaced_unseen(behaviour behaves)
{
    peer other;
    peer_start(&other, behaves);
    epptok *handle = opened();
    for (unsigned i = 0; i < 4; i++) {
        call one = called(handle, "abc", i, 2000);
        CHECK_STATUS(one.status, EPPTOK_OK);
        CHECK_NUMBER(one.count, 3);
        check_sleep_ms(40);
    }
    CHECK_NUMBER(calls_of(&other), 4);
    CHECK(accepted_by(&other) >= 4);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other);
}

static void a_peer_that_closes_after_each_answer(void) { a_connection_that_died_idle_is_replaced_unseen(HANG_UP_AFTER_ANSWER); }
static void a_peer_that_speaks_while_idle(void) { a_connection_that_died_idle_is_replaced_unseen(SPEAK_WHILE_IDLE); }

static void an_answer_before_the_whole_request_was_taken_is_read(void)
{
    peer other;
    peer_start(&other, REFUSE_BY_SIZE);
    epptok *handle = opened();
    size_t length = 4u << 20;
    char *body = calloc(1, length);
    CHECK(body != NULL);
    call large = {handle, body, length, 0, 2000, EPPTOK_OK, "", 0, 0};
    (void)make_call(&large);
    CHECK_STATUS(large.status, EPPTOK_INVALID_REQUEST);
    CHECK_NAMES(large.message, "longer than 64 MiB");
    free(body);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other);
}

static void connections_are_used_again(void)
{
    peer other;
    peer_start(&other, HONEST);
    epptok *handle = opened();
    for (unsigned i = 0; i < 50; i++) {
        CHECK_STATUS(called(handle, "abc", i, 2000).status, EPPTOK_OK);
    }
    CHECK_NUMBER(accepted_by(&other), 1);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other);
}

static void broken_pipe(int signal_number)
{
    (void)signal_number;
    _exit(13);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/s", folder);
    CHECK(signal(SIGPIPE, broken_pipe) != SIG_ERR);
    RUN(the_native_host_serves_over_a_socket);
    RUN(a_body_of_ten_megabytes_passes);
    RUN(a_body_beyond_the_limit_is_refused_not_lost);
    RUN(a_restarted_sidecar_is_found_again);
    RUN(a_sidecar_that_loads_is_awaited_by_open_and_reported_by_ready);
    RUN(a_socket_that_is_not_there_is_named);
    RUN(a_dead_socket_file_is_unavailable);
    RUN(a_peer_of_another_abi_is_a_mismatch);
    RUN(a_refusal_in_the_welcome_is_passed_on);
    RUN(a_peer_that_hangs_up_at_once_is_given_up);
    RUN(a_socket_of_another_user_is_refused_unless_allowed);
    RUN(a_silent_peer_costs_the_deadline);
    RUN(a_trickling_peer_costs_the_deadline);
    RUN(a_peer_that_does_not_read_costs_the_deadline);
    RUN(a_call_that_waits_is_cancelled);
    RUN(a_call_that_sends_is_cancelled);
    RUN(close_wakes_the_calls_in_flight);
    RUN(a_peer_that_hangs_up);
    RUN(a_peer_that_hangs_up_in_its_answer);
    RUN(a_peer_that_speaks_http);
    RUN(a_peer_that_announces_too_much);
    RUN(a_peer_that_answers_another_call);
    RUN(a_peer_that_answers_twice);
    RUN(a_peer_that_closes_after_each_answer);
    RUN(a_peer_that_speaks_while_idle);
    RUN(an_answer_before_the_whole_request_was_taken_is_read);
    RUN(connections_are_used_again);
    CHECK(rmdir(folder) == 0);
    return 0;
}
