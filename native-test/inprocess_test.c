/* Handles of a runtime in this process: callback on the owner's thread, direct on any other. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../src/native/host.h"
#include "check.h"
#include "plugin.h"
#include "service.h"

static service *runtime;
static epptok *handle;

/* ---- the owner's callback, in C ---- */

static enum { ANSWER, SILENT, TWICE, WAIT_UNTIL_ABANDONED, NESTED, CLOSE_INSIDE } callback_does;
static uint32_t last_abandoned;
static uint64_t last_exchange;
static epptok_status nested_status;

static int32_t serve_here(uint64_t exchange)
{
    uint8_t buffer[65536];
    size_t length = epptok_exchange_take(exchange, buffer, sizeof buffer);
    size_t answer_length = 0;
    last_exchange = exchange;
    CHECK(length > 0 && length <= sizeof buffer);
    CHECK_NUMBER(epptok_exchange_take(exchange, NULL, 0), length);
    CHECK_NUMBER(epptok_exchange_take(exchange + 1, buffer, sizeof buffer), 0);
    if (callback_does == SILENT) {
        return 0;
    }
    if (callback_does == WAIT_UNTIL_ABANDONED) {
        while ((last_abandoned = epptok_exchange_abandoned(exchange)) == 0) {
            check_sleep_ms(1);
        }
        return 0;
    }
    if (callback_does == CLOSE_INSIDE) {
        CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
        CHECK_NUMBER(epptok_exchange_abandoned(exchange), EPPTOK_SHUTTING_DOWN);
    }
    if (callback_does == NESTED) {
        epptok_request request = EPPTOK_REQUEST_INIT;
        request.body = "inner";
        request.length = 5;
        callback_does = ANSWER;
        epptok_result *inner = NULL;
        nested_status = epptok_tokenize(handle, &request, &inner);
        epptok_result_free(&inner);
    }
    uint8_t *answer = service_answer(buffer, length, 0, &answer_length);
    int32_t put = epptok_exchange_put(exchange, answer, answer_length);
    if (callback_does == TWICE) {
        put = epptok_exchange_put(exchange, answer, answer_length);
    }
    free(answer);
    return put;
}

static epptok *attach(void)
{
    char message[256];
    epptok *attached = epptok_host_attach(service_host(runtime), serve_here, 5000, message, sizeof message);
    if (attached == NULL) {
        FAIL_AT("%s", message);
    }
    callback_does = ANSWER;
    return attached;
}

static epptok_status tokenize(epptok *with, const char *body, uint64_t call_id, uint32_t timeout_ms,
                              epptok_result **result)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = body;
    request.length = strlen(body);
    request.call_id = call_id;
    request.timeout_ms = timeout_ms;
    return epptok_tokenize(with, &request, result);
}

typedef struct errand {
    epptok *handle;
    const char *body;
    uint64_t call_id;
    uint32_t timeout_ms;
    epptok_status status;
    epptok_transport transport;
    char message[256];
    int64_t took_ms;
    size_t count;
} errand;

/* Calls of other threads that were about to be made, since the start. */
static unsigned begun;

static void *tokenize_elsewhere(void *argument)
{
    errand *self = argument;
    int64_t start = check_now_ms();
    epptok_result *result = NULL;
    (void)__atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
    self->status = tokenize(self->handle, self->body, self->call_id, self->timeout_ms, &result);
    self->took_ms = check_now_ms() - start;
    self->transport = epptok_result_transport(result);
    (void)epptok_result_ids(result, 0, &self->count);
    (void)snprintf(self->message, sizeof self->message, "%s", epptok_result_message(result));
    epptok_result_free(&result);
    return NULL;
}

static pthread_t begin(errand *self)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, tokenize_elsewhere, self) == 0);
    return thread;
}

