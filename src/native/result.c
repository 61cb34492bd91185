#include "result.h"

#include <stdlib.h>
#include <string.h>

struct epptok_result {
    epptok_status status;
    epptok_transport transport;
    uint32_t round_trip_us;
    uint8_t *frame; /* NULL for a failure that no runtime worded */
    epptok_i_incoming response;
    size_t sequence_count;
    size_t *starts; /* index of the first id of each sequence, and their total: sequence_count + 1 */
    char *message;  /* NUL-terminated, as sections are not */
    char *model;
};

static const uint32_t NO_IDS[2] = {0, 0};

static char *terminated_copy(const void *data, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy != NULL) {
        if (length > 0) {
            memcpy(copy, data, length);
        }
        copy[length] = '\0';
    }
    return copy;
}

static void release(epptok_result *result)
{
    free(result->starts);
    free(result->message);
    free(result->model);
    free(result->frame);
    free(result);
}

/* NULL, or what is wrong: the counts have to add up to the ids. */
static const char *split_sequences(epptok_result *result, bool *no_memory)
{
    const epptok_i_bytes *counts = &result->response.sections[EPPTOK_I_COUNTS];
    size_t ids = result->response.sections[EPPTOK_I_IDS].length / sizeof(uint32_t);
    size_t sequences = counts->length / sizeof(uint32_t);
    result->starts = malloc((sequences + 1) * sizeof *result->starts);
    if (result->starts == NULL) {
        *no_memory = true;
        return NULL;
    }
    size_t total = 0;
    for (size_t i = 0; i < sequences; i++) {
        uint32_t count = ((const uint32_t *)counts->data)[i];
        result->starts[i] = total;
        if (count > ids - total) {
            return "its counts add up to more than its ids";
        }
        total += count;
    }
    result->starts[sequences] = total;
    if (total != ids) {
        return "its counts add up to less than its ids";
    }
    result->sequence_count = sequences;
    return NULL;
}

epptok_status epptok_i_result_of_reply(epptok_i_reply *reply, uint64_t call_id, epptok_status defect,
                                       epptok_result **out, epptok_i_reason *reason)
{
    epptok_result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return epptok_i_out_of_memory(reason);
    }
    bool no_memory = false;
    const char *fault = epptok_i_frame_decode(reply->frame, reply->length, &result->response);
    if (fault == NULL && result->response.type != EPPTOK_I_RESPONSE) {
        fault = "it is not a response";
    }
    if (fault == NULL && result->response.call_id != call_id) {
        fault = "it answers another call";
    }
    if (fault == NULL) {
        fault = split_sequences(result, &no_memory);
    }
    if (fault != NULL) {
        release(result);
        return epptok_i_because(reason, defect, "the runtime sent a frame that is refused: %s", fault);
    }
    const epptok_i_bytes *message = &result->response.sections[EPPTOK_I_MESSAGE];
    const epptok_i_bytes *model = &result->response.sections[EPPTOK_I_MODEL];
    result->status = (epptok_status)result->response.words[EPPTOK_I_RESPONSE_STATUS];
    if (!no_memory) {
        if (result->status != EPPTOK_OK && message->length == 0) {
            const char *text = epptok_status_text(result->status);
            result->message = terminated_copy(text, strlen(text));
        } else {
            result->message = terminated_copy(message->data, result->status == EPPTOK_OK ? 0 : message->length);
        }
        result->model = terminated_copy(model->data, model->length);
    }
    if (no_memory || result->message == NULL || result->model == NULL) {
        release(result);
        return epptok_i_out_of_memory(reason);
    }
    result->frame = reply->frame;
    reply->frame = NULL;
    *out = result;
    return result->status;
}

epptok_result *epptok_i_result_of_failure(epptok_status status, const epptok_i_reason *reason)
{
    epptok_result *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return NULL;
    }
    result->status = status;
    const char *text = reason->text[0] != '\0' ? reason->text : epptok_status_text(status);
    result->message = terminated_copy(text, strlen(text));
    if (result->message == NULL) {
        free(result);
        return NULL;
    }
    return result;
}

