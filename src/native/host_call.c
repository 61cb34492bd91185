/* Calls of sockets: how one begins, and how it ends without a service's reply. */
#include "host_connection.h"
#include "host_io.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void epptok_i_explain_limit(const epptok_i_host *host, uint64_t length, char *message, size_t capacity)
{
    if (message == NULL || capacity == 0) {
        return;
    }
    snprintf(message, capacity, "the request has %" PRIu64 " bytes, the limit is %" PRIu64, length,
             host->max_frame_bytes);
}

/*
 * host->lock is held. OK with job->connection: *job is in the queue, or in the hands of the service that leads. A job without a
 * frame, which lies in the landing, and that nobody takes from there is left as it is (OK): it needs a frame of its own.
 * Otherwise the answer.
 */
static epptok_status enter(epptok_i_connection *connection, const epptok_i_incoming *call, epptok_i_job *job,
                           epptok_i_waiter **service, char *message, size_t capacity)
{
    epptok_i_host *host = connection->host;
    if (host->ended) {
        snprintf(message, capacity, "the runtime is stopping");
        return EPPTOK_SHUTTING_DOWN;
    }
    if (call->type != EPPTOK_I_STATS && host->ready != EPPTOK_OK) {
        snprintf(message, capacity, "%s", host->ready_message);
        return host->ready;
    }
    if (call->type == EPPTOK_I_READY) {
        return EPPTOK_OK;
    }
    if (call->words[EPPTOK_I_REQUEST_MS] == 0) {
        host->counters.expired++;
        snprintf(message, capacity, "the deadline had passed when the call came in");
        return EPPTOK_TIMEOUT;
    }
    epptok_status status = epptok_i_admit(host, job->queue, job->length, message, capacity);
    if (status != EPPTOK_OK) {
        return status;
    }
    /* Not job->queued_ns, which is of before the lock: the deadline may have passed in between. */
    int64_t now = epptok_i_now_ns();
    if (job->frame == NULL && !epptok_i_service_takes(host, job, now)) {
        return EPPTOK_OK;
    }
    if (!(job->frame == NULL ? epptok_i_service_begin(host, job, now) : epptok_i_enqueue(host, job, service))) {
        snprintf(message, capacity, "memory ran out in the runtime");
        return EPPTOK_OUT_OF_MEMORY;
    }
    __atomic_add_fetch(&connection->references, 1u, __ATOMIC_RELAXED);
    job->connection = connection;
    connection->job = job;
    return EPPTOK_OK;
}

static uint8_t *copy_of(const uint8_t *frame, size_t length)
{
    uint8_t *copy = malloc(length);
    if (copy != NULL) {
        memcpy(copy, frame, length);
    }
    return copy;
}

/* As enter(); *placed: the job is another's now, and may be gone already. */
static epptok_status place(epptok_i_connection *connection, const epptok_i_incoming *call, epptok_i_job *job, bool *placed,
                           char *message, size_t capacity)
{
    epptok_i_host *host = connection->host;
    epptok_i_waiter *service = NULL;
    pthread_mutex_lock(&host->lock);
    epptok_status status = enter(connection, call, job, &service, message, capacity);
    *placed = job->connection != NULL;
    pthread_mutex_unlock(&host->lock);
    if (service != NULL) {
        pthread_cond_signal(&service->cond);
    }
    return status;
}

