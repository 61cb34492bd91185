#include "plugin.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char REQUEST[] =
    "{\"model\":\"qwen3\",\"messages\":["
    "{\"role\":\"system\",\"content\":\"You answer in one sentence.\"},"
    "{\"role\":\"user\",\"content\":\"What is the weather in Z\\u00fcrich, \xe6\x9d\xb1\xe4\xba\xac and Nairobi?\"}],"
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"description\":\"Weather of a city\","
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}}}]}";

/* ---- one call, shown ---- */

/* At most 60 bytes, cut between characters, with line ends made visible. */
static void print_start(const char *text, size_t length)
{
    size_t end = length < 60 ? length : 60;
    while (end < length && end > 0 && ((unsigned char)text[end] & 0xC0u) == 0x80u) {
        end--;
    }
    for (size_t i = 0; i < end; i++) {
        if (text[i] == '\n') {
            fputs("\\n", stdout);
        } else {
            putchar(text[i]);
        }
    }
    fputs(end < length ? "...\n" : "\n", stdout);
}

static epptok_status decode_back(epptok *handle, const uint32_t *ids, size_t count)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.ids = ids;
    request.id_count = count;
    epptok_result *result = NULL;
    epptok_status status = epptok_detokenize(handle, &request, &result);
    size_t length = 0;
    const char *text = epptok_result_text(result, &length);
    fputs("  decodes to  ", stdout);
    if (status == EPPTOK_OK && text != NULL) {
        print_start(text, length);
    } else {
        printf("%s: %s\n", epptok_status_name(status), epptok_result_message(result));
    }
    epptok_result_free(&result);
    return status;
}

int32_t plugin_run(epptok *handle, const char *door)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_CHAT;
    request.body = REQUEST;
    request.length = sizeof REQUEST - 1;
    request.timeout_ms = 10000;
    epptok_result *result = NULL;
    epptok_status status = epptok_tokenize(handle, &request, &result);
    size_t count = 0;
    const uint32_t *ids = epptok_result_ids(result, 0, &count);
    printf("%s\n  transport   %s\n  status      %s%s%s\n", door,
           epptok_transport_name(epptok_result_transport(result)), epptok_status_name(status),
           status == EPPTOK_OK ? "" : ": ", epptok_result_message(result));
    if (status == EPPTOK_OK) {
        printf("  ids         %zu, starting with", count);
        for (size_t i = 0; i < count && i < 12; i++) {
            printf(" %u", ids[i]);
        }
        epptok_timings timings = epptok_result_timings(result);
        printf("\n  round trip  %u us, of which template %u us and encode %u us, by worker %u\n", timings.round_trip_us,
               timings.template_us, timings.encode_us, epptok_result_worker(result));
        status = decode_back(handle, ids, count);
    }
    (void)fflush(stdout);
    epptok_result_free(&result);
    return (int32_t)status;
}

/* ---- on threads ---- */

/* Opens when all threads have arrived, so that they call at the same time. */
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    uint32_t awaited;
} gate;

static void pass(gate *start)
{
    (void)pthread_mutex_lock(&start->lock);
    if (--start->awaited == 0) {
        (void)pthread_cond_broadcast(&start->opened);
    }
    while (start->awaited > 0) {
        (void)pthread_cond_wait(&start->opened, &start->lock);
    }
    (void)pthread_mutex_unlock(&start->lock);
}

typedef struct caller {
    epptok *handle;
    gate *start;
    uint32_t calls, kind;
    const uint8_t *body;
    size_t length;
    uint32_t worker;
    epptok_status status;
    bool all_ok;
} caller;

static void *call_repeatedly(void *argument)
{
    caller *self = argument;
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = self->kind;
    request.body = self->body;
    request.length = self->length;
    pass(self->start);
    for (uint32_t i = 0; i < self->calls; i++) {
        epptok_result *result = NULL;
        self->status = epptok_tokenize(self->handle, &request, &result);
        self->worker = epptok_result_worker(result);
        self->all_ok = self->all_ok && self->status == EPPTOK_OK;
        epptok_result_free(&result);
    }
    return NULL;
}