void epptok_i_result_set_trip(epptok_result *result, epptok_transport transport, int64_t elapsed_ns)
{
    int64_t us = elapsed_ns / 1000;
    result->transport = transport;
    result->round_trip_us = us > (int64_t)UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static uint32_t word(const epptok_result *result, size_t index)
{
    return result == NULL || result->frame == NULL ? 0 : result->response.words[index];
}

static const char *section(const epptok_result *result, epptok_i_tag tag, size_t *length)
{
    const epptok_i_bytes *bytes = result == NULL ? NULL : &result->response.sections[tag];
    if (length != NULL) {
        *length = bytes == NULL ? 0 : bytes->length;
    }
    return bytes == NULL ? NULL : (const char *)bytes->data;
}

epptok_status epptok_result_status(const epptok_result *result)
{
    return result == NULL ? EPPTOK_INTERNAL : result->status;
}

const char *epptok_result_message(const epptok_result *result) { return result == NULL ? "" : result->message; }

size_t epptok_result_sequence_count(const epptok_result *result)
{
    return result == NULL || result->status != EPPTOK_OK ? 0 : result->sequence_count;
}

const uint32_t *epptok_result_ids(const epptok_result *result, size_t sequence, size_t *count)
{
    if (sequence >= epptok_result_sequence_count(result)) {
        if (count != NULL) {
            *count = 0;
        }
        return NULL;
    }
    if (count != NULL) {
        *count = result->starts[sequence + 1] - result->starts[sequence];
    }
    const uint32_t *ids = result->response.sections[EPPTOK_I_IDS].data;
    return ids == NULL ? NO_IDS : ids + result->starts[sequence];
}

const char *epptok_result_prompt(const epptok_result *result, size_t *length)
{
    return section(result, EPPTOK_I_PROMPT, length);
}

const char *epptok_result_text(const epptok_result *result, size_t *length)
{
    return section(result, EPPTOK_I_TEXT, length);
}

const char *epptok_result_annotations(const epptok_result *result, size_t *length)
{
    return section(result, EPPTOK_I_ANNOTATIONS, length);
}

const char *epptok_result_warnings(const epptok_result *result, size_t *length)
{
    return section(result, EPPTOK_I_WARNINGS, length);
}

const char *epptok_result_model(const epptok_result *result)
{
    return result == NULL || result->model == NULL ? "" : result->model;
}

epptok_provenance epptok_result_provenance(const epptok_result *result)
{
    return (epptok_provenance)word(result, EPPTOK_I_RESPONSE_PROVENANCE);
}

epptok_transport epptok_result_transport(const epptok_result *result)
{
    return result == NULL ? EPPTOK_TRANSPORT_AUTO : result->transport;
}

const char *epptok_transport_name(epptok_transport transport)
{
    switch (transport) {
    case EPPTOK_TRANSPORT_CALLBACK:
        return "callback";
    case EPPTOK_TRANSPORT_DIRECT:
        return "direct";
    case EPPTOK_TRANSPORT_SOCKET:
        return "socket";
    default:
        return "none";
    }
}

uint32_t epptok_result_worker(const epptok_result *result) { return word(result, EPPTOK_I_RESPONSE_WORKER); }

epptok_timings epptok_result_timings(const epptok_result *result)
{
    epptok_timings timings;
    timings.queue_us = word(result, EPPTOK_I_RESPONSE_QUEUE_US);
    timings.parse_us = word(result, EPPTOK_I_RESPONSE_PARSE_US);
    timings.template_us = word(result, EPPTOK_I_RESPONSE_TEMPLATE_US);
    timings.encode_us = word(result, EPPTOK_I_RESPONSE_ENCODE_US);
    timings.total_us = word(result, EPPTOK_I_RESPONSE_TOTAL_US);
    timings.round_trip_us = result == NULL ? 0 : result->round_trip_us;
    return timings;
}

void epptok_result_free(epptok_result **result)
{
    if (result != NULL && *result != NULL) {
        release(*result);
        *result = NULL;
    }
}
