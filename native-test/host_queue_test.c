/* The queue, seen by callers of this process: order, admission, deadlines, cancellation. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_direct_fixture.h"

static void calls_come_out_in_the_order_they_went_in(void)
{
    uint32_t host = start();
    call calls[5];
    uint64_t ticket;
    for (int i = 0; i < 5; i++) {
        CHECK(submit(&calls[i], host, 10, 1000) == EPPTOK_OK);
    }
    for (int i = 0; i < 5; i++) {
        CHECK(next(host, &ticket, 0) == EPPTOK_HOST_JOB);
        CHECK(ticket == calls[i].ticket);
        CHECK(epptok_host_reply(host, ticket, (const uint8_t *)"reply" + i, 1) == 1);
    }
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE);
    for (int i = 0; i < 5; i++) {
        finish(&calls[i]);
        CHECK(calls[i].status == EPPTOK_OK && calls[i].reply_length == 1 && calls[i].reply[0] == "reply"[i]);
        free(calls[i].reply);
    }
    epptok_host_stop(host);
}

static void a_frame_arrives_whole_with_what_is_left_of_its_deadline(void)
{
    uint32_t host = start();
    call c;
    uint8_t buffer[8192];
    epptok_host_job job;
    CHECK(submit(&c, host, 4096, 1000) == EPPTOK_OK);
    usleep(20000);
    CHECK(epptok_host_next(host, CALLS, buffer, sizeof buffer, &job, 0) == EPPTOK_HOST_JOB);
    CHECK(job.length == c.length && memcmp(buffer, c.frame, c.length) == 0);
    CHECK(job.deadline_ms <= 980 && job.deadline_ms > 500);
    CHECK(job.queue_us >= 20000);
    CHECK(epptok_host_reply(host, job.ticket, buffer, 8) == 1);
    CHECK(epptok_host_reply(host, job.ticket, buffer, 8) == 0);
    finish(&c);
    free(c.reply);
    epptok_host_stop(host);
}

static void a_full_queue_refuses_at_once_with_the_figures(void)
{
    uint32_t host = start_with(3, 0, 0);
    call calls[4];
    uint64_t ticket;
    for (int i = 0; i < 3; i++) {
        CHECK(submit(&calls[i], host, 10, 100) == EPPTOK_OK);
    }
    CHECK(submit(&calls[3], host, 10, 100) == EPPTOK_BACKPRESSURE);
    CHECK_NAMES(message, "3 calls are waiting, the limit is 3");
    free(calls[3].frame);
    /* One that is being served does not wait. */
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_JOB);
    CHECK(submit(&calls[3], host, 10, 100) == EPPTOK_OK);
    for (int i = 0; i < 4; i++) {
        finish(&calls[i]);
    }
    epptok_host_counters counters;
    CHECK(epptok_host_counters_read(host, &counters) == 1);
    CHECK(counters.refused_backpressure == 1 && counters.accepted == 4 && counters.expired == 4);
    CHECK(counters.queued_calls == 0 && counters.queued_bytes == 0 && counters.running_calls == 0);
    epptok_host_stop(host);
}

static void the_queue_is_limited_by_bytes_too(void)
{
    uint32_t host = start_with(0, 10000, 0);
    call first, second;
    CHECK(submit(&first, host, 8000, 50) == EPPTOK_OK);
    CHECK(submit(&second, host, 8000, 50) == EPPTOK_BACKPRESSURE);
    CHECK_NAMES(message, "8080 bytes are waiting and this call has 8080, the limit is 10000");
    free(second.frame);
    finish(&first);
    CHECK(submit(&second, host, 8000, 50) == EPPTOK_OK);
    finish(&second);
    epptok_host_stop(host);
}

static void a_frame_above_the_limit_is_refused_with_both_numbers(void)
{
    uint32_t host = start_with(0, 0, 1000);
    call c;
    CHECK(submit(&c, host, 2000, 50) == EPPTOK_INVALID_REQUEST);
    CHECK_NAMES(message, "the request has 2080 bytes, the limit is 1000");
    free(c.frame);
    epptok_host_stop(host);
}

/*
 * A machine that is busy now and then wakes this thread late, which is not the queue's doing: that it can be in time is shown by
 * one of several calls, that it is never early and always leaves by all of them.
 */
#define TRIES 8

static void a_queued_call_expires_in_time_and_leaves_the_queue(void)
{
    uint32_t host = start();
    bool in_time = false;
    for (int i = 0; i < TRIES && !in_time; i++) {
        call c;
        uint64_t ticket;
        CHECK(submit(&c, host, 10, 50) == EPPTOK_OK);
        finish(&c);
        CHECK(c.status == EPPTOK_TIMEOUT && c.reply == NULL);
        CHECK(c.took_ns >= 50 * MS);
        CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE);
        in_time = c.took_ns < (50 + SLACK_MS) * MS;
    }
    CHECK(in_time);
    epptok_host_stop(host);
}

static void an_expired_call_is_never_handed_out(void)
{
    uint32_t host = start();
    call late, good;
    uint64_t ticket;
    CHECK(submit(&late, host, 10, 5) == EPPTOK_OK);
    CHECK(submit(&good, host, 10, 1000) == EPPTOK_OK);
    usleep(10000);
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_JOB && ticket == good.ticket);
    CHECK(epptok_host_reply(host, ticket, (const uint8_t *)"x", 1) == 1);
    finish(&late);
    finish(&good);
    CHECK(late.status == EPPTOK_TIMEOUT && good.status == EPPTOK_OK);
    free(good.reply);
    epptok_host_stop(host);
}