uint32_t plugin_run_on_threads(epptok *handle, uint32_t threads, uint32_t calls, uint32_t kind, const uint8_t *body,
                               size_t length, uint32_t *workers, uint32_t *statuses)
{
    caller *callers = calloc(threads, sizeof *callers);
    pthread_t *ids = calloc(threads, sizeof *ids);
    uint32_t ok = 0;
    uint32_t started = 0;
    gate start = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, threads};
    for (uint32_t i = 0; callers != NULL && ids != NULL && i < threads; i++) {
        caller made = {handle, &start, calls, kind, body, length, 0, EPPTOK_INTERNAL, true};
        callers[i] = made;
        if (pthread_create(&ids[i], NULL, call_repeatedly, &callers[i]) != 0) {
            break;
        }
        started++;
    }
    /* The threads that could not be started will not arrive. */
    (void)pthread_mutex_lock(&start.lock);
    start.awaited -= threads - started;
    (void)pthread_cond_broadcast(&start.opened);
    (void)pthread_mutex_unlock(&start.lock);
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(ids[i], NULL);
        ok += callers[i].all_ok && callers[i].status == EPPTOK_OK;
        if (workers != NULL) {
            workers[i] = callers[i].worker;
        }
        if (statuses != NULL) {
            statuses[i] = (uint32_t)callers[i].status;
        }
    }
    free(ids);
    free(callers);
    return ok;
}

typedef struct errand {
    int32_t (*run)(void *what);
    void *what;
    int32_t status;
} errand;

static void *run_errand(void *argument)
{
    errand *self = argument;
    self->status = self->run(self->what);
    return NULL;
}

/* On this thread, or on a new one that this one waits for. */
static int32_t send_errand(bool in_thread, int32_t (*run)(void *what), void *what)
{
    errand one = {run, what, EPPTOK_INTERNAL};
    pthread_t thread;
    if (!in_thread) {
        return run(what);
    }
    if (pthread_create(&thread, NULL, run_errand, &one) == 0) {
        (void)pthread_join(thread, NULL);
    }
    return one.status;
}

typedef struct shown {
    epptok *handle;
    const char *door;
} shown;

static int32_t show(void *what)
{
    const shown *self = what;
    return plugin_run(self->handle, self->door);
}

int32_t plugin_run_in_thread(epptok *handle, const char *door)
{
    shown what = {handle, door};
    return send_errand(true, show, &what);
}

/* ---- ids for the caller, and timings ---- */

typedef struct call {
    epptok *handle;
    epptok_request request;
    uint32_t *ids;
    size_t capacity;
    uint64_t *count;
    uint32_t *transport;
    char *message;
    size_t message_capacity;
} call;

static int32_t tokenize(void *what)
{
    call *self = what;
    epptok_result *result = NULL;
    epptok_status status = epptok_tokenize(self->handle, &self->request, &result);
    size_t count = 0;
    for (size_t i = 0; i < epptok_result_sequence_count(result); i++) {
        size_t more;
        const uint32_t *ids = epptok_result_ids(result, i, &more);
        if (count + more <= self->capacity && more > 0) {
            memcpy(self->ids + count, ids, more * sizeof *ids);
        }
        count += more;
    }
    if (status == EPPTOK_OK && count > self->capacity) {
        status = EPPTOK_BUFFER_TOO_SMALL;
    }
    *self->count = count;
    *self->transport = (uint32_t)epptok_result_transport(result);
    if (self->message_capacity > 0) {
        (void)snprintf(self->message, self->message_capacity, "%s", epptok_result_message(result));
    }
    epptok_result_free(&result);
    return (int32_t)status;
}

int32_t plugin_tokenize(epptok *handle, uint32_t in_thread, uint32_t kind, const uint8_t *body, size_t length,
                        uint32_t *ids, size_t capacity, uint64_t *count, uint32_t *transport, char *message,
                        size_t message_capacity)
{
    call what = {handle, EPPTOK_REQUEST_INIT, ids, capacity, count, transport, message, message_capacity};
    what.request.kind = kind;
    what.request.body = body;
    what.request.length = length;
    return send_errand(in_thread != 0, tokenize, &what);
}

typedef struct timed {
    epptok *handle;
    epptok_request request;
    uint32_t warmup, count;
    double *latencies_us;
} timed;

static double now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int32_t time_calls(void *what)
{
    timed *self = what;
    for (uint32_t i = 0; i < self->warmup + self->count; i++) {
        double start = now_us();
        epptok_result *result = NULL;
        epptok_status status = epptok_tokenize(self->handle, &self->request, &result);
        epptok_result_free(&result);
        if (status != EPPTOK_OK) {
            return (int32_t)status;
        }
        if (i >= self->warmup) {
            self->latencies_us[i - self->warmup] = now_us() - start;
        }
    }
    return EPPTOK_OK;
}

int32_t plugin_bench(epptok *handle, uint32_t in_thread, uint32_t kind, const uint8_t *body, size_t length,
                     uint32_t warmup, uint32_t count, double *latencies_us)
{
    timed what = {handle, EPPTOK_REQUEST_INIT, warmup, count, latencies_us};
    what.request.kind = kind;
    what.request.body = body;
    what.request.length = length;
    return send_errand(in_thread != 0, time_calls, &what);
}
