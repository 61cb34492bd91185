/* Who reads the sockets: services that wait, and the I/O thread while none does. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_socket_fixture.h"

#include "../src/native/host_io.h"

#include <pthread.h>

/* A service thread of its own: takes calls and answers each with its own number as the count of ids. */
typedef struct echo {
    pthread_t thread;
    uint32_t host;
    size_t number;
    unsigned served; /* atomic */
} echo;

static void *echo_run(void *argument)
{
    echo *self = argument;
    static __thread uint8_t buffer[1 << 18];
    epptok_host_job job;
    int32_t found;
    while ((found = epptok_host_next(self->host, CALLS, buffer, sizeof buffer, &job, 100)) != EPPTOK_HOST_STOPPED) {
        if (found == EPPTOK_HOST_JOB) {
            CHECK(reply_ids(self->host, job.ticket, host_peer_call_id(buffer), self->number) == 1);
            __atomic_add_fetch(&self->served, 1u, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

static void echo_start(echo *self, uint32_t host, size_t number)
{
    self->host = host;
    self->number = number;
    self->served = 0;
    CHECK(pthread_create(&self->thread, NULL, echo_run, self) == 0);
}

static void echo_join(echo *self) { CHECK(pthread_join(self->thread, NULL) == 0); }

static void a_service_that_waits_accepts_greets_and_answers(void)
{
    uint32_t host = start();
    echo service;
    echo_start(&service, host, 3);
    for (uint64_t peer = 0; peer < 10; peer++) {
        int fd = greeted();
        for (uint64_t id = 1; id <= 100; id++) {
            send_call(fd, id, 500, 5000);
            CHECK(read_status(fd, id) == EPPTOK_OK);
        }
        close(fd);
    }
    SOON(__atomic_load_n(&service.served, __ATOMIC_RELAXED) == 1000); /* it counts after it has answered */
    SOON(counters_of(host).connections == 0);
    epptok_host_stop(host);
    echo_join(&service);
}

static void while_the_only_service_is_busy_the_host_still_reads_refuses_and_expires(void)
{
    uint32_t host = start_with(1, 0, 0);
    uint64_t ticket, later;
    int busy = greeted();
    send_call(busy, 1, 100, 5000);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
    /* Nobody waits in next() from here on. */
    int queued = greeted(), refused = greeted(), expiring = greeted();
    send_call(queued, 2, 100, 5000);
    SOON(counters_of(host).queued_calls == 1);
    send_call(refused, 3, 100, 5000);
    CHECK(read_status(refused, 3) == EPPTOK_BACKPRESSURE);
    CHECK(reply_ids(host, ticket, 1, 1) == 1);
    CHECK(read_status(busy, 1) == EPPTOK_OK);
    CHECK(next(host, &later, 2000) == EPPTOK_HOST_JOB);
    send_call(expiring, 4, 100, 50);
    CHECK(read_status(expiring, 4) == EPPTOK_TIMEOUT);
    /* A peer that leaves is noticed, though its call is being served. */
    close(queued);
    SOON(counters_of(host).disconnected == 1);
    CHECK(reply_ids(host, later, 2, 1) == 0);
    close(busy);
    close(refused);
    close(expiring);
    epptok_host_stop(host);
}

static void a_service_that_leaves_for_good_leaves_the_sockets_to_the_io_thread(void)
{
    uint32_t host = start();
    uint64_t ticket;
    int before = greeted();
    /* It waits in vain, and its thread never comes back. */
    for (int i = 0; i < 3; i++) {
        CHECK(next(host, &ticket, 30) == EPPTOK_HOST_IDLE);
    }
    int64_t since = epptok_i_now_ns();
    int after = greeted();
    CHECK(epptok_i_now_ns() - since < 2000 * MS);
    close(before);
    close(after);
    SOON(counters_of(host).connections == 0);
    serves_one_good_call(host);
    epptok_host_stop(host);
}

static void while_one_service_is_busy_another_that_waits_serves(void)
{
    uint32_t host = start();
    echo other;
    uint64_t ticket;
    int slow = greeted();
    send_call(slow, 1, 100, 30000);
    CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB); /* this thread is the busy one */
    echo_start(&other, host, 7);
    int quick = greeted();
    for (uint64_t id = 1; id <= 200; id++) {
        send_call(quick, id, 500, 5000);
        CHECK(read_status(quick, id) == EPPTOK_OK);
    }
    CHECK(reply_ids(host, ticket, 1, 1) == 1);
    CHECK(read_status(slow, 1) == EPPTOK_OK);
    close(slow);
    close(quick);
    epptok_host_stop(host);
    echo_join(&other);
}

static void of_calls_that_come_at_once_each_waiting_service_takes_one(void)
{
    uint32_t host = start();
    uint64_t ticket;
    echo others[2];
    echo_start(&others[0], host, 1);
    echo_start(&others[1], host, 2);
    int fds[6];
    for (int i = 0; i < 6; i++) {
        fds[i] = greeted();
    }
    for (uint64_t round = 1; round <= 100; round++) {
        for (int i = 0; i < 6; i++) {
            send_call(fds[i], round, 2000, 5000);
        }
        for (int i = 0; i < 6; i++) {
            CHECK(read_status(fds[i], round) == EPPTOK_OK);
        }
    }
    SOON(__atomic_load_n(&others[0].served, __ATOMIC_RELAXED) + __atomic_load_n(&others[1].served, __ATOMIC_RELAXED) == 600);
    for (int i = 0; i < 6; i++) {
        close(fds[i]);
    }
    epptok_host_stop(host);
    CHECK(next(host, &ticket, 10) == EPPTOK_HOST_STOPPED);
    echo_join(&others[0]);
    echo_join(&others[1]);
}

static void calls_of_this_process_reach_a_service_that_reads_sockets(void)
{
    uint32_t host = start();
    echo service;
    echo_start(&service, host, 5);
    for (int i = 0; i < 200; i++) {
        size_t length, reply_length = 0;
        uint8_t *call = host_peer_tokenize(9, 300, 5000, &length), *reply = NULL;
        uint64_t ticket = 0;
        int64_t deadline_ns = epptok_i_deadline_in_ms(5000);
        CHECK(epptok_i_host_submit(host, call, length, deadline_ns, &ticket, message, sizeof message) == EPPTOK_OK);
        CHECK(epptok_i_host_wait(host, ticket, &reply, &reply_length) == EPPTOK_OK);
        free(reply);
        free(call);
        if (i % 50 == 0) {
            usleep(20000); /* long enough that it sleeps again */
        }
    }
    epptok_host_stop(host);
    echo_join(&service);
}

/* The service may find out sooner than whoever reads the sockets. */
static void a_call_whose_peer_has_left_counts_as_disconnected_whoever_finds_out(void)
{
    uint32_t host = start();
    uint64_t ticket, delivered = 0;
    for (uint64_t call_id = 1; call_id <= 30; call_id++) {
        int fd = greeted();
        send_call(fd, call_id, 100, 5000);
        CHECK(next(host, &ticket, 2000) == EPPTOK_HOST_JOB);
        close(fd);
        usleep((useconds_t)(call_id % 3 * 1500));
        delivered += (uint64_t)reply_ids(host, ticket, call_id, 1);
    }
    CHECK(delivered == 0);
    SOON(counters_of(host).connections == 0);
    CHECK(counters_of(host).accepted == 30);
    CHECK(counters_of(host).disconnected == 30);
    epptok_host_stop(host);
}

static bool holds_soon(epptok_i_host *host, const bool *flag, epptok_i_leader leader, int ms)
{
    bool holds = false;
    for (int64_t until = epptok_i_deadline_in_ms((uint32_t)ms); !holds && epptok_i_now_ns() < until; usleep(500)) {
        pthread_mutex_lock(&host->lock);
        holds = (flag == NULL || *flag) && host->io->lead.leader == leader;
        pthread_mutex_unlock(&host->lock);
    }
    return holds;
}

static void *take_one(void *argument)
{
    static __thread uint8_t buffer[1 << 16];
    epptok_host_job job;
    uint32_t host = *(uint32_t *)argument;
    CHECK(epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, 5000) == EPPTOK_HOST_JOB);
    CHECK(host_peer_call_id(buffer) == 9);
    usleep(600000);
    CHECK(reply_ids(host, job.ticket, 9, 1) == 1);
    return NULL;
}

/* A service is woken to lead, and before it has the lock a call of this process is queued: it takes that instead. */
static void a_service_that_was_to_lead_and_serves_instead_leaves_the_sockets_to_the_io_thread(void)
{
    uint32_t number = start();
    epptok_i_host *host = epptok_i_host_acquire(number);
    epptok_i_queue *calls = &host->queues[CALLS];
    int fd = greeted();
    for (bool leads = false; !leads;) {
        uint64_t ticket;
        send_call(fd, 1, 100, 5000);
        CHECK(next(number, &ticket, 2000) == EPPTOK_HOST_JOB);
        CHECK(reply_ids(number, ticket, 1, 1) == 1);
        pthread_mutex_lock(&host->lock);
        leads = epptok_i_lead_take(host, false, NULL, 0);
        pthread_mutex_unlock(&host->lock);
    }
    pthread_t service;
    CHECK(pthread_create(&service, NULL, take_one, &number) == 0);
    CHECK(holds_soon(host, &host->io->lead.standing_by, EPPTOK_I_SERVICE, 2000));
    pthread_mutex_lock(&host->lock);
    CHECK(calls->idle != NULL);
    epptok_i_waiter *woken = epptok_i_lead_leave(host, true);
    pthread_mutex_unlock(&host->lock);
    size_t length, reply_length = 0;
    uint8_t *call = host_peer_tokenize(9, 300, 5000, &length), *reply = NULL;
    uint64_t ticket = 0;
    CHECK(epptok_i_host_submit(number, call, length, epptok_i_deadline_in_ms(5000), &ticket, message, sizeof message) ==
          EPPTOK_OK);
    pthread_cond_signal(&woken->cond);
    CHECK(holds_soon(host, NULL, EPPTOK_I_IO_THREAD, 20 + SLACK_MS));
    CHECK(epptok_i_host_wait(number, ticket, &reply, &reply_length) == EPPTOK_OK);
    CHECK(pthread_join(service, NULL) == 0);
    free(reply);
    free(call);
    close(fd);
    epptok_i_host_release(host);
    epptok_host_stop(number);
}

static void stop_ends_a_service_that_reads_sockets(void)
{
    for (int i = 0; i < 30; i++) {
        uint32_t host = start();
        echo services[2];
        echo_start(&services[0], host, 1);
        echo_start(&services[1], host, 2);
        int fd = greeted();
        send_call(fd, 1, 100, 5000);
        CHECK(read_status(fd, 1) == EPPTOK_OK);
        usleep((useconds_t)(i * 100));
        int64_t since = epptok_i_now_ns();
        epptok_host_stop(host);
        CHECK(epptok_i_now_ns() - since < 2000 * MS);
        CHECK(host_peer_is_closed(fd, 1000));
        close(fd);
        echo_join(&services[0]);
        echo_join(&services[1]);
    }
}

int main(void)
{
    make_directory();
    RUN(a_service_that_waits_accepts_greets_and_answers);
    RUN(while_the_only_service_is_busy_the_host_still_reads_refuses_and_expires);
    RUN(a_service_that_leaves_for_good_leaves_the_sockets_to_the_io_thread);
    RUN(while_one_service_is_busy_another_that_waits_serves);
    RUN(of_calls_that_come_at_once_each_waiting_service_takes_one);
    RUN(calls_of_this_process_reach_a_service_that_reads_sockets);
    RUN(a_call_whose_peer_has_left_counts_as_disconnected_whoever_finds_out);
    RUN(a_service_that_was_to_lead_and_serves_instead_leaves_the_sockets_to_the_io_thread);
    RUN(stop_ends_a_service_that_reads_sockets);
    remove_directory();
    return 0;
}