static void a_running_call_expires_and_its_late_reply_reaches_nobody(void)
{
    uint32_t host = start();
    call c, following;
    uint64_t late = 0, ticket;
    bool in_time = false;
    for (int i = 0; i < TRIES && !in_time; i++) {
        CHECK(submit(&c, host, 10, 50) == EPPTOK_OK);
        CHECK(next(host, &late, 0) == EPPTOK_HOST_JOB);
        finish(&c);
        CHECK(c.status == EPPTOK_TIMEOUT);
        in_time = c.took_ns < (50 + SLACK_MS) * MS;
    }
    CHECK(in_time);
    CHECK(submit(&following, host, 10, 1000) == EPPTOK_OK);
    CHECK(epptok_host_reply(host, late, (const uint8_t *)"late", 4) == 0);
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_JOB && ticket == following.ticket);
    CHECK(epptok_host_reply(host, ticket, (const uint8_t *)"own!", 4) == 1);
    finish(&following);
    CHECK(following.status == EPPTOK_OK && memcmp(following.reply, "own!", 4) == 0);
    free(following.reply);
    epptok_host_stop(host);
}

static void cancel_ends_a_wait_at_once_queued_or_running(void)
{
    uint32_t host = start();
    for (int running = 0; running < 2; running++) {
        call c;
        uint64_t ticket = 0;
        CHECK(submit(&c, host, 10, 10000) == EPPTOK_OK);
        if (running) {
            CHECK(next(host, &ticket, 0) == EPPTOK_HOST_JOB);
        }
        pthread_create(&c.thread, NULL, finish_in_thread, &c);
        usleep(20000);
        epptok_i_host_cancel(host, c.ticket, EPPTOK_CANCELLED);
        pthread_join(c.thread, NULL);
        CHECK(c.status == EPPTOK_CANCELLED && c.took_ns < 5000 * MS);
        if (running) {
            CHECK(epptok_host_reply(host, ticket, (const uint8_t *)"x", 1) == 0);
        } else {
            CHECK(next(host, &ticket, 0) == EPPTOK_HOST_IDLE);
        }
    }
    epptok_host_stop(host);
}

static void a_small_buffer_is_told_the_size_and_the_call_stays(void)
{
    uint32_t host = start();
    call c;
    uint8_t small[100], *large;
    epptok_host_job job;
    CHECK(submit(&c, host, 5000, 1000) == EPPTOK_OK);
    CHECK(epptok_host_next(host, CALLS, small, sizeof small, &job, 0) == EPPTOK_HOST_GROW);
    CHECK(job.length == c.length);
    CHECK(epptok_host_next(host, CALLS, NULL, 0, &job, 0) == EPPTOK_HOST_GROW);
    large = malloc(job.length);
    CHECK(epptok_host_next(host, CALLS, large, job.length, &job, 0) == EPPTOK_HOST_JOB);
    CHECK(epptok_host_reply(host, job.ticket, small, 8) == 1);
    finish(&c);
    free(c.reply);
    free(large);
    epptok_host_stop(host);
}

static void stats_go_to_the_control_queue(void)
{
    uint32_t host = start();
    size_t length;
    uint64_t ticket, taken;
    uint8_t buffer[256], *reply, *frame = host_peer_call(EPPTOK_I_STATS, 3, 1000, &length);
    epptok_host_job job;
    CHECK(epptok_i_host_submit(host, frame, length, epptok_i_deadline_in_ms(1000), &ticket, message, sizeof message) ==
          EPPTOK_OK);
    CHECK(next(host, &taken, 0) == EPPTOK_HOST_IDLE);
    epptok_host_counters waiting, running;
    CHECK(epptok_host_counters_read(host, &waiting) == 1);
    CHECK(waiting.queued_calls == 0 && waiting.queued_bytes == 0);
    CHECK(epptok_host_next(host, EPPTOK_HOST_QUEUE_CONTROL, buffer, sizeof buffer, &job, 0) == EPPTOK_HOST_JOB);
    CHECK(epptok_host_counters_read(host, &running) == 1);
    CHECK(running.running_calls == 0); /* else metrics would find a worker busy whenever they are read */
    CHECK(epptok_host_reply(host, job.ticket, buffer, 64) == 1);
    CHECK(epptok_i_host_wait(host, ticket, &reply, &length) == EPPTOK_OK && length == 64);
    free(reply);
    free(frame);
    epptok_host_stop(host);
}

static void services_are_wanted_until_one_comes(void)
{
    uint32_t host = start();
    call c;
    uint64_t ticket;
    CHECK(epptok_host_wanted(host) == 0);
    CHECK(submit(&c, host, 10, 1000) == EPPTOK_OK);
    CHECK(epptok_host_wanted(host) == 1);
    CHECK(next(host, &ticket, 0) == EPPTOK_HOST_JOB);
    CHECK(epptok_host_wanted(host) == 0);
    epptok_i_host_cancel(host, ticket, EPPTOK_CANCELLED);
    finish(&c);
    epptok_host_stop(host);
}

int main(void)
{
    RUN(calls_come_out_in_the_order_they_went_in);
    RUN(a_frame_arrives_whole_with_what_is_left_of_its_deadline);
    RUN(a_full_queue_refuses_at_once_with_the_figures);
    RUN(the_queue_is_limited_by_bytes_too);
    RUN(a_frame_above_the_limit_is_refused_with_both_numbers);
    RUN(a_queued_call_expires_in_time_and_leaves_the_queue);
    RUN(an_expired_call_is_never_handed_out);
    RUN(a_running_call_expires_and_its_late_reply_reaches_nobody);
    RUN(cancel_ends_a_wait_at_once_queued_or_running);
    RUN(a_small_buffer_is_told_the_size_and_the_call_stays);
    RUN(stats_go_to_the_control_queue);
    RUN(services_are_wanted_until_one_comes);
    return 0;
}
