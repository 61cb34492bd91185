#define _GNU_SOURCE
#include <stdlib.h>

#include "clock.h"
#include "peer.h"
#include "transport.h"
#include "wire.h"

#define NS_PER_MS 1000000
#define FIRST_PAUSE_MS 10
#define LONGEST_PAUSE_MS 20
/* A connection that is lost before the request left is replaced, but a peer that drops them all is given up. */
#define ATTEMPTS 3

/* "%.*s" of a section that may be absent. */
static int text_length(const epptok_i_bytes *bytes) { return bytes->length > 400 ? 400 : (int)bytes->length; }
static const char *text_of(const epptok_i_bytes *bytes) { return bytes->data == NULL ? "" : (const char *)bytes->data; }

/* One frame of the connection's own, without sections; *answer are views into reply->frame, which the caller frees. */
static epptok_status ask(epptok_i_link *link, const epptok_i_call *call, epptok_i_frame_type type,
                         const uint32_t words[EPPTOK_I_WORDS], epptok_i_frame_type expected, epptok_i_reply *reply,
                         epptok_i_incoming *answer, epptok_i_reason *reason)
{
    epptok_i_outgoing frame;
    epptok_i_trip trip;
    (void)epptok_i_frame_encode(&frame, type, 0, words, NULL, 0);
    epptok_status status =
        epptok_i_wire_exchange(&link->wire, &frame, call->deadline_ns, NULL, reply, &trip, reason);
    if (status != EPPTOK_OK) {
        return status;
    }
    const char *fault = epptok_i_frame_decode(reply->frame, reply->length, answer);
    if (fault == NULL && answer->type != expected) {
        fault = "it is not the answer to what was asked";
    }
    if (fault != NULL) {
        free(reply->frame);
        reply->frame = NULL;
        return epptok_i_because(reason, EPPTOK_UNAVAILABLE, "the runtime sent a frame that is refused: %s", fault);
    }
    return EPPTOK_OK;
}

static epptok_status say_hello(epptok_i_link *link, const epptok_i_call *call, epptok_i_reason *reason)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_HELLO_ABI] = EPPTOK_ABI_VERSION;
    epptok_i_reply reply;
    epptok_i_incoming welcome;
    epptok_status status = ask(link, call, EPPTOK_I_HELLO, words, EPPTOK_I_WELCOME, &reply, &welcome, reason);
    if (status != EPPTOK_OK) {
        return status;
    }
    const epptok_i_bytes *message = &welcome.sections[EPPTOK_I_MESSAGE];
    const epptok_i_bytes *version = &welcome.sections[EPPTOK_I_TEXT];
    status = (epptok_status)welcome.words[EPPTOK_I_WELCOME_STATUS];
    if (status != EPPTOK_OK) {
        (void)epptok_i_because(reason, status, "the runtime refused the connection: %.*s", text_length(message),
                               text_of(message));
    } else if (welcome.words[EPPTOK_I_WELCOME_ABI] != EPPTOK_ABI_VERSION) {
        status = epptok_i_because(reason, EPPTOK_ABI_MISMATCH,
                                  "the runtime (version %.*s) has ABI version %u, the library %u", text_length(version),
                                  text_of(version), welcome.words[EPPTOK_I_WELCOME_ABI], EPPTOK_ABI_VERSION);
    }
    free(reply.frame);
    return status;
}

/* `why`: what the runtime said of its models when it last answered. If it never did, `reason` says so already. */
static epptok_status late_while_loading(bool answered, const epptok_i_reason *why, epptok_i_reason *reason)
{
    if (!answered) {
        return EPPTOK_TIMEOUT;
    }
    return epptok_i_because(reason, EPPTOK_TIMEOUT, "the deadline passed while the models were loading: %s", why->text);
}

/* Asks until the models are warm. A status that is neither OK nor NOT_READY is final. */
static epptok_status await_models(epptok_i_handle *handle, epptok_i_call *call, epptok_i_link *link,
                                  epptok_i_reason *reason)
{
    int64_t pause_ms = FIRST_PAUSE_MS;
    epptok_i_reason why = {""};
    bool answered = false;
    for (;;) {
        uint32_t words[EPPTOK_I_WORDS] = {0};
        words[EPPTOK_I_REQUEST_MS] = epptok_i_wire_ms(call->deadline_ns);
        epptok_i_reply reply;
        epptok_i_incoming response;
        epptok_status status = ask(link, call, EPPTOK_I_READY, words, EPPTOK_I_RESPONSE, &reply, &response, reason);
        if (status != EPPTOK_OK) {
            return status == EPPTOK_TIMEOUT ? late_while_loading(answered, &why, reason) : status;
        }
        const epptok_i_bytes *message = &response.sections[EPPTOK_I_MESSAGE];
        status = (epptok_status)response.words[EPPTOK_I_RESPONSE_STATUS];
        int64_t next = epptok_i_now_ns() + pause_ms * NS_PER_MS;
        bool late = next >= call->deadline_ns;
        if (status == EPPTOK_NOT_READY) {
            answered = true;
            (void)epptok_i_because(&why, status, "%.*s", text_length(message), text_of(message));
        } else if (status != EPPTOK_OK) {
            (void)epptok_i_because(reason, status, "%.*s", text_length(message), text_of(message));
        }
        free(reply.frame);
        if (status == EPPTOK_OK) {
            epptok_i_peer_set_ready(handle, link);
            return EPPTOK_OK;
        }
        if (status != EPPTOK_NOT_READY) {
            return status == EPPTOK_TIMEOUT ? late_while_loading(answered, &why, reason) : status;
        }
        if (!epptok_i_call_sleep(handle, call, late ? call->deadline_ns : next)) {
            return EPPTOK_CANCELLED; /* epptok_i_call_end() words it */
        }
        if (late) {
            return late_while_loading(answered, &why, reason);
        }
        pause_ms = pause_ms * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : pause_ms * 2;
    }
}

