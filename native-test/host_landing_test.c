/* A service that reads the sockets lends the buffer that it wants its next call in: what is served from there is what was sent. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_socket_fixture.h"

#include "../src/native/host_connection.h"
#include "../src/native/host_io.h"

#include <pthread.h>

#define LARGEST 400000u

/* A service thread: checks that each call's body is of its call's byte throughout, and answers with so many ids as the body has kilobytes. */
typedef struct checking_service {
    pthread_t thread;
    uint32_t host;
    size_t capacity;
    useconds_t takes, rests; /* atomic: over each call; after each, before it comes for the next */
    unsigned served;  /* atomic */
} checking_service;

static uint8_t byte_of(uint64_t call_id) { return (uint8_t)('a' + call_id % 26); }

static size_t body_of(const uint8_t *bytes, size_t length, const uint8_t **body)
{
    epptok_i_incoming call;
    CHECK(epptok_i_frame_decode(bytes, length, &call) == NULL);
    *body = call.sections[EPPTOK_I_BODY].data;
    return call.sections[EPPTOK_I_BODY].length;
}

static void sleep_for(const useconds_t *us)
{
    useconds_t pause = __atomic_load_n(us, __ATOMIC_RELAXED);
    if (pause > 0) {
        usleep(pause);
    }
}

static void *serve(void *argument)
{
    checking_service *self = argument;
    uint8_t *buffer = malloc(self->capacity);
    epptok_host_job job;
    int32_t found;
    while ((found = epptok_host_next(self->host, CALLS, buffer, self->capacity, &job, 100)) != EPPTOK_HOST_STOPPED) {
        if (found != EPPTOK_HOST_JOB) {
            CHECK(found == EPPTOK_HOST_IDLE);
            continue;
        }
        const uint8_t *body = NULL;
        size_t length = body_of(buffer, job.length, &body);
        uint64_t call_id = host_peer_call_id(buffer);
        for (size_t i = 0; i < length; i++) {
            CHECK(body[i] == byte_of(call_id));
        }
        sleep_for(&self->takes);
        CHECK(reply_ids(self->host, job.ticket, call_id, 1 + length / 1000) == 1);
        __atomic_add_fetch(&self->served, 1u, __ATOMIC_RELAXED);
        sleep_for(&self->rests);
    }
    free(buffer);
    return NULL;
}

static void service_start(checking_service *self, uint32_t host, size_t capacity)
{
    self->host = host;
    self->capacity = capacity;
    self->takes = self->rests = 0;
    self->served = 0;
    CHECK(pthread_create(&self->thread, NULL, serve, self) == 0);
}

static void service_join(checking_service *self) { CHECK(pthread_join(self->thread, NULL) == 0); }

static uint8_t *filled_call(uint64_t call_id, size_t body, size_t *length)
{
    uint8_t *call = host_peer_tokenize(call_id, body, 20000, length);
    const uint8_t *at = NULL;
    CHECK(body_of(call, *length, &at) == body);
    memset((uint8_t *)(uintptr_t)at, byte_of(call_id), body);
    return call;
}

static void send_filled(int fd, uint64_t call_id, size_t body)
{
    size_t length;
    uint8_t *call = filled_call(call_id, body, &length);
    CHECK(host_peer_write(fd, call, length));
    free(call);
}

static void expect_answer(int fd, uint64_t call_id, size_t body)
{
    CHECK(read_status(fd, call_id) == EPPTOK_OK);
    epptok_i_incoming answer;
    uint64_t length = 0;
    CHECK(epptok_i_frame_announced(frame, UINT64_MAX, &length) == NULL);
    CHECK(epptok_i_frame_decode(frame, (size_t)length, &answer) == NULL);
    CHECK(answer.sections[EPPTOK_I_IDS].length == sizeof(uint32_t) * (1 + body / 1000));
}

static void a_call_that_has_landed_is_running_not_queued(void)
{
    uint32_t host = start();
    uint64_t ticket;
    int fd = greeted();
    send_call(fd, 5, 500, 5000);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
    epptok_host_counters counters = counters_of(host);
    CHECK(counters.accepted == 1 && counters.running_calls == 1);
    CHECK(counters.queued_calls == 0 && counters.queued_bytes == 0);
    CHECK(reply_ids(host, ticket, 5, 3) == 1);
    CHECK(read_status(fd, 5) == EPPTOK_OK);
    CHECK(counters_of(host).running_calls == 0);
    close(fd);
    epptok_host_stop(host);
}

