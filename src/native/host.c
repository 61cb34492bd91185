/* The life of a host: start, ready, end, stop. */
#include "host.h"

#include "host_connection.h"
#include "host_io.h"
#include "host_state.h"
#include "reason.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_QUEUE_CALLS 1024u
#define DEFAULT_MAX_QUEUE_BYTES ((uint64_t)256 << 20)
#define DEFAULT_MAX_FRAME_BYTES ((uint64_t)64 << 20)
#define DEFAULT_HELLO_MS 10000u

static epptok_i_host *make(const epptok_host_options *options)
{
    epptok_i_host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&host->lock, NULL) != 0) {
        free(host);
        return NULL;
    }
    if (epptok_i_condition_init(&host->changed) != 0) {
        pthread_mutex_destroy(&host->lock);
        free(host);
        return NULL;
    }
    host->max_queue_calls = options->max_queue_calls != 0 ? options->max_queue_calls : DEFAULT_MAX_QUEUE_CALLS;
    host->max_queue_bytes = options->max_queue_bytes != 0 ? options->max_queue_bytes : DEFAULT_MAX_QUEUE_BYTES;
    host->max_frame_bytes = options->max_frame_bytes != 0 ? options->max_frame_bytes : DEFAULT_MAX_FRAME_BYTES;
    host->hello_ms = options->hello_ms != 0 ? options->hello_ms : DEFAULT_HELLO_MS;
    host->ready = EPPTOK_NOT_READY;
    snprintf(host->ready_message, sizeof host->ready_message, "the models are still loading");
    return host;
}

void epptok_i_host_destroy(epptok_i_host *host)
{
    /* Direct calls whose callers have not come to wait. */
    for (size_t i = 0; i < host->ticket_slots; i++) {
        while (host->tickets[i] != NULL) {
            epptok_i_job *job = host->tickets[i];
            host->tickets[i] = job->chain;
            if (job->waiter != NULL) {
                epptok_i_waiter_give(host, job->waiter);
            }
            epptok_i_job_destroy(job);
        }
    }
    free(host->tickets);
    while (host->free_waiters != NULL) {
        epptok_i_waiter *waiter = host->free_waiters;
        host->free_waiters = waiter->next;
        pthread_cond_destroy(&waiter->cond);
        free(waiter);
    }
    epptok_i_timers_free(&host->timers);
    epptok_i_io_free(host->io);
    pthread_cond_destroy(&host->changed);
    pthread_mutex_destroy(&host->lock);
    free(host);
}

uint32_t epptok_host_start(const epptok_host_options *given, char *message, size_t message_capacity)
{
    epptok_i_reason reason = {""};
    epptok_host_options options;
    memset(&options, 0, sizeof options);
    options.control_fd = -1;
    if (given == NULL || given->struct_size < offsetof(epptok_host_options, hello_ms)) {
        epptok_i_hand_out_message("options->struct_size is not that of epptok_host_options", message, message_capacity);
        return 0;
    }
    memcpy(&options, given, given->struct_size < sizeof options ? given->struct_size : sizeof options);
    epptok_i_hand_out_message("", message, message_capacity);
    epptok_i_host *host = make(&options);
    if (host == NULL) {
        epptok_i_out_of_memory(&reason);
    } else if (!epptok_i_host_enter(host)) {
        epptok_i_because(&reason, EPPTOK_INIT_FAILED, "too many hosts are running");
        epptok_i_host_destroy(host);
    } else {
        uint32_t number = host->number;
        bool io = options.socket_path != NULL || options.control_fd >= 0;
        if (!io || epptok_i_io_start(host, &options, &reason)) {
            return number;
        }
        epptok_i_host_leave(host);
    }
    epptok_i_hand_out_message(reason.text, message, message_capacity);
    return 0;
}

void epptok_host_set_ready(uint32_t number, uint32_t status, const char *message)
{
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    host->ready = (epptok_status)status;
    epptok_i_hand_out_message(message == NULL ? "" : message, host->ready_message, sizeof host->ready_message);
    pthread_mutex_unlock(&host->lock);
    epptok_i_host_release(host);
}

int32_t epptok_host_wanted(uint32_t number)
{
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return 0;
    }
    pthread_mutex_lock(&host->lock);
    const epptok_i_queue *queue = &host->queues[EPPTOK_HOST_QUEUE_CALLS];
    int32_t wanted = !queue->served && queue->head != NULL;
    pthread_mutex_unlock(&host->lock);
    epptok_i_host_release(host);
    return wanted;
}

int32_t epptok_host_counters_read(uint32_t number, epptok_host_counters *counters)
{
    if (counters == NULL) {
        return 0;
    }
    memset(counters, 0, sizeof *counters);
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return 0;
    }
    pthread_mutex_lock(&host->lock);
    *counters = host->counters;
    /* Not those of STATS, which whoever asks for these numbers by it would always find there. */
    const epptok_i_queue *calls = &host->queues[EPPTOK_HOST_QUEUE_CALLS];
    counters->queued_calls = calls->calls;
    counters->queued_bytes = calls->bytes;
    counters->running_calls = calls->running;
    pthread_mutex_unlock(&host->lock);
    epptok_i_host_release(host);
    return 1;
}

static void end_job(epptok_i_host *host, epptok_i_job *job)
{
    if (job->direct) {
        if (job->state == EPPTOK_I_SETTLED) {
            return;
        }
        epptok_i_settle(host, job, EPPTOK_SHUTTING_DOWN);
        pthread_cond_signal(&job->waiter->cond);
        return;
    }
    uint64_t call_id = job->call_id;
    epptok_i_connection *connection = epptok_i_retire(host, job, EPPTOK_SHUTTING_DOWN);
    if (epptok_i_job_drop(job)) {
        epptok_i_job_destroy(job);
    }
    (void)epptok_i_connection_answer(connection, call_id, EPPTOK_SHUTTING_DOWN, "the runtime is stopping");
    epptok_i_connection_drop(connection); /* never the last: the list has one while host->lock is held */
}

void epptok_i_host_end(epptok_i_host *host)
{
    if (host->ended) {
        return;
    }
    host->ended = true;
    for (size_t i = 0; i < host->ticket_slots; i++) {
        epptok_i_job *job = host->tickets[i];
        while (job != NULL) {
            epptok_i_job *chain = job->chain;
            end_job(host, job);
            job = chain;
        }
    }
    for (uint32_t i = 0; i < EPPTOK_I_QUEUES; i++) {
        while (host->queues[i].idle != NULL) {
            epptok_i_waiter *service = host->queues[i].idle;
            epptok_i_idle_remove(&host->queues[i], service);
            pthread_cond_signal(&service->cond);
        }
    }
}

void epptok_host_stop(uint32_t number)
{
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    bool first = !host->stopping;
    host->stopping = true;
    epptok_i_host_end(host);
    /* A direct caller gets its frame back when its wait() finds the host gone: nobody may be reading it then. */
    while (host->copying != 0 || (!first && !host->stopped)) {
        epptok_i_condition_wait(&host->changed, &host->lock, EPPTOK_I_NEVER);
    }
    pthread_mutex_unlock(&host->lock);
    if (first) {
        epptok_i_io_join(host);
        epptok_i_host_leave(host);
        pthread_mutex_lock(&host->lock);
        host->stopped = true;
        pthread_cond_broadcast(&host->changed);
        pthread_mutex_unlock(&host->lock);
    }
    epptok_i_host_release(host);
}
