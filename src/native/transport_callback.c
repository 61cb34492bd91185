/*
 * In this process, on the JavaScript thread that owns the handle: the callback runs on the caller's own stack.
 *
 *     epptok_tokenize() ─► callback(exchange) ─► JavaScript: epptok_exchange_take(), serve, epptok_exchange_put()
 *                       ◄──────────────────── 1
 *
 * An exchange lives on the stack of its call. Its token is looked up among those of this thread, innermost first (a
 * callback may call the library again), and never followed: from another thread, or afterwards, it names nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "transport.h"

typedef struct exchange_state {
    struct exchange_state *outer;
    uint64_t token;
    epptok_i_handle *handle;
    epptok_i_call *call;
    const epptok_i_outgoing *frame;
    epptok_i_reply *reply;
} exchange_state;

static __thread exchange_state *innermost;
static __thread uint64_t exchanges;

/* Never twice on one thread, not to be guessed by counting, and exact as a JavaScript number: an odd factor permutes the 53-bit numbers. */
static uint64_t next_token(void)
{
    const uint64_t mask = ((uint64_t)1 << 53) - 1;
    uint64_t token = 0;
    while (token == 0) {
        if (exchanges == 0) {
            exchanges = (uint64_t)epptok_i_now_ns() & mask;
        }
        token = (++exchanges * UINT64_C(0x9E3779B97F4A7C15)) & mask;
    }
    return token;
}

static exchange_state *find(uint64_t token)
{
    exchange_state *state = innermost;
    while (state != NULL && state->token != token) {
        state = state->outer;
    }
    return state;
}

size_t epptok_exchange_take(uint64_t exchange, uint8_t *buffer, size_t capacity)
{
    const exchange_state *state = find(exchange);
    if (state == NULL) {
        return 0;
    }
    if (buffer != NULL && state->frame->length <= capacity) {
        epptok_i_frame_write(state->frame, buffer);
    }
    return state->frame->length;
}

uint32_t epptok_exchange_abandoned(uint64_t exchange)
{
    const exchange_state *state = find(exchange);
    if (state == NULL) {
        return EPPTOK_CANCELLED;
    }
    pthread_mutex_lock(&state->handle->lock);
    epptok_status why = state->call->interrupted;
    pthread_mutex_unlock(&state->handle->lock);
    if (why == EPPTOK_OK && epptok_i_now_ns() >= state->call->deadline_ns) {
        why = EPPTOK_TIMEOUT;
    }
    return (uint32_t)why;
}

int32_t epptok_exchange_put(uint64_t exchange, const uint8_t *frame, size_t length)
{
    exchange_state *state = find(exchange);
    uint8_t *copy = state == NULL || frame == NULL || length == 0 ? NULL : malloc(length);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, frame, length);
    free(state->reply->frame);
    state->reply->frame = copy;
    state->reply->length = length;
    return 1;
}

static epptok_status exchange(epptok_i_handle *handle, epptok_i_call *call, epptok_i_outgoing *frame,
                              epptok_i_frame_type type, epptok_i_reply *reply, epptok_i_reason *reason)
{
    (void)type;
    call->transport = EPPTOK_TRANSPORT_CALLBACK;
    epptok_i_frame_set_word(frame, EPPTOK_I_REQUEST_MS, epptok_i_wire_ms(call->deadline_ns));
    exchange_state state = {innermost, next_token(), handle, call, frame, reply};
    innermost = &state;
    int32_t answered = handle->callback(state.token);
    uint32_t abandoned = epptok_exchange_abandoned(state.token);
    innermost = state.outer;
    if (answered == 1 && reply->frame != NULL) {
        return EPPTOK_OK;
    }
    free(reply->frame);
    reply->frame = NULL;
    if (abandoned == EPPTOK_TIMEOUT) {
        return epptok_i_because(reason, EPPTOK_TIMEOUT, "the deadline passed while waiting for the answer");
    }
    return epptok_i_because(reason, EPPTOK_INTERNAL, "the callback of the runtime ended without an answer");
}

const epptok_i_transport epptok_i_transport_callback = {EPPTOK_TRANSPORT_CALLBACK, EPPTOK_INTERNAL, exchange};

epptok *epptok_host_attach(uint32_t host, epptok_serve_callback callback, uint32_t default_timeout_ms, char *message,
                           size_t message_capacity)
{
    epptok_i_reason reason = {{0}};
    epptok_transport forced = EPPTOK_TRANSPORT_AUTO;
    epptok *name = NULL;
    epptok_status status = EPPTOK_OK;
    if (!epptok_i_transport_forced(EPPTOK_TRANSPORT_AUTO, &forced, &reason)) {
        status = EPPTOK_INVALID_ARGUMENT;
    } else if (forced == EPPTOK_TRANSPORT_SOCKET) {
        status = epptok_i_because(&reason, EPPTOK_INVALID_ARGUMENT,
                                  "transport socket was forced, but the handle is of a runtime in this process");
    } else if (callback == NULL && (host == 0 || forced == EPPTOK_TRANSPORT_CALLBACK)) {
        status = epptok_i_because(&reason, EPPTOK_INVALID_ARGUMENT, "callback is NULL, and nothing else can serve");
    } else {
        epptok_i_handle *handle = epptok_i_handle_create(&name, &reason);
        if (handle != NULL) {
            handle->host = host;
            handle->callback = callback;
            handle->default_timeout_ms = default_timeout_ms == 0 ? 30000 : default_timeout_ms;
            handle->transport = forced;
            handle->owner_thread = epptok_i_thread_number();
        } else {
            status = EPPTOK_OUT_OF_MEMORY;
        }
    }
    epptok_i_hand_out_message(reason.text, message, message_capacity);
    return status == EPPTOK_OK ? name : NULL;
}