static void the_owner_is_served_by_its_callback(void)
{
    handle = attach();
    epptok_result *result = NULL;
    CHECK_STATUS(tokenize(handle, "abc", 0, 0, &result), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_transport(result), EPPTOK_TRANSPORT_CALLBACK);
    size_t count;
    const uint32_t *ids = epptok_result_ids(result, 0, &count);
    CHECK(count == 3 && ids[0] == 'a' && ids[2] == 'c');
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void another_thread_is_served_by_the_queue_while_the_owner_waits_for_it(void)
{
    handle = attach();
    errand other = {handle, "abcd", 0, 0, EPPTOK_INTERNAL, EPPTOK_TRANSPORT_AUTO, "", 0, 0};
    (void)pthread_join(begin(&other), NULL);
    CHECK_STATUS(other.status, EPPTOK_OK);
    CHECK_NUMBER(other.transport, EPPTOK_TRANSPORT_DIRECT);
    CHECK_NUMBER(other.count, 4);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void eight_threads_at_once_are_served_by_several_workers(void)
{
    handle = attach();
    uint32_t workers[8];
    CHECK_NUMBER(plugin_run_on_threads(handle, 8, 2, EPPTOK_KIND_TEXT, (const uint8_t *)"sleep:5", 7, workers, NULL), 8);
    unsigned different = 0;
    for (unsigned i = 1; i < 8; i++) {
        different += workers[i] != workers[0];
    }
    CHECK(different > 0);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void a_callback_without_an_answer_is_internal(void)
{
    handle = attach();
    callback_does = SILENT;
    epptok_result *result = NULL;
    CHECK_STATUS(tokenize(handle, "abc", 0, 0, &result), EPPTOK_INTERNAL);
    CHECK_NAMES(epptok_result_message(result), "without an answer");
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void an_answer_that_is_no_frame_is_internal(void)
{
    handle = attach();
    const char *const bodies[] = {"garbage", "stray"};
    for (unsigned i = 0; i < 2; i++) {
        epptok_result *result = NULL;
        CHECK_STATUS(tokenize(handle, bodies[i], 0, 0, &result), EPPTOK_INTERNAL);
        CHECK_NAMES(epptok_result_message(result), "refused");
        epptok_result_free(&result);
    }
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void an_exchange_is_known_only_inside_its_callback(void)
{
    handle = attach();
    callback_does = TWICE;
    epptok_result *result = NULL;
    CHECK_STATUS(tokenize(handle, "abc", 0, 0, &result), EPPTOK_OK);
    epptok_result_free(&result);
    uint8_t byte = 0;
    CHECK_NUMBER(epptok_exchange_take(last_exchange, NULL, 0), 0);
    CHECK_NUMBER(epptok_exchange_put(last_exchange, &byte, 1), 0);
    CHECK_NUMBER(epptok_exchange_abandoned(last_exchange), EPPTOK_CANCELLED);
    CHECK_NUMBER(epptok_exchange_put((uint64_t)(uintptr_t)&byte, &byte, 1), 0);
    CHECK_NUMBER(epptok_exchange_put(0, &byte, 1), 0);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void a_callback_may_call_again(void)
{
    handle = attach();
    callback_does = NESTED;
    nested_status = EPPTOK_INTERNAL;
    epptok_result *result = NULL;
    CHECK_STATUS(tokenize(handle, "abc", 0, 0, &result), EPPTOK_OK);
    CHECK_STATUS(nested_status, EPPTOK_OK);
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void a_handle_closed_inside_its_callback_ends_with_the_call(void)
{
    handle = attach();
    callback_does = CLOSE_INSIDE;
    epptok_result *result = NULL;
    CHECK_STATUS(tokenize(handle, "abc", 0, 0, &result), EPPTOK_SHUTTING_DOWN);
    epptok_result_free(&result);
    CHECK_STATUS(tokenize(handle, "abc", 0, 0, &result), EPPTOK_INVALID_HANDLE);
    epptok_result_free(&result);
}

static void a_callback_learns_that_its_deadline_passed(void)
{
    handle = attach();
    callback_does = WAIT_UNTIL_ABANDONED;
    epptok_result *result = NULL;
    int64_t start = check_now_ms();
    CHECK_STATUS(tokenize(handle, "abc", 0, 50, &result), EPPTOK_TIMEOUT);
    CHECK(check_now_ms() - start >= 50 && check_now_ms() - start < 5000);
    CHECK_NUMBER(last_abandoned, EPPTOK_TIMEOUT);
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void *cancel_soon(void *call_id)
{
    CHECK_SOON(epptok_cancel(handle, *(uint64_t *)call_id) == EPPTOK_OK);
    return NULL;
}

static void a_callback_learns_that_its_call_was_cancelled(void)
{
    handle = attach();
    callback_does = WAIT_UNTIL_ABANDONED;
    uint64_t call_id = 77;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_soon, &call_id) == 0);
    epptok_result *result = NULL;
    CHECK_STATUS(tokenize(handle, "abc", call_id, 30000, &result), EPPTOK_CANCELLED);
    CHECK_NUMBER(last_abandoned, EPPTOK_CANCELLED);
    epptok_result_free(&result);
    (void)pthread_join(thread, NULL);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static int64_t call_that_times_out(void)
{
    errand other = {handle, "silence", 0, 60, EPPTOK_OK, EPPTOK_TRANSPORT_AUTO, "", 0, 0};
    (void)pthread_join(begin(&other), NULL);
    CHECK_STATUS(other.status, EPPTOK_TIMEOUT);
    CHECK_NAMES(other.message, "deadline");
    CHECK(other.took_ms >= 59);
    return other.took_ms;
}

static void a_queued_call_that_nobody_answers_times_out_at_its_deadline(void)
{
    handle = attach();
    CHECK_IN_TIME(60 + SLACK_MS, call_that_times_out());
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void a_queued_call_is_cancelled_at_once(void)
{
    handle = attach();
    errand other = {handle, "silence", 5, 30000, EPPTOK_OK, EPPTOK_TRANSPORT_AUTO, "", 0, 0};
    pthread_t thread = begin(&other);
    CHECK_STATUS(epptok_cancel(handle, 6), EPPTOK_INVALID_ARGUMENT);
    CHECK_STATUS(epptok_cancel(handle, 0), EPPTOK_INVALID_ARGUMENT);
    CHECK_SOON(epptok_cancel(handle, 5) == EPPTOK_OK);
    (void)pthread_join(thread, NULL);
    CHECK_STATUS(other.status, EPPTOK_CANCELLED);
    CHECK(other.took_ms < 20000);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void close_answers_the_calls_in_flight(void)
{
    handle = attach();
    errand others[4];
    pthread_t threads[4];
    unsigned before = __atomic_load_n(&begun, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < 4; i++) {
        errand one = {handle, "silence", i, 30000, EPPTOK_OK, EPPTOK_TRANSPORT_AUTO, "", 0, 0};
        others[i] = one;
        threads[i] = begin(&others[i]);
    }
    CHECK_SOON(__atomic_load_n(&begun, __ATOMIC_SEQ_CST) == before + 4);
    check_sleep_ms(50);
    int64_t start = check_now_ms();
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(check_now_ms() - start < 10000);
    for (unsigned i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK_STATUS(others[i].status, EPPTOK_SHUTTING_DOWN);
    }
}

static void a_forced_transport_is_used_or_refused(void)
{
    epptok_result *result = NULL;
    char message[256];
    CHECK(setenv("EPPTOK_TRANSPORT", "callback", 1) == 0);
    handle = attach();
    errand other = {handle, "abc", 0, 0, EPPTOK_OK, EPPTOK_TRANSPORT_AUTO, "", 0, 0};
    (void)pthread_join(begin(&other), NULL);
    CHECK_STATUS(other.status, EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(other.message, "callback");
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(epptok_host_attach(service_host(runtime), NULL, 0, message, sizeof message) == NULL);
    CHECK_NAMES(message, "callback");

    CHECK(setenv("EPPTOK_TRANSPORT", "direct", 1) == 0);
    handle = attach();
    CHECK_STATUS(tokenize(handle, "abc", 0, 0, &result), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_transport(result), EPPTOK_TRANSPORT_DIRECT);
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);

    CHECK(setenv("EPPTOK_TRANSPORT", "socket", 1) == 0);
    CHECK(epptok_host_attach(service_host(runtime), serve_here, 0, message, sizeof message) == NULL);
    CHECK_NAMES(message, "socket");
    CHECK(setenv("EPPTOK_TRANSPORT", "pigeon", 1) == 0);
    CHECK(epptok_host_attach(service_host(runtime), serve_here, 0, message, sizeof message) == NULL);
    CHECK_NAMES(message, "pigeon");
    CHECK(unsetenv("EPPTOK_TRANSPORT") == 0);
}

static void ready_stats_and_detokenize_work_from_the_owner(void)
{
    handle = attach();
    CHECK_STATUS(epptok_ready(handle, 1000), EPPTOK_OK);
    epptok_result *result = NULL;
    size_t length;
    CHECK_STATUS(epptok_stats(handle, 1000, &result), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_transport(result), EPPTOK_TRANSPORT_DIRECT);
    CHECK_NAMES(epptok_result_text(result, &length), "epptok_up");
    epptok_result_free(&result);
    const uint32_t ids[] = {'h', 'i'};
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.ids = ids;
    request.id_count = 2;
    CHECK_STATUS(epptok_detokenize(handle, &request, &result), EPPTOK_OK);
    const char *text = epptok_result_text(result, &length);
    CHECK(length == 2 && memcmp(text, "hi", 2) == 0);
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void a_forked_child_has_no_handle_and_does_not_hang(void)
{
    handle = attach();
    errand busy = {handle, "sleep:300", 0, 5000, EPPTOK_OK, EPPTOK_TRANSPORT_AUTO, "", 0, 0};
    pthread_t thread = begin(&busy);
    check_sleep_ms(30);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)alarm(5);
        epptok_result *result = NULL;
        int ok = tokenize(handle, "abc", 0, 0, &result) == EPPTOK_INVALID_HANDLE;
        ok = ok && strstr(epptok_result_message(result), "parent") != NULL;
        ok = ok && epptok_close(handle) == EPPTOK_INVALID_HANDLE && epptok_cancel(handle, 1) == EPPTOK_INVALID_HANDLE;
        _exit(ok ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    (void)pthread_join(thread, NULL);
    CHECK_STATUS(busy.status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void a_runtime_that_has_stopped_answers_as_lost(void)
{
    handle = attach();
    service_stop(runtime);
    errand other = {handle, "abc", 0, 1000, EPPTOK_OK, EPPTOK_TRANSPORT_AUTO, "", 0, 0};
    (void)pthread_join(begin(&other), NULL);
    CHECK(other.status == EPPTOK_UNAVAILABLE || other.status == EPPTOK_SHUTTING_DOWN);
    CHECK(other.message[0] != '\0');
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

typedef struct ownership {
    uint32_t host;
    epptok *handle;
    epptok_status status;
    int attached; /* atomic */
    int calls; /* atomic: the caller is about to */
} ownership;

static void *own_for_a_while(void *argument)
{
    ownership *self = argument;
    char message[256];
    /* As a thread does that opens and closes one handle after the other. */
    for (int i = 0; i < 3; i++) {
        epptok_host_options options = {sizeof options, 0, 0, 0, NULL, NULL, -1, 0};
        epptok_host_stop(self->host);
        (void)epptok_close(self->handle);
        self->host = epptok_host_start(&options, message, sizeof message);
        CHECK(self->host != 0);
        epptok_host_set_ready(self->host, EPPTOK_OK, "");
        self->handle = epptok_host_attach(self->host, serve_here, 5000, message, sizeof message);
        CHECK(self->handle != NULL);
        CHECK(epptok_host_end_with_thread(self->host, self->handle) == 1);
    }
    __atomic_store_n(&self->attached, 1, __ATOMIC_SEQ_CST);
    CHECK_SOON(__atomic_load_n(&self->calls, __ATOMIC_SEQ_CST) == 1);
    check_sleep_ms(50);
    return NULL;
}

static void *call_what_nobody_serves(void *argument)
{
    ownership *self = argument;
    epptok_result *result = NULL;
    __atomic_store_n(&self->calls, 1, __ATOMIC_SEQ_CST);
    self->status = tokenize(self->handle, "abc", 0, 30000, &result);
    epptok_result_free(&result);
    return NULL;
}

static void a_host_that_ends_with_its_thread_answers_who_waits_and_leaves_nothing(void)
{
    ownership owned = {0, NULL, EPPTOK_OK, 0, 0};
    pthread_t owner, caller;
    CHECK(pthread_create(&owner, NULL, own_for_a_while, &owned) == 0);
    CHECK_SOON(__atomic_load_n(&owned.attached, __ATOMIC_SEQ_CST) == 1);
    int64_t start = check_now_ms();
    CHECK(pthread_create(&caller, NULL, call_what_nobody_serves, &owned) == 0);
    (void)pthread_join(owner, NULL);
    (void)pthread_join(caller, NULL);
    CHECK(check_now_ms() - start < 8000);
    CHECK_STATUS(owned.status, EPPTOK_SHUTTING_DOWN);
    CHECK_STATUS(epptok_close(owned.handle), EPPTOK_INVALID_HANDLE);
    epptok_host_counters counters;
    CHECK_NUMBER(epptok_host_counters_read(owned.host, &counters), 0);
}

int main(void)
{
    runtime = service_start(NULL, -1, 3, 1);
    RUN(the_owner_is_served_by_its_callback);
    RUN(another_thread_is_served_by_the_queue_while_the_owner_waits_for_it);
    RUN(eight_threads_at_once_are_served_by_several_workers);
    RUN(a_callback_without_an_answer_is_internal);
    RUN(an_answer_that_is_no_frame_is_internal);
    RUN(an_exchange_is_known_only_inside_its_callback);
    RUN(a_callback_may_call_again);
    RUN(a_handle_closed_inside_its_callback_ends_with_the_call);
    RUN(a_callback_learns_that_its_deadline_passed);
    RUN(a_callback_learns_that_its_call_was_cancelled);
    RUN(a_queued_call_that_nobody_answers_times_out_at_its_deadline);
    RUN(a_queued_call_is_cancelled_at_once);
    RUN(close_answers_the_calls_in_flight);
    RUN(a_forced_transport_is_used_or_refused);
    RUN(ready_stats_and_detokenize_work_from_the_owner);
    RUN(a_forked_child_has_no_handle_and_does_not_hang);
    RUN(a_runtime_that_has_stopped_answers_as_lost);
    RUN(a_host_that_ends_with_its_thread_answers_who_waits_and_leaves_nothing);
    return 0;
}
