/*
 * Eight threads of mixed calls, cancels and closes on shared handles, by socket, direct and callback, for the sanitizers.
 * Every answer is one that the call may have, and an OK carries the ids of its own body.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "../src/native/host.h"
#include "check.h"
#include "service.h"

#define THREADS 8
#define HANDLES 3

static service *runtime;
static char socket_path[64];
static epptok *handles[HANDLES];
static uint64_t counts[32], by_transport[4];
static bool stopping;

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* The thread that opens a handle owns it, and is served here. */
static int32_t serve_here(uint64_t exchange)
{
    uint8_t request[1024];
    size_t length = epptok_exchange_take(exchange, request, sizeof request);
    size_t answer_length = 0;
    CHECK(length > 0 && length <= sizeof request);
    uint8_t *answer = service_answer(request, length, 0, &answer_length);
    if (answer == NULL) {
        while (epptok_exchange_abandoned(exchange) == 0) {
            check_sleep_ms(1);
        }
        return 0;
    }
    int32_t put = epptok_exchange_put(exchange, answer, answer_length);
    free(answer);
    return put;
}

static epptok *open_one(unsigned index)
{
    epptok *handle = NULL;
    char message[256];
    if (index == 0) {
        handle = epptok_host_attach(service_host(runtime), serve_here, 2000, message, sizeof message);
        CHECK(handle != NULL);
        return handle;
    }
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.socket_path = socket_path;
    if (epptok_open(&options, &handle, message, sizeof message) != EPPTOK_OK) {
        FAIL_AT("%s", message);
    }
    return handle;
}

static void check_ids(const epptok_result *result, const char *body)
{
    size_t count;
    const uint32_t *ids = epptok_result_ids(result, 0, &count);
    CHECK_NUMBER(count, strlen(body));
    for (size_t i = 0; i < count; i++) {
        CHECK_NUMBER(ids[i], (unsigned char)body[i]);
    }
}

static void tokenize(epptok *handle, uint64_t *random)
{
    char body[64];
    uint64_t choice = next_random(random) % 20;
    if (choice == 0) {
        (void)snprintf(body, sizeof body, "silence");
    } else if (choice < 4) {
        (void)snprintf(body, sizeof body, "sleep:%u", (unsigned)(next_random(random) % 4));
    } else {
        (void)snprintf(body, sizeof body, "body %llu", (unsigned long long)next_random(random));
    }
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = body;
    request.length = strlen(body);
    request.call_id = next_random(random) % 16;
    request.timeout_ms = choice == 0 ? 5 : 2000;
    epptok_result *result = NULL;
    epptok_status status = epptok_tokenize(handle, &request, &result);
    CHECK((unsigned)status < 32);
    (void)__atomic_add_fetch(&counts[status], 1, __ATOMIC_RELAXED);
    (void)__atomic_add_fetch(&by_transport[epptok_result_transport(result)], 1, __ATOMIC_RELAXED);
    if (status == EPPTOK_OK) {
        check_ids(result, body);
    } else if (status == EPPTOK_INVALID_HANDLE) {
        check_sleep_ms(1); /* another thread has closed it, and opens the next */
    } else if (status != EPPTOK_TIMEOUT && status != EPPTOK_CANCELLED && status != EPPTOK_SHUTTING_DOWN &&
               status != EPPTOK_BACKPRESSURE) {
        FAIL_AT("%s: %s", epptok_status_name(status), epptok_result_message(result));
    }
    epptok_result_free(&result);
}

static void *mix(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    while (!__atomic_load_n(&stopping, __ATOMIC_SEQ_CST)) {
        unsigned index = (unsigned)(next_random(&random) % HANDLES);
        epptok *handle = __atomic_load_n(&handles[index], __ATOMIC_SEQ_CST);
        uint64_t choice = next_random(&random) % 100;
        if (choice < 80) {
            tokenize(handle, &random);
        } else if (choice < 93) {
            (void)epptok_cancel(handle, next_random(&random) % 16);
        } else if (choice < 96) {
            (void)epptok_ready(handle, 1000);
        } else if (choice < 98) {
            epptok_result *result = NULL;
            (void)epptok_stats(handle, 1000, &result);
            epptok_result_free(&result);
        } else if (epptok_close(handle) == EPPTOK_OK) {
            __atomic_store_n(&handles[index], open_one(index), __ATOMIC_SEQ_CST);
        }
    }
    return NULL;
}

static void threads_that_call_cancel_and_close_do_not_disturb_each_other(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < HANDLES; i++) {
        handles[i] = open_one(i);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, mix, (void *)(uintptr_t)(i + 1)) == 0);
    }
    check_sleep_ms(MIXED_MS);
    __atomic_store_n(&stopping, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    for (unsigned i = 0; i < HANDLES; i++) {
        CHECK_STATUS(epptok_close(handles[i]), EPPTOK_OK);
    }
    for (unsigned i = 0; i < 32; i++) {
        if (counts[i] > 0) {
            printf("   %s %llu\n", epptok_status_name((epptok_status)i), (unsigned long long)counts[i]);
        }
    }
    for (unsigned i = EPPTOK_TRANSPORT_CALLBACK; i <= EPPTOK_TRANSPORT_SOCKET; i++) {
        printf("   %s %llu\n", epptok_transport_name((epptok_transport)i), (unsigned long long)by_transport[i]);
        CHECK(by_transport[i] > 0);
    }
    CHECK(counts[EPPTOK_OK] > 100 && counts[EPPTOK_TIMEOUT] > 0 && counts[EPPTOK_CANCELLED] > 0);
}

int main(void)
{
    char folder[] = "/tmp/epptok-mixed-test-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(socket_path, sizeof socket_path, "%s/s", folder);
    runtime = service_start(socket_path, -1, 4, 1);
    RUN(threads_that_call_cancel_and_close_do_not_disturb_each_other);
    service_stop(runtime);
    (void)remove(folder);
    return 0;
}
