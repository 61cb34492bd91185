/* Calls in flight: how they end, sleep, and are woken. They begin in handle.c, under the table's lock. */
#include <sys/socket.h>

#include "clock.h"
#include "handle.h"

epptok_status epptok_i_call_end(epptok_i_handle *handle, epptok_i_call *call, epptok_i_reason *reason)
{
    pthread_mutex_lock(&handle->lock);
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        handle->calls = call->next;
    }
    bool last_out = handle->orphaned && handle->calls == NULL;
    if (handle->closing) {
        pthread_cond_broadcast(&handle->changed);
    }
    pthread_mutex_unlock(&handle->lock);
    if (last_out) {
        epptok_i_handle_free(handle);
    }
    if (call->interrupted == EPPTOK_CANCELLED) {
        return epptok_i_because(reason, EPPTOK_CANCELLED, "the call was cancelled by epptok_cancel()");
    }
    if (call->interrupted == EPPTOK_SHUTTING_DOWN) {
        return epptok_i_because(reason, EPPTOK_SHUTTING_DOWN, "the handle was closed while the call was in flight");
    }
    return EPPTOK_OK;
}

bool epptok_i_call_wanted(epptok_i_handle *handle, epptok_i_call *call)
{
    pthread_mutex_lock(&handle->lock);
    bool wanted = call->interrupted == EPPTOK_OK;
    pthread_mutex_unlock(&handle->lock);
    return wanted;
}

bool epptok_i_call_sleep(epptok_i_handle *handle, epptok_i_call *call, int64_t until_ns)
{
    pthread_mutex_lock(&handle->lock);
    while (call->interrupted == EPPTOK_OK && epptok_i_now_ns() < until_ns) {
        epptok_i_condition_wait(&handle->changed, &handle->lock, until_ns);
    }
    bool wanted = call->interrupted == EPPTOK_OK;
    pthread_mutex_unlock(&handle->lock);
    return wanted;
}

/* Under the handle's lock. */
static epptok_i_call *next_ticket(epptok_i_handle *handle)
{
    for (epptok_i_call *call = handle->calls; call != NULL; call = call->next) {
        if (call->interrupted != EPPTOK_OK && call->ticket != 0 && !call->ticket_cancelled) {
            return call;
        }
    }
    return NULL;
}

size_t epptok_i_calls_interrupt(epptok_i_handle *handle, uint64_t call_id, epptok_status status,
                                const epptok_i_call *except)
{
    size_t interrupted = 0;
    pthread_mutex_lock(&handle->lock);
    for (epptok_i_call *call = handle->calls; call != NULL; call = call->next) {
        if (call == except || (call_id != 0 && call->call_id != call_id)) {
            continue;
        }
        interrupted++;
        if (call->interrupted == EPPTOK_OK) {
            call->interrupted = status;
            /* Wakes its poll() at once, and closing the connection is what cancels a call on the other side. */
            if (call->descriptor != EPPTOK_I_NO_DESCRIPTOR) {
                (void)shutdown(call->descriptor, SHUT_RDWR);
            }
        }
    }
    pthread_cond_broadcast(&handle->changed);
    /* The host is told without the lock. A ticket may be gone by then; tickets are not reused. */
    for (epptok_i_call *call = next_ticket(handle); call != NULL; call = next_ticket(handle)) {
        call->ticket_cancelled = true;
        uint64_t ticket = call->ticket;
        epptok_status why = call->interrupted;
        uint32_t host = handle->host;
        pthread_mutex_unlock(&handle->lock);
        epptok_i_host_cancel(host, ticket, why);
        pthread_mutex_lock(&handle->lock);
    }
    pthread_mutex_unlock(&handle->lock);
    return interrupted;
}
