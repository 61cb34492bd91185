/* The public functions: check, frame, carry, unframe. */
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "clock.h"
#include "peer.h"
#include "transport.h"

const char *epptok_version(void) { return EPPTOK_VERSION; }
uint32_t epptok_abi_version(void) { return EPPTOK_ABI_VERSION; }

/* ---- opening and closing ---- */

static epptok_status open_peer(const epptok_options *options, epptok **name, epptok_i_reason *reason)
{
    epptok_transport forced = EPPTOK_TRANSPORT_AUTO;
    if (!epptok_i_transport_forced(options->transport, &forced, reason)) {
        return EPPTOK_INVALID_ARGUMENT;
    }
    if (forced != EPPTOK_TRANSPORT_AUTO && forced != EPPTOK_TRANSPORT_SOCKET) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                "transport %s was forced, but a handle that is opened reaches another process: "
                                "callback and direct are for handles of a runtime in this one",
                                epptok_transport_name(forced));
    }
    epptok_status status = EPPTOK_OK;
    epptok_i_peer *peer = epptok_i_peer_create(options, &status, reason);
    if (peer == NULL) {
        return status;
    }
    epptok_i_handle *handle = epptok_i_handle_create(name, reason);
    if (handle == NULL) {
        epptok_i_peer_free(peer);
        return EPPTOK_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&handle->lock);
    handle->peer = peer;
    handle->default_timeout_ms = options->default_timeout_ms;
    handle->transport = forced;
    pthread_mutex_unlock(&handle->lock);
    epptok_i_call call;
    status = epptok_i_call_begin(*name, 0, options->open_timeout_ms, &call, &handle, reason);
    if (status == EPPTOK_OK) {
        status = epptok_i_socket_await_models(handle, &call, reason);
        handle->peer->opened = status == EPPTOK_OK;
        epptok_status interrupted = epptok_i_call_end(handle, &call, reason);
        status = interrupted != EPPTOK_OK ? interrupted : status;
    }
    return status;
}

epptok_status epptok_open(const epptok_options *given, epptok **handle, char *message, size_t message_capacity)
{
    epptok_options options;
    epptok_i_reason reason = {{0}};
    epptok *name = NULL;
    epptok_status status = epptok_i_read_options(given, &options, &reason);
    if (handle == NULL) {
        status = epptok_i_because(&reason, EPPTOK_INVALID_ARGUMENT, "handle is NULL");
    } else {
        *handle = NULL;
    }
    if (status == EPPTOK_OK) {
        status = open_peer(&options, &name, &reason);
        if (status == EPPTOK_OK) {
            *handle = name;
        } else if (name != NULL) {
            epptok_i_reason ignored;
            (void)epptok_i_handle_close(name, &ignored);
        }
    }
    if (status != EPPTOK_OK && reason.text[0] == '\0') {
        (void)epptok_i_because(&reason, status, "%s", epptok_status_text(status));
    }
    epptok_i_hand_out_message(status == EPPTOK_OK ? "" : reason.text, message, message_capacity);
    return status;
}

epptok_status epptok_close(epptok *handle)
{
    epptok_i_reason reason;
    return epptok_i_handle_close(handle, &reason);
}

/* ---- calls ---- */

static bool frame_request(epptok_i_outgoing *frame, epptok_i_frame_type type, const epptok_request *request)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    epptok_i_section sections[2];
    size_t count = 0;
    words[EPPTOK_I_REQUEST_FLAGS] = request->flags;
    if (request->model != NULL && (type == EPPTOK_I_TOKENIZE || type == EPPTOK_I_DETOKENIZE)) {
        sections[count].tag = EPPTOK_I_MODEL;
        sections[count].data = request->model;
        sections[count++].length = strlen(request->model);
    }
    if (type == EPPTOK_I_TOKENIZE) {
        words[EPPTOK_I_REQUEST_KIND] = request->kind;
        sections[count].tag = EPPTOK_I_BODY;
        sections[count].data = request->body;
        sections[count++].length = request->length;
    } else if (type == EPPTOK_I_DETOKENIZE) {
        sections[count].tag = EPPTOK_I_IDS;
        sections[count].data = request->ids;
        sections[count++].length = request->id_count * sizeof(uint32_t);
    }
    return epptok_i_frame_encode(frame, type, request->call_id, words, sections, count);
}

static epptok_status carry(epptok_i_handle *handle, epptok_i_call *call, epptok_i_frame_type type,
                           const epptok_request *request, epptok_result **result, epptok_i_reason *reason)
{
    epptok_i_outgoing frame;
    epptok_i_reply reply = {NULL, 0};
    const epptok_i_transport *transport = epptok_i_transport_choose(handle, type, reason);
    if (transport == NULL) {
        return EPPTOK_INVALID_ARGUMENT;
    }
    if (!frame_request(&frame, type, request)) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "request.length is %zu, more than memory holds",
                                request->length);
    }
    epptok_status status = transport->exchange(handle, call, &frame, type, &reply, reason);
    if (status == EPPTOK_OK) {
        status = epptok_i_result_of_reply(&reply, request->call_id, transport->defect, result, reason);
    }
    free(reply.frame);
    return status;
}

