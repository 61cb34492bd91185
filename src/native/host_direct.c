/* Calls from this process: submit, wait, cancel. The caller's own thread keeps its deadline. */
#include "host_connection.h"
#include "host_answer.h"
#include "host_state.h"
#include "reason.h"
#include "spin.h"

#include <stdlib.h>
#include <string.h>

static epptok_status enter(epptok_i_host *host, epptok_i_job *job, unsigned type, epptok_i_waiter **service,
                           char *message, size_t capacity)
{
    *service = NULL;
    if (host->ended) {
        epptok_i_hand_out_message("the host is stopping", message, capacity);
        return EPPTOK_SHUTTING_DOWN;
    }
    if (type != EPPTOK_I_STATS && host->ready != EPPTOK_OK) {
        epptok_i_hand_out_message(host->ready_message, message, capacity);
        return host->ready;
    }
    if (type == EPPTOK_I_READY) {
        epptok_i_answer answer;
        epptok_i_answer_call(&answer, job->call_id, EPPTOK_OK, "");
        job->state = EPPTOK_I_SETTLED;
        job->status = EPPTOK_OK;
        job->reply = malloc(answer.length);
        job->reply_length = answer.length;
        if (job->reply != NULL && epptok_i_enter_ticket(host, job)) {
            memcpy(job->reply, answer.bytes, answer.length);
            return EPPTOK_OK;
        }
        epptok_i_hand_out_message("memory ran out in the host", message, capacity);
        return EPPTOK_OUT_OF_MEMORY;
    }
    epptok_status status = epptok_i_admit(host, job->queue, job->length, message, capacity);
    if (status != EPPTOK_OK) {
        return status;
    }
    job->waiter = epptok_i_waiter_take(host);
    if (job->waiter != NULL && epptok_i_enqueue(host, job, service)) {
        return EPPTOK_OK;
    }
    if (job->waiter != NULL) {
        epptok_i_waiter_give(host, job->waiter);
    }
    epptok_i_hand_out_message("memory ran out in the host", message, capacity);
    return EPPTOK_OUT_OF_MEMORY;
}

epptok_status epptok_i_host_submit(uint32_t number, const uint8_t *frame, size_t length, int64_t deadline_ns,
                                   uint64_t *ticket, char *message, size_t capacity)
{
    uint64_t announced;
    if (length < EPPTOK_I_HEADER_BYTES || epptok_i_frame_announced(frame, UINT64_MAX, &announced) != NULL ||
        announced != length || !epptok_i_is_call(frame)) {
        epptok_i_hand_out_message("not a request frame", message, capacity);
        return EPPTOK_INTERNAL;
    }
    unsigned type = epptok_i_frame_type_of(frame);
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        epptok_i_hand_out_message("the runtime is gone", message, capacity);
        return EPPTOK_UNAVAILABLE;
    }
    epptok_status status = EPPTOK_OUT_OF_MEMORY;
    epptok_i_job *job = NULL;
    if (length > host->max_frame_bytes) {
        status = EPPTOK_INVALID_REQUEST;
        epptok_i_explain_limit(host, length, message, capacity);
    } else if ((job = calloc(1, sizeof *job)) == NULL) {
        epptok_i_hand_out_message("memory ran out in the host", message, capacity);
    } else {
        job->direct = true;
        job->frame = (uint8_t *)frame; /* read only */
        job->length = length;
        job->call_id = epptok_i_frame_call_id(frame);
        job->queue = type == EPPTOK_I_STATS ? EPPTOK_HOST_QUEUE_CONTROL : EPPTOK_HOST_QUEUE_CALLS;
        job->timer.owner = EPPTOK_I_TIMER_JOB;
        job->timer.deadline_ns = deadline_ns;
        job->queued_ns = epptok_i_now_ns();
        epptok_i_waiter *service;
        pthread_mutex_lock(&host->lock);
        status = enter(host, job, type, &service, message, capacity);
        if (status == EPPTOK_OK) {
            *ticket = job->ticket;
        }
        pthread_mutex_unlock(&host->lock);
        if (service != NULL) {
            pthread_cond_signal(&service->cond);
        }
        if (status != EPPTOK_OK) {
            epptok_i_job_destroy(job);
        }
    }
    epptok_i_host_release(host);
    return status;
}

/* Called with the lock; returns with the lock. The job is not destroyed meanwhile: only its caller takes it out of the table. */
static void spin(epptok_i_host *host, epptok_i_job *job)
{
    static __thread epptok_i_spin learnt;
    int64_t until;
    if (!epptok_i_spin_begin(&learnt, &host->caller_spins, &until)) {
        return;
    }
    if (until > job->timer.deadline_ns) {
        until = job->timer.deadline_ns;
    }
    pthread_mutex_unlock(&host->lock);
    bool over;
    while (!(over = __atomic_load_n(&job->over, __ATOMIC_ACQUIRE)) && epptok_i_now_ns() < until) {
        epptok_i_spin_pause();
    }
    epptok_i_spin_end(&learnt, &host->caller_spins, over);
    pthread_mutex_lock(&host->lock);
}

epptok_status epptok_i_host_wait(uint32_t number, uint64_t ticket, uint8_t **reply, size_t *length)
{
    *reply = NULL;
    *length = 0;
    epptok_i_host *host = epptok_i_host_acquire(number);
    /* stop() has waited for services that were reading frames, so the caller may have its frame back. */
    if (host == NULL) {
        return EPPTOK_SHUTTING_DOWN;
    }
    pthread_mutex_lock(&host->lock);
    epptok_i_job *job = epptok_i_find_ticket(host, ticket);
    if (job == NULL || !job->direct) {
        pthread_mutex_unlock(&host->lock);
        epptok_i_host_release(host);
        return EPPTOK_INTERNAL;
    }
    if (job->state != EPPTOK_I_SETTLED) {
        spin(host, job);
    }
    while (job->state != EPPTOK_I_SETTLED) {
        if (epptok_i_now_ns() >= job->timer.deadline_ns) {
            epptok_i_settle(host, job, EPPTOK_TIMEOUT);
        } else {
            epptok_i_condition_wait(&job->waiter->cond, &host->lock, job->timer.deadline_ns);
        }
    }
    while (job->copying) {
        epptok_i_condition_wait(&job->waiter->cond, &host->lock, EPPTOK_I_NEVER);
    }
    epptok_status status = job->status;
    *reply = job->reply;
    *length = job->reply_length;
    job->reply = NULL;
    epptok_i_forget_ticket(host, job);
    if (job->waiter != NULL) {
        epptok_i_waiter_give(host, job->waiter);
    }
    bool last = epptok_i_job_drop(job);
    pthread_mutex_unlock(&host->lock);
    if (last) {
        epptok_i_job_destroy(job);
    }
    epptok_i_host_release(host);
    return status;
}

void epptok_i_host_cancel(uint32_t number, uint64_t ticket, epptok_status status)
{
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    epptok_i_job *job = epptok_i_find_ticket(host, ticket);
    epptok_i_waiter *waiter = NULL;
    if (job != NULL && job->direct && job->state != EPPTOK_I_SETTLED) {
        epptok_i_settle(host, job, status);
        waiter = job->waiter;
    }
    pthread_mutex_unlock(&host->lock);
    if (waiter != NULL) {
        pthread_cond_signal(&waiter->cond);
    }
    epptok_i_host_release(host);
}
