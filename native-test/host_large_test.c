/* The lane of large calls: one service of several stays free for the others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_direct_fixture.h"

/* Atomic: the service has its large call; it may answer. */
static int taken, let_go;

static void *take_large_and_hold(void *host)
{
    static __thread uint8_t buffer[400000];
    epptok_host_job job;
    CHECK(epptok_host_next(*(uint32_t *)host, CALLS, buffer, sizeof buffer, &job, 10000) == EPPTOK_HOST_JOB);
    __atomic_store_n(&taken, 1, __ATOMIC_SEQ_CST);
    CHECK_SOON(__atomic_load_n(&let_go, __ATOMIC_SEQ_CST) == 1);
    epptok_host_reply(*(uint32_t *)host, job.ticket, buffer, 8);
    return NULL;
}

static void large_calls_leave_one_service_to_the_others(void)
{
    uint32_t host = start();
    call large[2], small;
    uint64_t ticket;
    pthread_t service;
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE); /* this thread is a service too */
    for (int i = 0; i < 2; i++) {
        CHECK(submit(&large[i], host, 300000, 60000) == EPPTOK_OK);
    }
    pthread_create(&service, NULL, take_large_and_hold, &host);
    CHECK_SOON(__atomic_load_n(&taken, __ATOMIC_SEQ_CST) == 1);
    CHECK(submit(&small, host, 10, 60000) == EPPTOK_OK);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_JOB && ticket == small.ticket);
    CHECK(epptok_host_reply(host, ticket, (const uint8_t *)"x", 1) == 1);
    finish(&small);
    free(small.reply);
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE); /* the second large one waits */
    __atomic_store_n(&let_go, 1, __ATOMIC_SEQ_CST);
    pthread_join(service, NULL);
    uint8_t *buffer = malloc(400000);
    epptok_host_job job;
    CHECK(epptok_host_next(host, CALLS, buffer, 400000, &job, 1000) == EPPTOK_HOST_JOB &&
          job.ticket == large[1].ticket);
    CHECK(epptok_host_reply(host, job.ticket, buffer, 8) == 1);
    for (int i = 0; i < 2; i++) {
        finish(&large[i]);
        CHECK(large[i].status == EPPTOK_OK);
        free(large[i].reply);
    }
    free(buffer);
    epptok_host_stop(host);
}

/* Copying a frame of that size takes longer than another service needs to look. */
#define LARGE (8u << 20)
#define ROUNDS 12

typedef struct racer {
    uint32_t host;
    pthread_barrier_t *start, *end;
    uint8_t *buffer;
    int32_t *found; /* by both, in each round */
} racer;

static void *take_at_once(void *argument)
{
    racer *self = argument;
    epptok_host_job job;
    CHECK(epptok_host_next(self->host, CALLS, self->buffer, LARGE + 80, &job, 0) == EPPTOK_HOST_IDLE);
    pthread_barrier_wait(self->end); /* both count as services */
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(self->start);
        int32_t found = epptok_host_next(self->host, CALLS, self->buffer, LARGE + 80, &job, 0);
        __atomic_fetch_add(&self->found[i], found == EPPTOK_HOST_JOB, __ATOMIC_RELAXED);
        pthread_barrier_wait(self->end);
        if (found == EPPTOK_HOST_JOB) {
            CHECK(epptok_host_reply(self->host, job.ticket, self->buffer, 8) == 1);
        }
        pthread_barrier_wait(self->end);
    }
    return NULL;
}

static void two_services_that_look_at_the_same_time_do_not_both_take_a_large_call(void)
{
    uint32_t host = start();
    pthread_barrier_t begin, end;
    pthread_t threads[2];
    racer racers[2];
    int32_t found[ROUNDS] = {0};
    pthread_barrier_init(&begin, NULL, 3);
    pthread_barrier_init(&end, NULL, 3);
    for (int i = 0; i < 2; i++) {
        racers[i] = (racer){host, &begin, &end, malloc(LARGE + 80), found};
        pthread_create(&threads[i], NULL, take_at_once, &racers[i]);
    }
    pthread_barrier_wait(&end);
    for (int i = 0; i < ROUNDS; i++) {
        call calls[2];
        for (int j = 0; j < 2; j++) {
            CHECK(submit(&calls[j], host, LARGE, 60000) == EPPTOK_OK);
        }
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
        CHECK_NUMBER(__atomic_load_n(&found[i], __ATOMIC_RELAXED), 1);
        pthread_barrier_wait(&end);
        for (int j = 0; j < 2; j++) {
            epptok_i_host_cancel(host, calls[j].ticket, EPPTOK_CANCELLED);
            finish(&calls[j]);
            free(calls[j].reply);
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        free(racers[i].buffer);
    }
    pthread_barrier_destroy(&begin);
    pthread_barrier_destroy(&end);
    epptok_host_stop(host);
}

int main(void)
{
    RUN(large_calls_leave_one_service_to_the_others);
    RUN(two_services_that_look_at_the_same_time_do_not_both_take_a_large_call);
    return 0;
}