bool epptok_i_connection_call(epptok_i_connection *connection, uint8_t *frame, size_t length, int64_t arrived_ns,
                              bool in_landing)
{
    uint8_t *own = in_landing ? NULL : frame;
    epptok_i_host *host = connection->host;
    epptok_i_incoming call;
    char message[512] = "";
    if (epptok_i_frame_decode(frame, length, &call) != NULL) {
        free(own);
        pthread_mutex_lock(&host->lock);
        host->counters.bad_frames++;
        pthread_mutex_unlock(&host->lock);
        return false;
    }
    epptok_i_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        free(own);
        return epptok_i_connection_answer(connection, call.call_id, EPPTOK_OUT_OF_MEMORY,
                                          "memory ran out in the runtime") == 1;
    }
    job->frame = own;
    job->length = length;
    job->call_id = call.call_id;
    job->queue = call.type == EPPTOK_I_STATS ? EPPTOK_HOST_QUEUE_CONTROL : EPPTOK_HOST_QUEUE_CALLS;
    job->timer.owner = EPPTOK_I_TIMER_JOB;
    job->timer.deadline_ns = arrived_ns + (int64_t)call.words[EPPTOK_I_REQUEST_MS] * EPPTOK_I_NS_PER_MS;
    job->queued_ns = epptok_i_now_ns();
    bool placed;
    epptok_status status = place(connection, &call, job, &placed, message, sizeof message);
    if (!placed && status == EPPTOK_OK && call.type != EPPTOK_I_READY) {
        job->frame = copy_of(frame, length);
        if (job->frame != NULL) {
            status = place(connection, &call, job, &placed, message, sizeof message);
        } else {
            status = EPPTOK_OUT_OF_MEMORY;
            snprintf(message, sizeof message, "memory ran out in the runtime");
        }
    }
    if (placed) {
        return true;
    }
    epptok_i_job_destroy(job);
    return epptok_i_connection_answer(connection, call.call_id, status, message) == 1;
}

void epptok_i_job_end(epptok_i_host *host, uint64_t ticket, epptok_status status, const char *message)
{
    pthread_mutex_lock(&host->lock);
    epptok_i_job *job = epptok_i_find_ticket(host, ticket);
    if (job == NULL || job->state == EPPTOK_I_SETTLED) {
        pthread_mutex_unlock(&host->lock);
        return;
    }
    if (job->direct) {
        epptok_i_settle(host, job, status);
        epptok_i_waiter *waiter = job->waiter;
        pthread_mutex_unlock(&host->lock);
        pthread_cond_signal(&waiter->cond);
        return;
    }
    uint64_t call_id = job->call_id;
    epptok_i_connection *connection = epptok_i_retire(host, job, status);
    bool last = epptok_i_job_drop(job);
    pthread_mutex_unlock(&host->lock);
    if (last) {
        epptok_i_job_destroy(job);
    }
    (void)epptok_i_connection_answer(connection, call_id, status, message);
    epptok_i_connection_drop(connection);
}

static void expire_job(epptok_i_host *host, epptok_i_job *job, int64_t now)
{
    char message[160];
    int64_t ms = (now - job->queued_ns) / EPPTOK_I_NS_PER_MS;
    uint64_t ticket = job->ticket;
    snprintf(message, sizeof message, "the deadline passed after %" PRId64 " ms, %s", ms,
             job->state == EPPTOK_I_QUEUED ? "while the call waited for a worker" : "while a worker served the call");
    pthread_mutex_unlock(&host->lock);
    epptok_i_job_end(host, ticket, EPPTOK_TIMEOUT, message);
    pthread_mutex_lock(&host->lock);
}

#define OWNER_OF(timer, type) ((type *)(void *)((char *)(timer) - offsetof(type, timer)))

int64_t epptok_i_jobs_expire(epptok_i_host *host, bool *ended)
{
    pthread_mutex_lock(&host->lock);
    epptok_i_timer *timer;
    int64_t now = 0;
    while ((timer = epptok_i_timers_first(&host->timers)) != NULL) {
        if (now == 0) {
            now = epptok_i_now_ns();
        }
        if (timer->deadline_ns > now) {
            break;
        }
        if (timer->owner == EPPTOK_I_TIMER_JOB) {
            expire_job(host, OWNER_OF(timer, epptok_i_job), now);
        } else {
            pthread_mutex_unlock(&host->lock);
            epptok_i_connection_close(OWNER_OF(timer, epptok_i_connection));
            pthread_mutex_lock(&host->lock);
        }
    }
    int64_t nearest = timer == NULL ? EPPTOK_I_NEVER : timer->deadline_ns;
    *ended = host->ended;
    pthread_mutex_unlock(&host->lock);
    return nearest;
}