/* `status` is what the arguments came to; a handle that is none goes first. */
static epptok_status run(epptok *name, epptok_i_frame_type type, const epptok_request *request, epptok_status status,
                         epptok_result **result, epptok_i_reason *reason)
{
    epptok_i_call call;
    epptok_i_handle *handle = NULL;
    epptok_status begun = epptok_i_call_begin(name, request->call_id, request->timeout_ms, &call, &handle, reason);
    if (begun == EPPTOK_OK) {
        if (status == EPPTOK_OK) {
            status = carry(handle, &call, type, request, result, reason);
        }
        epptok_status interrupted = epptok_i_call_end(handle, &call, reason);
        if (interrupted != EPPTOK_OK) {
            epptok_result_free(result);
            status = interrupted;
        }
    } else {
        status = begun;
    }
    if (*result == NULL) {
        *result = epptok_i_result_of_failure(status, reason);
        if (*result == NULL) {
            return EPPTOK_OUT_OF_MEMORY;
        }
    }
    epptok_i_result_set_trip(*result, call.transport, epptok_i_now_ns() - call.started_ns);
    return status;
}

static epptok_status run_checked(epptok *handle, epptok_i_frame_type type, const epptok_request *given,
                                 epptok_status (*check)(const epptok_request *request, epptok_i_reason *reason),
                                 epptok_result **result)
{
    epptok_i_reason reason = {{0}};
    epptok_request request;
    if (result == NULL) {
        return EPPTOK_INVALID_ARGUMENT;
    }
    *result = NULL;
    epptok_status status = epptok_i_read_request(given, &request, &reason);
    if (status == EPPTOK_OK) {
        status = check(&request, &reason);
    }
    return run(handle, type, &request, status, result, &reason);
}

epptok_status epptok_tokenize(epptok *handle, const epptok_request *request, epptok_result **result)
{
    return run_checked(handle, EPPTOK_I_TOKENIZE, request, epptok_i_check_body, result);
}

epptok_status epptok_detokenize(epptok *handle, const epptok_request *request, epptok_result **result)
{
    return run_checked(handle, EPPTOK_I_DETOKENIZE, request, epptok_i_check_ids, result);
}

static epptok_status run_bare(epptok *handle, epptok_i_frame_type type, uint32_t timeout_ms, epptok_result **result)
{
    epptok_i_reason reason = {{0}};
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.timeout_ms = timeout_ms;
    *result = NULL;
    return run(handle, type, &request, EPPTOK_OK, result, &reason);
}

epptok_status epptok_stats(epptok *handle, uint32_t timeout_ms, epptok_result **result)
{
    return result == NULL ? EPPTOK_INVALID_ARGUMENT : run_bare(handle, EPPTOK_I_STATS, timeout_ms, result);
}

epptok_status epptok_ready(epptok *handle, uint32_t timeout_ms)
{
    epptok_result *result;
    epptok_status status = run_bare(handle, EPPTOK_I_READY, timeout_ms, &result);
    epptok_result_free(&result);
    return status;
}

static epptok_status copy_ids(const epptok_result *result, uint32_t *ids, size_t capacity, size_t *needed)
{
    size_t sequences = epptok_result_sequence_count(result);
    *needed = 0;
    for (size_t i = 0; i < sequences; i++) {
        size_t count;
        (void)epptok_result_ids(result, i, &count);
        *needed += count;
    }
    if (*needed > capacity) {
        return EPPTOK_BUFFER_TOO_SMALL;
    }
    /* The sequences lie one after the other. */
    if (*needed > 0) {
        memcpy(ids, epptok_result_ids(result, 0, NULL), *needed * sizeof *ids);
    }
    return EPPTOK_OK;
}

epptok_status epptok_tokenize_into(epptok *handle, const epptok_request *request, uint32_t *ids, size_t capacity,
                                   size_t *count, char *message, size_t message_capacity)
{
    if (count == NULL || (ids == NULL && capacity > 0)) {
        epptok_i_hand_out_message(count == NULL ? "count is NULL" : "ids is NULL, but capacity is not 0", message,
                                  message_capacity);
        return EPPTOK_INVALID_ARGUMENT;
    }
    *count = 0;
    epptok_result *result = NULL;
    epptok_status status = epptok_tokenize(handle, request, &result);
    epptok_i_reason reason = {{0}};
    if (status == EPPTOK_OK) {
        status = copy_ids(result, ids, capacity, count);
        if (status != EPPTOK_OK) {
            (void)epptok_i_because(&reason, status, "there are %zu ids, the buffer holds %zu", *count, capacity);
        }
    }
    const char *text = reason.text[0] != '\0' ? reason.text : epptok_result_message(result);
    epptok_i_hand_out_message(status != EPPTOK_OK && text[0] == '\0' ? epptok_status_text(status) : text, message,
                              message_capacity);
    epptok_result_free(&result);
    return status;
}

epptok_status epptok_cancel(epptok *handle, uint64_t call_id)
{
    epptok_i_reason reason;
    epptok_i_call visit; /* keeps the handle from being freed meanwhile */
    epptok_i_handle *found = NULL;
    epptok_status status = epptok_i_call_begin(handle, 0, 0, &visit, &found, &reason);
    if (status != EPPTOK_OK) {
        return status;
    }
    size_t interrupted = call_id == 0 ? 0 : epptok_i_calls_interrupt(found, call_id, EPPTOK_CANCELLED, &visit);
    (void)epptok_i_call_end(found, &visit, &reason);
    return interrupted > 0 ? EPPTOK_OK : EPPTOK_INVALID_ARGUMENT;
}
