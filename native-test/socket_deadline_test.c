/* The socket transport: a blocked call ends at its deadline, when it is cancelled, and when its handle is closed. */
#include "check.h"
#include "scripted_peer.h"
#include "socket_calls.h"

/* One of them within the 20 ms that are promised: a busy machine may wake this thread late. */
static void a_call_times_out_at_its_deadline(behaviour behaves, size_t length)
{
    peer other;
    peer_start(&other, socket_path, behaves);
    epptok *handle = opened();
    char *body = calloc(1, length);
    CHECK(body != NULL);
    int64_t least = 1000;
    for (unsigned attempt = 0; attempt < 10 && least > 120; attempt++) {
        call late = {handle, body, length, 0, 100, EPPTOK_OK, "", 0, 0};
        (void)make_call(&late);
        CHECK_STATUS(late.status, EPPTOK_TIMEOUT);
        CHECK_NAMES(late.message, "deadline");
        CHECK(late.took_ms >= 99);
        least = late.took_ms < least ? late.took_ms : least;
    }
    CHECK(least <= 120);
    free(body);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other, socket_path);
}

static void a_silent_peer_costs_the_deadline(void) { a_call_times_out_at_its_deadline(NEVER_ANSWER, 10); }
static void a_trickling_peer_costs_the_deadline(void) { a_call_times_out_at_its_deadline(TRICKLE, 10); }
static void a_peer_that_does_not_read_costs_the_deadline(void) { a_call_times_out_at_its_deadline(NEVER_READ, 4u << 20); }

static int64_t cancelling(epptok *handle, const char *body, size_t length)
{
    call blocked = {handle, body, length, 42, 30000, EPPTOK_OK, "", 0, 0};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, make_call, &blocked) == 0);
    check_sleep_ms(50); /* so that it blocks; that it is being made is what cancel() tells */
    CHECK_STATUS(epptok_cancel(handle, 41), EPPTOK_INVALID_ARGUMENT);
    int64_t start = 0;
    CHECK_SOON((start = check_now_ms(), epptok_cancel(handle, 42)) == EPPTOK_OK);
    (void)pthread_join(thread, NULL);
    int64_t took = check_now_ms() - start;
    CHECK_STATUS(blocked.status, EPPTOK_CANCELLED);
    return took;
}

static void a_blocked_call_is_cancelled_at_once(behaviour behaves, size_t length)
{
    peer other;
    peer_start(&other, socket_path, behaves);
    epptok *handle = opened();
    char *body = calloc(1, length);
    CHECK(body != NULL);
    CHECK_IN_TIME(SLACK_MS, cancelling(handle, body, length));
    free(body);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other, socket_path);
}

static void a_call_that_waits_is_cancelled(void) { a_blocked_call_is_cancelled_at_once(NEVER_ANSWER, 10); }
static void a_call_that_sends_is_cancelled(void) { a_blocked_call_is_cancelled_at_once(NEVER_READ, 4u << 20); }

static int64_t closing(peer *blocking)
{
    unsigned calls = peer_calls(blocking);
    epptok *handle = opened();
    call blocked[8];
    pthread_t threads[8];
    for (unsigned i = 0; i < 8; i++) {
        call one = {handle, "abc", 3, i, 30000, EPPTOK_OK, "", 0, 0};
        blocked[i] = one;
        CHECK(pthread_create(&threads[i], NULL, make_call, &blocked[i]) == 0);
    }
    CHECK_SOON(peer_calls(blocking) == calls + 8);
    int64_t start = check_now_ms();
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    int64_t took = check_now_ms() - start;
    for (unsigned i = 0; i < 8; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK_STATUS(blocked[i].status, EPPTOK_SHUTTING_DOWN);
    }
    CHECK_STATUS(called(handle, "abc", 0, 100).status, EPPTOK_INVALID_HANDLE);
    return took;
}

static void close_wakes_the_calls_in_flight(void)
{
    peer other;
    peer_start(&other, socket_path, NEVER_ANSWER);
    CHECK_IN_TIME(SLACK_MS, closing(&other));
    peer_stop(&other, socket_path);
}

int main(void)
{
    socket_calls_begin();
    RUN(a_silent_peer_costs_the_deadline);
    RUN(a_trickling_peer_costs_the_deadline);
    RUN(a_peer_that_does_not_read_costs_the_deadline);
    RUN(a_call_that_waits_is_cancelled);
    RUN(a_call_that_sends_is_cancelled);
    RUN(close_wakes_the_calls_in_flight);
    socket_calls_end();
    return 0;
}
