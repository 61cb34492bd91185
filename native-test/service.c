#define _GNU_SOURCE
#include "service.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/native/frame.h"
#include "../src/native/host.h"
#include "check.h"

#define MOST_THREADS 8

struct service {
    uint32_t host;
    uint32_t threads;
    pthread_t ids[MOST_THREADS + 1];
    uint32_t numbers[MOST_THREADS + 1];
};

typedef struct worker {
    uint32_t host, queue, number;
} worker;

static uint64_t served;

uint64_t service_served(void) { return __atomic_load_n(&served, __ATOMIC_SEQ_CST); }

static bool command(const epptok_i_bytes *body, const char *name, unsigned long *number)
{
    char text[32];
    size_t length = strlen(name);
    if (body->length < length || body->length >= sizeof text || memcmp(body->data, name, length) != 0) {
        return false;
    }
    memcpy(text, body->data, body->length);
    text[body->length] = '\0';
    *number = strtoul(text + length, NULL, 10);
    return true;
}

static uint8_t *respond(uint64_t call_id, const uint32_t words[EPPTOK_I_WORDS], const epptok_i_section *sections,
                        size_t count, size_t *length)
{
    epptok_i_outgoing frame;
    CHECK(epptok_i_frame_encode(&frame, EPPTOK_I_RESPONSE, call_id, words, sections, count));
    uint8_t *bytes = malloc(frame.length);
    CHECK(bytes != NULL);
    epptok_i_frame_write(&frame, bytes);
    *length = frame.length;
    return bytes;
}

static uint8_t *respond_ids(uint64_t call_id, uint32_t worker, const uint32_t *ids, size_t id_count,
                            const uint32_t *counts, size_t sequences, size_t *length)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_RESPONSE_WORKER] = worker;
    words[EPPTOK_I_RESPONSE_PROVENANCE] = EPPTOK_PROVENANCE_TOKENIZED;
    epptok_i_section sections[] = {{EPPTOK_I_IDS, ids, id_count * sizeof *ids},
                                   {EPPTOK_I_COUNTS, counts, sequences * sizeof *counts},
                                   {EPPTOK_I_MODEL, "bytes", 5}};
    return respond(call_id, words, sections, 3, length);
}

static uint8_t *respond_text(uint64_t call_id, epptok_status status, uint32_t tag, const char *text, size_t text_length,
                             size_t *length)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_RESPONSE_STATUS] = (uint32_t)status;
    epptok_i_section section = {tag, text, text_length};
    return respond(call_id, words, &section, 1, length);
}

/* The reverse of one id per byte. */
static uint8_t *detokenize(const epptok_i_incoming *request, size_t *length)
{
    const epptok_i_bytes *ids = &request->sections[EPPTOK_I_IDS];
    size_t count = ids->length / sizeof(uint32_t);
    char *text = malloc(count + 1);
    CHECK(text != NULL);
    for (size_t i = 0; i < count; i++) {
        uint32_t id;
        memcpy(&id, (const uint8_t *)ids->data + i * sizeof id, sizeof id);
        text[i] = (char)id;
    }
    uint8_t *answer = respond_text(request->call_id, EPPTOK_OK, EPPTOK_I_TEXT, text, count, length);
    free(text);
    return answer;
}

