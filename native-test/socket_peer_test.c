/* The socket transport against peers that break the protocol: their connection is lost, nothing else. */
#include "check.h"
#include "scripted_peer.h"
#include "socket_calls.h"

static void a_call_to_a_broken_peer_is_unavailable(behaviour behaves, const char *named)
{
    peer other;
    peer_start(&other, socket_path, behaves);
    epptok *handle = opened();
    call broken = called(handle, "some body", 6, 2000);
    CHECK_STATUS(broken.status, EPPTOK_UNAVAILABLE);
    CHECK_NAMES(broken.message, named);
    /* It was sent, so it may have been served: no second attempt is the library's to make. */
    CHECK_NUMBER(peer_calls(&other), 1);
    peer_behave(&other, HONEST);
    CHECK_STATUS(called(handle, "some body", 6, 2000).status, EPPTOK_OK);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other, socket_path);
}

static void a_peer_that_hangs_up(void) { a_call_to_a_broken_peer_is_unavailable(HANG_UP_ON_CALL, "closed the connection"); }
static void a_peer_that_hangs_up_in_its_answer(void) { a_call_to_a_broken_peer_is_unavailable(HANG_UP_IN_ANSWER, "middle"); }
static void a_peer_that_speaks_http(void) { a_call_to_a_broken_peer_is_unavailable(NO_FRAME, "magic"); }
static void a_peer_that_announces_too_much(void) { a_call_to_a_broken_peer_is_unavailable(HUGE_FRAME, "limit"); }
static void a_peer_that_answers_another_call(void) { a_call_to_a_broken_peer_is_unavailable(STRAY_ANSWER, "another call"); }
static void a_peer_that_answers_twice(void) { a_call_to_a_broken_peer_is_unavailable(TWO_ANSWERS, "follow its end"); }

static void a_connection_that_died_idle_is_replaced_unseen(behaviour behaves)
{
    peer other;
    peer_start(&other, socket_path, behaves);
    epptok *handle = opened();
    for (unsigned i = 0; i < 4; i++) {
        call one = called(handle, "abc", i, 2000);
        CHECK_STATUS(one.status, EPPTOK_OK);
        CHECK_NUMBER(one.count, 3);
        peer_disturb(&other);
    }
    CHECK_NUMBER(peer_calls(&other), 4);
    CHECK(peer_accepted(&other) >= 4);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other, socket_path);
}

static void a_peer_that_closes_after_each_answer(void) { a_connection_that_died_idle_is_replaced_unseen(HANG_UP_AFTER_ANSWER); }
static void a_peer_that_speaks_while_idle(void) { a_connection_that_died_idle_is_replaced_unseen(SPEAK_WHILE_IDLE); }

static void an_answer_before_the_whole_request_was_taken_is_read(void)
{
    peer other;
    peer_start(&other, socket_path, REFUSE_BY_SIZE);
    epptok *handle = opened();
    size_t length = 4u << 20;
    char *body = calloc(1, length);
    CHECK(body != NULL);
    call large = {handle, body, length, 0, 2000, EPPTOK_OK, "", 0, 0};
    (void)make_call(&large);
    CHECK_STATUS(large.status, EPPTOK_INVALID_REQUEST);
    CHECK_NAMES(large.message, "longer than 64 MiB");
    free(body);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other, socket_path);
}

static void connections_are_used_again(void)
{
    peer other;
    peer_start(&other, socket_path, HONEST);
    epptok *handle = opened();
    for (unsigned i = 0; i < 50; i++) {
        CHECK_STATUS(called(handle, "abc", i, 2000).status, EPPTOK_OK);
    }
    CHECK_NUMBER(peer_accepted(&other), 1);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    peer_stop(&other, socket_path);
}

int main(void)
{
    socket_calls_begin();
    RUN(a_peer_that_hangs_up);
    RUN(a_peer_that_hangs_up_in_its_answer);
    RUN(a_peer_that_speaks_http);
    RUN(a_peer_that_announces_too_much);
    RUN(a_peer_that_answers_another_call);
    RUN(a_peer_that_answers_twice);
    RUN(a_peer_that_closes_after_each_answer);
    RUN(a_peer_that_speaks_while_idle);
    RUN(an_answer_before_the_whole_request_was_taken_is_read);
    RUN(connections_are_used_again);
    socket_calls_end();
    return 0;
}
