/* The queue and the table of tickets: pointer work under host->lock. */
#include "host_connection.h"
#include "host_lead.h"
#include "host_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* STATS of more than a few callers at once is nobody's need. */
#define MAX_CONTROL_CALLS 64u

epptok_status epptok_i_admit(epptok_i_host *host, uint32_t queue, size_t length, char *message, size_t capacity)
{
    const epptok_i_queue *q = &host->queues[queue];
    uint64_t limit = queue == EPPTOK_HOST_QUEUE_CONTROL ? MAX_CONTROL_CALLS : host->max_queue_calls;
    if (q->calls >= limit) {
        host->counters.refused_backpressure++;
        snprintf(message, capacity, "%" PRIu64 " calls are waiting, the limit is %" PRIu64, q->calls, limit);
        return EPPTOK_BACKPRESSURE;
    }
    if (length > host->max_queue_bytes || q->bytes > host->max_queue_bytes - length) {
        host->counters.refused_backpressure++;
        snprintf(message, capacity, "%" PRIu64 " bytes are waiting and this call has %zu, the limit is %" PRIu64,
                 q->bytes, length, host->max_queue_bytes);
        return EPPTOK_BACKPRESSURE;
    }
    return EPPTOK_OK;
}

static bool grow_tickets(epptok_i_host *host)
{
    size_t slots = host->ticket_slots == 0 ? 64 : host->ticket_slots * 2;
    epptok_i_job **tickets = calloc(slots, sizeof *tickets);
    if (tickets == NULL) {
        return false;
    }
    for (size_t i = 0; i < host->ticket_slots; i++) {
        epptok_i_job *job = host->tickets[i];
        while (job != NULL) {
            epptok_i_job *chain = job->chain;
            job->chain = tickets[job->ticket & (slots - 1)];
            tickets[job->ticket & (slots - 1)] = job;
            job = chain;
        }
    }
    free(host->tickets);
    host->tickets = tickets;
    host->ticket_slots = slots;
    return true;
}

bool epptok_i_enter_ticket(epptok_i_host *host, epptok_i_job *job)
{
    if (host->jobs >= host->ticket_slots && !grow_tickets(host)) {
        return false;
    }
    job->ticket = ++host->last_ticket;
    epptok_i_job **slot = &host->tickets[job->ticket & (host->ticket_slots - 1)];
    job->chain = *slot;
    *slot = job;
    job->references = 1;
    host->jobs++;
    return true;
}

epptok_i_job *epptok_i_find_ticket(epptok_i_host *host, uint64_t ticket)
{
    if (host->ticket_slots == 0) {
        return NULL;
    }
    epptok_i_job *job = host->tickets[ticket & (host->ticket_slots - 1)];
    while (job != NULL && job->ticket != ticket) {
        job = job->chain;
    }
    return job;
}

void epptok_i_forget_ticket(epptok_i_host *host, epptok_i_job *job)
{
    epptok_i_job **slot = &host->tickets[job->ticket & (host->ticket_slots - 1)];
    while (*slot != job) {
        slot = &(*slot)->chain;
    }
    *slot = job->chain;
    host->jobs--;
}

static bool enter(epptok_i_host *host, epptok_i_job *job)
{
    if (!epptok_i_enter_ticket(host, job)) {
        return false;
    }
    if (!job->direct && !epptok_i_timers_add(&host->timers, &job->timer)) {
        epptok_i_forget_ticket(host, job);
        return false;
    }
    host->counters.accepted++;
    return true;
}

bool epptok_i_enter_running(epptok_i_host *host, epptok_i_job *job)
{
    if (!enter(host, job)) {
        return false;
    }
    job->state = EPPTOK_I_RUNNING;
    host->queues[job->queue].running++;
    return true;
}