/* Between calls of all sizes that come whole, others come in pieces: what has come of them must not stand where calls land. */
static void calls_of_many_peers_do_not_mix(size_t capacity)
{
    enum { PEERS = 5, ROUNDS = 60 };
    static const size_t bodies[] = {1, 100, 4000, 70000, 150000, 250000};
    uint32_t host = start();
    checking_service services[2];
    service_start(&services[0], host, capacity);
    service_start(&services[1], host, capacity);
    int fds[PEERS];
    for (int i = 0; i < PEERS; i++) {
        fds[i] = greeted();
    }
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint8_t *calls[PEERS];
        size_t lengths[PEERS], body[PEERS], sent[PEERS];
        for (int i = 0; i < PEERS; i++) {
            body[i] = bodies[(round + (uint64_t)i) % (sizeof bodies / sizeof bodies[0])];
            calls[i] = filled_call(round * PEERS + (uint64_t)i, body[i], &lengths[i]);
            sent[i] = i % 2 == 0 ? lengths[i] : (round % 3 == 0 ? 40 : lengths[i] / 2);
        }
        for (int i = 0; i < PEERS; i++) {
            CHECK(host_peer_write(fds[i], calls[i], sent[i]));
        }
        for (int i = 0; i < PEERS; i++) {
            CHECK(host_peer_write(fds[i], calls[i] + sent[i], lengths[i] - sent[i]));
        }
        for (int i = 0; i < PEERS; i++) {
            expect_answer(fds[i], round * PEERS + (uint64_t)i, body[i]);
            free(calls[i]);
        }
    }
    for (int i = 0; i < PEERS; i++) {
        close(fds[i]);
    }
    epptok_host_stop(host);
    service_join(&services[0]);
    service_join(&services[1]);
    CHECK(services[0].served + services[1].served == PEERS * ROUNDS);
}

static void calls_do_not_mix_where_buffers_are_lent(void) { calls_of_many_peers_do_not_mix(LARGEST); }

/* As large as the largest call: those that come next to each other land, the others do not fit. */
static void calls_do_not_mix_where_buffers_are_just_large_enough(void) { calls_of_many_peers_do_not_mix(250200); }

static void what_a_peer_sends_behind_a_call_is_refused_wherever_it_lands(void)
{
    uint32_t host = start();
    checking_service service;
    service_start(&service, host, LARGEST);
    for (int i = 0; i < 10; i++) {
        int fd = greeted();
        size_t length;
        uint8_t *call = filled_call(1, 1000, &length);
        uint8_t *twice = malloc(2 * length);
        memcpy(twice, call, length);
        memcpy(twice + length, call, length);
        CHECK(host_peer_write(fd, twice, 2 * length));
        CHECK(host_peer_is_closed(fd, 2000));
        free(twice);
        free(call);
        close(fd);
    }
    CHECK(counters_of(host).bad_frames == 10);
    CHECK(__atomic_load_n(&service.served, __ATOMIC_RELAXED) == 0);
    epptok_host_stop(host);
    service_join(&service);
}

static void *hold(void *argument)
{
    uint32_t host = *(uint32_t *)argument;
    static __thread uint8_t buffer[LARGEST];
    epptok_host_job job;
    CHECK(epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, 5000) == EPPTOK_HOST_JOB);
    CHECK(host_peer_call_id(buffer) == 1);
    SOON(counters_of(host).accepted == 3);
    usleep(20000); /* in which another service must not take the second large call */
    CHECK(reply_ids(host, job.ticket, 1, 1) == 1);
    return NULL;
}

static void a_large_call_does_not_land_with_the_last_free_service(void)
{
    uint32_t host = start();
    static uint8_t buffer[LARGEST];
    epptok_host_job job;
    int bytes = 1 << 20, large[2] = {greeted(), greeted()}, small = greeted();
    pthread_t holder;
    CHECK(epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, 0) == EPPTOK_HOST_IDLE); /* a service too */
    for (int i = 0; i < 2; i++) {
        (void)setsockopt(large[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    CHECK(pthread_create(&holder, NULL, hold, &host) == 0);
    send_filled(large[0], 1, 300000);
    SOON(counters_of(host).running_calls == 1);
    send_filled(large[1], 2, 300000);
    SOON(counters_of(host).accepted == 2);
    send_filled(small, 3, 100);
    CHECK(epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, 2000) == EPPTOK_HOST_JOB);
    CHECK(host_peer_call_id(buffer) == 3);
    CHECK(reply_ids(host, job.ticket, 3, 1) == 1);
    CHECK(pthread_join(holder, NULL) == 0);
    CHECK(epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, 2000) == EPPTOK_HOST_JOB);
    CHECK(host_peer_call_id(buffer) == 2);
    CHECK(reply_ids(host, job.ticket, 2, 1) == 1);
    CHECK(read_status(large[0], 1) == EPPTOK_OK && read_status(large[1], 2) == EPPTOK_OK);
    CHECK(read_status(small, 3) == EPPTOK_OK);
    close(large[0]);
    close(large[1]);
    close(small);
    epptok_host_stop(host);
}