static uint8_t *tokenize(const epptok_i_incoming *request, uint32_t worker, size_t *length)
{
    const epptok_i_bytes *body = &request->sections[EPPTOK_I_BODY];
    unsigned long number = 0;
    if (command(body, "silence", &number)) {
        return NULL;
    }
    if (command(body, "die", &number)) {
        (void)raise(SIGKILL);
    }
    if (command(body, "garbage", &number)) {
        *length = 24;
        uint8_t *noise = malloc(24);
        CHECK(noise != NULL);
        return memset(noise, 0x5A, 24);
    }
    if (command(body, "status:", &number)) {
        static const char why[] = "as the body asked";
        return respond_text(request->call_id, (epptok_status)number, EPPTOK_I_MESSAGE, why, sizeof why - 1, length);
    }
    if (command(body, "batch", &number)) {
        static const uint32_t ids[] = {1, 2, 3}, counts[] = {2, 0, 1};
        return respond_ids(request->call_id, worker, ids, 3, counts, 3, length);
    }
    if (command(body, "sleep:", &number)) {
        check_sleep_ms((long)number);
    }
    uint64_t call_id = command(body, "stray", &number) ? request->call_id + 1 : request->call_id;
    uint32_t count = (uint32_t)body->length;
    uint32_t *ids = malloc((body->length + 1) * sizeof *ids);
    CHECK(ids != NULL);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = ((const uint8_t *)body->data)[i];
    }
    uint8_t *answer = respond_ids(call_id, worker, ids, count, &count, 1, length);
    free(ids);
    return answer;
}

uint8_t *service_answer(const uint8_t *frame, size_t length, uint32_t worker, size_t *answer_length)
{
    epptok_i_incoming request;
    CHECK(epptok_i_frame_decode(frame, length, &request) == NULL);
    (void)__atomic_add_fetch(&served, 1, __ATOMIC_SEQ_CST);
    switch (request.type) {
    case EPPTOK_I_TOKENIZE:
        return tokenize(&request, worker, answer_length);
    case EPPTOK_I_DETOKENIZE:
        return detokenize(&request, answer_length);
    default:
        return respond_text(request.call_id, EPPTOK_OK, EPPTOK_I_TEXT, "epptok_up 1\n", 12, answer_length);
    }
}

static void *serve(void *argument)
{
    worker self = *(worker *)argument;
    free(argument);
    size_t capacity = 256;
    uint8_t *buffer = malloc(capacity);
    epptok_host_job job;
    int32_t found;
    while ((found = epptok_host_next(self.host, self.queue, buffer, capacity, &job, 100)) != EPPTOK_HOST_STOPPED) {
        if (found == EPPTOK_HOST_GROW) {
            capacity = (size_t)job.length;
            free(buffer);
            buffer = malloc(capacity);
        } else if (found == EPPTOK_HOST_JOB) {
            size_t length = 0;
            uint8_t *answer = service_answer(buffer, (size_t)job.length, self.number, &length);
            if (answer != NULL) {
                (void)epptok_host_reply(self.host, job.ticket, answer, length);
            }
            free(answer);
        }
        CHECK(buffer != NULL);
    }
    free(buffer);
    return NULL;
}

service *service_start(const char *socket_path, int control_fd, uint32_t threads, int ready)
{
    service *self = calloc(1, sizeof *self);
    epptok_host_options options;
    char message[256];
    CHECK(self != NULL && threads <= MOST_THREADS);
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.socket_path = socket_path;
    options.control_fd = control_fd;
    self->host = epptok_host_start(&options, message, sizeof message);
    if (self->host == 0) {
        FAIL_AT("the host did not start: %s", message);
    }
    if (ready) {
        epptok_host_set_ready(self->host, EPPTOK_OK, "");
    }
    self->threads = threads;
    for (uint32_t i = 0; i <= threads; i++) {
        worker *given = malloc(sizeof *given);
        CHECK(given != NULL);
        given->host = self->host;
        given->queue = i == threads ? EPPTOK_HOST_QUEUE_CONTROL : EPPTOK_HOST_QUEUE_CALLS;
        given->number = i + 1;
        CHECK(pthread_create(&self->ids[i], NULL, serve, given) == 0);
    }
    return self;
}

uint32_t service_host(const service *self) { return self->host; }

void service_ready(service *self, epptok_status status, const char *message)
{
    epptok_host_set_ready(self->host, (uint32_t)status, message);
}

void service_join(service *self)
{
    for (uint32_t i = 0; i <= self->threads; i++) {
        (void)pthread_join(self->ids[i], NULL);
    }
    epptok_host_stop(self->host);
    free(self);
}

void service_stop(service *self)
{
    epptok_host_stop(self->host);
    service_join(self);
}