bool epptok_i_enqueue(epptok_i_host *host, epptok_i_job *job, epptok_i_waiter **service)
{
    epptok_i_queue *q = &host->queues[job->queue];
    *service = NULL;
    if (!enter(host, job)) {
        return false;
    }
    job->state = EPPTOK_I_QUEUED;
    job->next = NULL;
    job->previous = q->tail;
    if (q->tail == NULL) {
        q->head = job;
    } else {
        q->tail->next = job;
    }
    q->tail = job;
    __atomic_add_fetch(&q->calls, 1u, __ATOMIC_RELEASE);
    q->bytes += job->length;
    if (job->queue == EPPTOK_HOST_QUEUE_CALLS && !job->direct && epptok_i_lead_takes(host)) {
        return true;
    }
    *service = q->idle;
    if (*service != NULL) {
        epptok_i_idle_remove(q, *service);
    } else if (job->direct) {
        epptok_i_lead_interrupt(host);
    }
    return true;
}

static void unlink_queued(epptok_i_host *host, epptok_i_job *job)
{
    epptok_i_queue *q = &host->queues[job->queue];
    if (job->previous == NULL) {
        q->head = job->next;
    } else {
        job->previous->next = job->next;
    }
    if (job->next == NULL) {
        q->tail = job->previous;
    } else {
        job->next->previous = job->previous;
    }
    __atomic_sub_fetch(&q->calls, 1u, __ATOMIC_RELEASE);
    q->bytes -= job->length;
}

void epptok_i_dequeue(epptok_i_host *host, epptok_i_job *job)
{
    unlink_queued(host, job);
    job->state = EPPTOK_I_COPYING;
    job->copying = true;
    job->references++;
    host->queues[job->queue].running++;
    host->copying++;
}

void epptok_i_settle(epptok_i_host *host, epptok_i_job *job, epptok_status status)
{
    if (job->state == EPPTOK_I_SETTLED) {
        return;
    }
    if (job->state == EPPTOK_I_QUEUED) {
        unlink_queued(host, job);
    } else {
        host->queues[job->queue].running--;
    }
    if (status == EPPTOK_TIMEOUT) {
        host->counters.expired++;
    }
    epptok_i_timers_remove(&host->timers, &job->timer);
    job->state = EPPTOK_I_SETTLED;
    job->status = status;
    __atomic_store_n(&job->over, true, __ATOMIC_RELEASE);
}

epptok_i_connection *epptok_i_retire(epptok_i_host *host, epptok_i_job *job, epptok_status status)
{
    epptok_i_connection *connection = job->connection;
    epptok_i_settle(host, job, status);
    epptok_i_forget_ticket(host, job);
    connection->job = NULL;
    job->connection = NULL;
    return connection;
}

bool epptok_i_job_drop(epptok_i_job *job) { return --job->references == 0; }

void epptok_i_job_destroy(epptok_i_job *job)
{
    if (!job->direct) {
        free(job->frame); /* a direct call's frame is its caller's */
    }
    free(job->reply);
    free(job);
}

epptok_i_waiter *epptok_i_waiter_take(epptok_i_host *host)
{
    epptok_i_waiter *waiter = host->free_waiters;
    if (waiter != NULL) {
        host->free_waiters = waiter->next;
        return waiter;
    }
    waiter = calloc(1, sizeof *waiter);
    if (waiter != NULL && epptok_i_condition_init(&waiter->cond) != 0) {
        free(waiter);
        return NULL;
    }
    return waiter;
}

void epptok_i_waiter_give(epptok_i_host *host, epptok_i_waiter *waiter)
{
    waiter->next = host->free_waiters;
    host->free_waiters = waiter;
}

void epptok_i_idle_push(epptok_i_queue *queue, epptok_i_waiter *waiter)
{
    waiter->previous = NULL;
    waiter->next = queue->idle;
    if (queue->idle != NULL) {
        queue->idle->previous = waiter;
    }
    queue->idle = waiter;
    waiter->idle = true;
}

void epptok_i_idle_remove(epptok_i_queue *queue, epptok_i_waiter *waiter)
{
    if (!waiter->idle) {
        return;
    }
    if (waiter->previous == NULL) {
        queue->idle = waiter->next;
    } else {
        waiter->previous->next = waiter->next;
    }
    if (waiter->next != NULL) {
        waiter->next->previous = waiter->previous;
    }
    waiter->idle = false;
}