/* A connection that says something else than the answer is out of step: it must not serve the next call. */
static epptok_status check_answer(const epptok_i_call *call, epptok_i_reply *reply, epptok_i_reason *reason)
{
    epptok_i_incoming answer;
    const char *fault = epptok_i_frame_decode(reply->frame, reply->length, &answer);
    if (fault == NULL && (answer.type != EPPTOK_I_RESPONSE || answer.call_id != call->call_id)) {
        fault = answer.type != EPPTOK_I_RESPONSE ? "it is not a response" : "it answers another call";
    }
    if (fault == NULL) {
        return EPPTOK_OK;
    }
    free(reply->frame);
    reply->frame = NULL;
    return epptok_i_because(reason, EPPTOK_UNAVAILABLE, "the runtime sent a frame that is refused: %s", fault);
}

/* `frame` NULL: only to wait for the models, as open does. */
static epptok_status serve(epptok_i_handle *handle, epptok_i_call *call, epptok_i_outgoing *frame,
                           epptok_i_frame_type type, epptok_i_reply *reply, epptok_i_reason *reason)
{
    for (unsigned attempt = 1;; attempt++) {
        bool fresh = false;
        epptok_status status = EPPTOK_OK;
        epptok_i_trip trip = {false, false};
        epptok_i_link *link = epptok_i_peer_check_out(handle, call, &fresh, &status, reason);
        if (link == NULL) {
            return status;
        }
        call->transport = EPPTOK_TRANSPORT_SOCKET;
        if (fresh) {
            status = say_hello(link, call, reason);
        }
        /* A private child that was started anew is this handle's own doing: its calls wait for it. */
        if (status == EPPTOK_OK && (frame == NULL || (type != EPPTOK_I_READY && !epptok_i_peer_ready(handle, link)))) {
            status = await_models(handle, call, link, reason);
            trip.whole = status == EPPTOK_OK;
        }
        if (status == EPPTOK_OK && frame != NULL) {
            epptok_i_frame_set_word(frame, EPPTOK_I_REQUEST_MS, epptok_i_wire_ms(call->deadline_ns));
            status = epptok_i_wire_exchange(&link->wire, frame, call->deadline_ns, &handle->caller_spins, reply, &trip,
                                            reason);
        }
        if (status == EPPTOK_OK && frame != NULL) {
            status = check_answer(call, reply, reason);
        }
        bool final = status != EPPTOK_UNAVAILABLE || trip.sent || attempt == ATTEMPTS;
        if (status == EPPTOK_UNAVAILABLE && epptok_i_peer_lost(handle, call, link, reason)) {
            final = true; /* the next one would die in the same way */
        }
        epptok_i_peer_give_back(handle, call, link, status == EPPTOK_OK && trip.whole);
        if (final || !epptok_i_call_wanted(handle, call)) {
            return status;
        }
    }
}

static epptok_status exchange(epptok_i_handle *handle, epptok_i_call *call, epptok_i_outgoing *frame,
                              epptok_i_frame_type type, epptok_i_reply *reply, epptok_i_reason *reason)
{
    return serve(handle, call, frame, type, reply, reason);
}

epptok_status epptok_i_socket_await_models(epptok_i_handle *handle, epptok_i_call *call, epptok_i_reason *reason)
{
    epptok_status status = serve(handle, call, NULL, EPPTOK_I_READY, NULL, reason);
    /* A child that dies while it starts has failed to start; a sidecar that is not there may come back. */
    return status == EPPTOK_UNAVAILABLE && handle->peer->socket_path == NULL ? EPPTOK_INIT_FAILED : status;
}

const epptok_i_transport epptok_i_transport_socket = {EPPTOK_TRANSPORT_SOCKET, EPPTOK_UNAVAILABLE, exchange};
