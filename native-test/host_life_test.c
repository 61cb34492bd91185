/* The life of a host: before it is ready, while services die, when it stops, after a fork. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_direct_fixture.h"

#include <sys/wait.h>

static void *wait_for_a_job(void *host)
{
    uint64_t ticket;
    static __thread int32_t found;
    found = next(*(uint32_t *)host, &ticket, 20000);
    return &found;
}

static void *take_and_die(void *host)
{
    uint64_t ticket;
    CHECK(next(*(uint32_t *)host, &ticket, 1000) == EPPTOK_HOST_JOB);
    return NULL;
}

static void a_service_thread_that_dies_ends_its_call(void)
{
    uint32_t host = start();
    call c;
    pthread_t service;
    CHECK(submit(&c, host, 10, 10000) == EPPTOK_OK);
    pthread_create(&service, NULL, take_and_die, &host);
    finish(&c);
    CHECK(c.status == EPPTOK_UNAVAILABLE && c.took_ns < 5000 * MS);
    pthread_join(service, NULL);
    epptok_host_stop(host);
}

static void stop_answers_queued_and_running_calls_and_services(void)
{
    uint32_t host = start();
    call queued, running, never_waited;
    uint64_t ticket;
    pthread_t idle;
    epptok_host_job job;
    CHECK(submit(&running, host, 10, 20000) == EPPTOK_OK);
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_JOB);
    CHECK(epptok_host_next(host, EPPTOK_HOST_QUEUE_CONTROL, NULL, 0, &job, 0) == EPPTOK_HOST_IDLE);
    pthread_create(&running.thread, NULL, finish_in_thread, &running);
    pthread_create(&idle, NULL, wait_for_a_job, &host);
    usleep(20000);
    epptok_host_stop(host);
    pthread_join(idle, NULL);
    pthread_join(running.thread, NULL);
    CHECK(running.status == EPPTOK_SHUTTING_DOWN && running.took_ns < 5000 * MS);
    CHECK(epptok_host_reply(host, ticket, (const uint8_t *)"x", 1) == 0);

    host = start();
    CHECK(submit(&queued, host, 10, 20000) == EPPTOK_OK);
    CHECK(submit(&never_waited, host, 10, 20000) == EPPTOK_OK);
    pthread_create(&queued.thread, NULL, finish_in_thread, &queued);
    usleep(20000);
    epptok_host_stop(host);
    epptok_host_stop(host);
    pthread_join(queued.thread, NULL);
    CHECK(queued.status == EPPTOK_SHUTTING_DOWN);
    finish(&never_waited);
    CHECK(never_waited.status == EPPTOK_SHUTTING_DOWN);
    CHECK(next(host, &ticket, 1000) == EPPTOK_HOST_STOPPED);
    CHECK(submit(&queued, host, 10, 20000) == EPPTOK_UNAVAILABLE);
    free(queued.frame);
}

static void a_number_of_a_stopped_host_names_no_later_one(void)
{
    uint32_t stale = start();
    epptok_host_stop(stale);
    uint32_t host = start();
    uint64_t ticket;
    CHECK(host != stale);
    CHECK(next(stale, &ticket, 0) == EPPTOK_HOST_STOPPED);
    epptok_host_stop(stale);
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE);
    epptok_host_stop(host);
    CHECK(next(0, &ticket, 0) == EPPTOK_HOST_STOPPED);
}

static void nothing_is_served_before_the_models_are_ready(void)
{
    epptok_host_options options = {sizeof options, 0, 0, 0, NULL, NULL, -1, 0};
    uint32_t host = epptok_host_start(&options, message, sizeof message);
    call c;
    size_t length;
    uint64_t ticket;
    uint8_t *reply, *ready = host_peer_call(EPPTOK_I_READY, 7, 1000, &length);
    CHECK(submit(&c, host, 10, 1000) == EPPTOK_NOT_READY);
    CHECK_NAMES(message, "still loading");
    free(c.frame);
    epptok_host_set_ready(host, EPPTOK_INIT_FAILED, "no tokenizer.json in that folder");
    CHECK(submit(&c, host, 10, 1000) == EPPTOK_INIT_FAILED);
    CHECK_NAMES(message, "no tokenizer.json in that folder");
    free(c.frame);
    int64_t deadline = epptok_i_deadline_in_ms(1000);
    CHECK(epptok_i_host_submit(host, ready, length, deadline, &ticket, message, sizeof message) == EPPTOK_INIT_FAILED);
    epptok_host_set_ready(host, EPPTOK_OK, NULL);
    CHECK(epptok_i_host_submit(host, ready, length, deadline, &ticket, message, sizeof message) == EPPTOK_OK);
    CHECK(epptok_i_host_wait(host, ticket, &reply, &length) == EPPTOK_OK);
    CHECK(host_peer_status(reply) == EPPTOK_OK && host_peer_call_id(reply) == 7);
    free(reply);
    free(ready);
    epptok_host_stop(host);
}

static void in_a_forked_child_the_host_is_inert(void)
{
    uint32_t host = start();
    call c;
    uint64_t ticket;
    pthread_t idle;
    pthread_create(&idle, NULL, wait_for_a_job, &host);
    usleep(10000);
    pid_t child = fork();
    if (child == 0) {
        alarm(5);
        bool inert = next(host, &ticket, 1000) == EPPTOK_HOST_STOPPED;
        inert = inert && submit(&c, host, 10, 1000) == EPPTOK_UNAVAILABLE;
        inert = inert && epptok_host_reply(host, 1, (const uint8_t *)"x", 1) == 0;
        epptok_host_stop(host);
        /* The child may have hosts of its own. */
        uint32_t own = start();
        inert = inert && own != 0 && submit(&c, own, 10, 20) == EPPTOK_OK;
        finish(&c);
        epptok_host_stop(own);
        _exit(inert && c.status == EPPTOK_TIMEOUT ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(submit(&c, host, 10, 20) == EPPTOK_OK); /* the parent's host serves on */
    finish(&c);
    epptok_host_stop(host);
    pthread_join(idle, NULL);
}

int main(void)
{
    RUN(nothing_is_served_before_the_models_are_ready);
    RUN(a_service_thread_that_dies_ends_its_call);
    RUN(stop_answers_queued_and_running_calls_and_services);
    RUN(a_number_of_a_stopped_host_names_no_later_one);
    RUN(in_a_forked_child_the_host_is_inert);
    return 0;
}