static void a_call_that_has_landed_keeps_its_deadline_and_its_peer(void)
{
    uint32_t host = start();
    uint64_t ticket;
    int late = greeted(), gone = greeted();
    send_call(late, 1, 100, 50);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
    CHECK(read_status(late, 1) == EPPTOK_TIMEOUT);
    CHECK(reply_ids(host, ticket, 1, 1) == 0);
    send_call(gone, 2, 100, 5000);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
    close(gone);
    SOON(counters_of(host).disconnected == 1);
    CHECK(reply_ids(host, ticket, 2, 1) == 0);
    CHECK(counters_of(host).running_calls == 0);
    close(late);
    epptok_host_stop(host);
}

/* Leads, as a service does in next(): right after a call nobody does for a moment. */
static void take_the_lead(uint32_t number, int fd, epptok_i_host *host, uint8_t *buffer)
{
    for (bool leads = false; !leads;) {
        uint64_t ticket;
        send_call(fd, 1, 100, 5000);
        CHECK(next(number, &ticket, 2000) == EPPTOK_HOST_JOB);
        CHECK(reply_ids(number, ticket, 1, 1) == 1);
        CHECK(read_status(fd, 1) == EPPTOK_OK);
        pthread_mutex_lock(&host->lock);
        leads = epptok_i_lead_take(host, false, buffer, LARGEST);
        pthread_mutex_unlock(&host->lock);
    }
}

/* Its thread may be held up between the arrival of a call and the landing for longer than the call has time. */
static void a_call_whose_deadline_has_passed_is_not_handed_out_where_it_landed(void)
{
    static uint8_t buffer[LARGEST];
    uint32_t number = start();
    epptok_i_host *host = epptok_i_host_acquire(number);
    int fd = greeted();
    take_the_lead(number, fd, host, buffer);
    size_t length;
    uint8_t *call = filled_call(2, 100, &length);
    const uint32_t one_ms = 1;
    memcpy(call + 28 + sizeof one_ms * EPPTOK_I_REQUEST_MS, &one_ms, sizeof one_ms);
    memcpy(buffer, call, length);
    free(call);
    CHECK(epptok_i_connection_call(host->connections, buffer, length, epptok_i_now_ns() - 5 * MS, true));
    pthread_mutex_lock(&host->lock);
    CHECK(host->io->landing.landed.ticket == 0);
    epptok_i_waiter *service = epptok_i_lead_leave(host, false);
    pthread_mutex_unlock(&host->lock);
    CHECK(service == NULL);
    uint64_t ticket;
    CHECK(next(number, &ticket, 50) == EPPTOK_HOST_IDLE);
    CHECK(read_status(fd, 2) == EPPTOK_TIMEOUT);
    CHECK(counters_of(number).expired == 1);
    epptok_i_host_release(host);
    close(fd);
    epptok_host_stop(number);
}

/* How many calls were read by the services that took them. */
static uint64_t calls_led(uint32_t number)
{
    epptok_i_host *host = epptok_i_host_acquire(number);
    pthread_mutex_lock(&host->lock);
    uint64_t calls = host->io->lead.calls;
    pthread_mutex_unlock(&host->lock);
    epptok_i_host_release(host);
    return calls;
}

/* Each call is sent as soon as the one before is answered: there when the service comes back. An I/O thread that read it would lead for good. */
static void the_io_thread_gives_the_lead_back_when_it_has_had_it_once(void)
{
    uint32_t host = start();
    checking_service service;
    service_start(&service, host, LARGEST);
    int fd = greeted();
    uint64_t call_id = 0;
    for (int round = 0; round < 5; round++) {
        __atomic_store_n(&service.takes, 20000, __ATOMIC_RELAXED);
        __atomic_store_n(&service.rests, 200, __ATOMIC_RELAXED);
        for (int i = 0; i < 3; i++) {
            send_filled(fd, ++call_id, 1000); /* long enough for the I/O thread to take over */
            expect_answer(fd, call_id, 1000);
        }
        __atomic_store_n(&service.takes, 0, __ATOMIC_RELAXED);
        uint64_t led = calls_led(host);
        for (int i = 0; i < 300; i++) {
            send_filled(fd, ++call_id, 1000);
            expect_answer(fd, call_id, 1000);
        }
        CHECK(calls_led(host) - led > 30);
    }
    close(fd);
    epptok_host_stop(host);
    service_join(&service);
}

int main(void)
{
    make_directory();
    RUN(a_call_that_has_landed_is_running_not_queued);
    RUN(calls_do_not_mix_where_buffers_are_lent);
    RUN(calls_do_not_mix_where_buffers_are_just_large_enough);
    RUN(what_a_peer_sends_behind_a_call_is_refused_wherever_it_lands);
    RUN(a_large_call_does_not_land_with_the_last_free_service);
    RUN(a_call_that_has_landed_keeps_its_deadline_and_its_peer);
    RUN(a_call_whose_deadline_has_passed_is_not_handed_out_where_it_landed);
    RUN(the_io_thread_gives_the_lead_back_when_it_has_had_it_once);
    remove_directory();
    return 0;
}
