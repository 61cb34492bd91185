/* In this process, from any thread: through the native host's queue. */
#include <stdlib.h>

#include "clock.h"
#include "transport.h"

static epptok_status exchange(epptok_i_handle *handle, epptok_i_call *call, epptok_i_outgoing *frame,
                              epptok_i_frame_type type, epptok_i_reply *reply, epptok_i_reason *reason)
{
    (void)type;
    call->transport = EPPTOK_TRANSPORT_DIRECT;
    uint8_t *request = malloc(frame->length);
    if (request == NULL) {
        return epptok_i_out_of_memory(reason);
    }
    epptok_i_frame_set_word(frame, EPPTOK_I_REQUEST_MS, epptok_i_wire_ms(call->deadline_ns));
    epptok_i_frame_write(frame, request);
    uint64_t ticket = 0;
    epptok_status status = epptok_i_host_submit(handle->host, request, frame->length, call->deadline_ns, &ticket,
                                                reason->text, sizeof reason->text);
    if (status == EPPTOK_OK) {
        pthread_mutex_lock(&handle->lock);
        call->ticket = ticket;
        epptok_status interrupted = call->interrupted;
        pthread_mutex_unlock(&handle->lock);
        /* Whoever interrupted it before the ticket was known could not tell the host. */
        if (interrupted != EPPTOK_OK) {
            epptok_i_host_cancel(handle->host, ticket, interrupted);
        }
        status = epptok_i_host_wait(handle->host, ticket, &reply->frame, &reply->length);
        if (status == EPPTOK_TIMEOUT) {
            (void)epptok_i_because(reason, status, "the deadline passed while waiting for the answer");
        } else if (status == EPPTOK_SHUTTING_DOWN) {
            (void)epptok_i_because(reason, status, "the runtime is being closed");
        } else if (status != EPPTOK_OK) {
            (void)epptok_i_because(reason, status, "%s", epptok_status_text(status));
        }
    }
    free(request);
    return status;
}

const epptok_i_transport epptok_i_transport_direct = {EPPTOK_TRANSPORT_DIRECT, EPPTOK_INTERNAL, exchange};
