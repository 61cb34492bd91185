/* The services' side: next() and reply(). */
#include "host_connection.h"
#include "host_io.h"
#include "host_state.h"
#include "spin.h"

#include <stdlib.h>
#include <string.h>

/* A prompt of that size takes a worker tens of milliseconds and more. */
#define LARGE_BYTES (256u * 1024u)

/*
 * What a thread serves. A service thread that dies (a JavaScript heap that is exhausted ends its worker without a word)
 * never replies; the destructor of a thread key runs even then, and ends the call.
 */
static __thread struct {
    uint32_t host; /* where the thread counts as a service; 0: nowhere */
    uint32_t queue;
    uint64_t ticket; /* the call that it serves; 0: none */
    bool large;      /* it is large, or was and next() was not called since */
} serving;
static pthread_key_t thread_end;
static bool thread_end_made;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void leave_service(bool died)
{
    epptok_i_host *host = serving.host == 0 ? NULL : epptok_i_host_acquire(serving.host);
    serving.host = 0;
    if (host == NULL) {
        return;
    }
    epptok_i_queue *queue = &host->queues[serving.queue];
    pthread_mutex_lock(&host->lock);
    queue->services--;
    if (serving.large) {
        queue->large--;
    }
    epptok_i_waiter *other = queue->head == NULL ? NULL : queue->idle;
    if (other != NULL) {
        epptok_i_idle_remove(queue, other);
    } else if (queue->head != NULL) {
        epptok_i_lead_interrupt(host);
    }
    pthread_mutex_unlock(&host->lock);
    if (other != NULL) {
        pthread_cond_signal(&other->cond);
    }
    if (died && serving.ticket != 0) {
        epptok_i_job_end(host, serving.ticket, EPPTOK_UNAVAILABLE, "the thread that served the call has died");
    }
    epptok_i_host_release(host);
}

static void end_of_thread(void *unused)
{
    (void)unused;
    leave_service(true);
}

static void make_thread_end(void) { thread_end_made = pthread_key_create(&thread_end, end_of_thread) == 0; }

#if defined(__GNUC__)
/* dlclose() would leave a key whose destructor is no longer mapped. */
__attribute__((destructor)) static void delete_thread_end(void)
{
    if (thread_end_made) {
        pthread_key_delete(thread_end);
    }
}
#endif

/* The thread calls next(): it counts as a service of that queue, and is done with what it served. host->lock is not held. */
static void enter_service(epptok_i_host *host, uint32_t queue)
{
    if (serving.host == host->number && serving.queue == queue) {
        return;
    }
    leave_service(false);
    pthread_once(&thread_end_once, make_thread_end);
    if (!thread_end_made || pthread_setspecific(thread_end, &serving) != 0) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    host->queues[queue].services++;
    pthread_mutex_unlock(&host->lock);
    serving.host = host->number;
    serving.queue = queue;
    serving.ticket = 0;
    serving.large = false;
}

/*
 * First in, first out, but large calls never hold all services: one stays free for the others, if there are two.
 * Calls whose deadline has passed are left to the leader or their caller, who are about to end them.
 */
static epptok_i_job *first_live(const epptok_i_queue *queue, int64_t now)
{
    bool large_too = queue->large == 0 || queue->large + 1 < queue->services;
    epptok_i_job *job = queue->head;
    while (job != NULL && (job->timer.deadline_ns <= now || (!large_too && job->length > LARGE_BYTES))) {
        job = job->next;
    }
    return job;
}

/* Called with the lock; returns with the lock. false: the call ended while its frame was copied. */
static bool copy_frame(epptok_i_host *host, epptok_i_job *job, uint8_t *buffer, epptok_i_waiter *next_leader)
{
    epptok_i_dequeue(host, job);
    pthread_mutex_unlock(&host->lock);
    if (next_leader != NULL) {
        pthread_cond_signal(&next_leader->cond);
    }
    memcpy(buffer, job->frame, job->length);
    uint8_t *read = NULL;
    pthread_mutex_lock(&host->lock);
    job->copying = false;
    if (!job->direct) {
        read = job->frame;
        job->frame = NULL;
    }
    bool wanted = job->state == EPPTOK_I_COPYING;
    if (wanted) {
        job->state = EPPTOK_I_RUNNING;
    }
    bool last = epptok_i_job_drop(job);
    /* Whoever settled the call meanwhile may be waiting to take the frame back. */
    if (!wanted && !last && job->direct) {
        pthread_cond_signal(&job->waiter->cond);
    }
    if (--host->copying == 0 && host->ended) {
        pthread_cond_broadcast(&host->changed);
    }
    if (read != NULL || last) {
        pthread_mutex_unlock(&host->lock);
        free(read);
        if (last) {
            epptok_i_job_destroy(job);
        }
        pthread_mutex_lock(&host->lock);
    }
    return wanted;
}

/* Looks for a call for a moment, if that has paid of late. Called with the lock; returns with the lock. */
static void spin(epptok_i_host *host, epptok_i_queue *queue, bool leads)
{
    static __thread epptok_i_spin learnt;
    int64_t until;
    if (!epptok_i_spin_begin(&learnt, &queue->spinning, &until)) {
        return;
    }
    pthread_mutex_unlock(&host->lock);
    bool found;
    for (;;) {
        if (leads) {
            epptok_i_io_turn(host, 0);
        }
        found = __atomic_load_n(&queue->calls, __ATOMIC_ACQUIRE) != 0;
        if (found || epptok_i_now_ns() >= until) {
            break;
        }
        epptok_i_spin_pause();
    }
    epptok_i_spin_end(&learnt, &queue->spinning, found);
    pthread_mutex_lock(&host->lock);
}

/* What this thread serves from now on. The lock is held. */
static void count_large(epptok_i_queue *queue, bool large)
{
    queue->large += (uint32_t)large;
    queue->large -= (uint32_t)serving.large;
    serving.large = large;
}

/* Called with the lock and returns with it; *next_leader is to be signalled without it. */
static int32_t take(epptok_i_host *host, uint32_t queue, uint8_t *buffer, size_t capacity, epptok_host_job *out,
                    int64_t until, epptok_i_waiter **next_leader)
{
    epptok_i_queue *q = &host->queues[queue];
    bool leads = false, spun = false;
    q->served = true;
    count_large(q, false);
    epptok_i_waiter *waiter = NULL;
    int32_t found = EPPTOK_HOST_IDLE;
    for (;;) {
        if (host->ended) {
            found = EPPTOK_HOST_STOPPED;
            break;
        }
        int64_t now = epptok_i_now_ns();
        epptok_i_job *job = first_live(q, now);
        if (job != NULL) {
            out->ticket = job->ticket;
            out->length = job->length;
            out->deadline_ms = (uint64_t)((job->timer.deadline_ns - now + EPPTOK_I_NS_PER_MS - 1) / EPPTOK_I_NS_PER_MS);
            out->queue_us = (uint64_t)((now - job->queued_ns) / 1000);
            found = job->length > capacity || buffer == NULL ? EPPTOK_HOST_GROW : EPPTOK_HOST_JOB;
            if (found == EPPTOK_HOST_GROW) {
                break;
            }
            epptok_i_waiter *next_leader = leads ? epptok_i_lead_leave(host, true) : NULL;
            leads = false;
            /* Before its frame is copied, which takes milliseconds without the lock: another service may look meanwhile. */
            count_large(q, serving.host == host->number && job->length > LARGE_BYTES);
            if (copy_frame(host, job, buffer, next_leader)) {
                if (serving.host == host->number) {
                    serving.ticket = out->ticket;
                }
                break;
            }
            count_large(q, false);
            found = EPPTOK_HOST_IDLE;
            continue;
        }
        if (now >= until) {
            break;
        }
        if (queue == EPPTOK_HOST_QUEUE_CALLS && epptok_i_lead_take(host, leads)) {
            leads = true;
            if (!spun) {
                spun = true;
                spin(host, q, leads);
                continue;
            }
            pthread_mutex_unlock(&host->lock);
            epptok_i_io_turn(host, until);
            pthread_mutex_lock(&host->lock);
            continue;
        }
        if (!spun && queue == EPPTOK_HOST_QUEUE_CALLS) {
            spun = true;
            spin(host, q, leads);
            continue;
        }
        if (waiter == NULL && (waiter = epptok_i_waiter_take(host)) == NULL) {
            break;
        }
        if (!waiter->idle) {
            epptok_i_idle_push(q, waiter);
        }
        epptok_i_condition_wait(&waiter->cond, &host->lock, until);
    }
    if (leads) {
        *next_leader = epptok_i_lead_leave(host, found == EPPTOK_HOST_GROW);
    }
    if (waiter != NULL) {
        epptok_i_idle_remove(q, waiter);
        epptok_i_waiter_give(host, waiter);
    }
    return found;
}

int32_t epptok_host_next(uint32_t number, uint32_t queue, uint8_t *buffer, size_t capacity, epptok_host_job *job,
                         uint32_t wait_ms)
{
    if (job == NULL || queue >= EPPTOK_I_QUEUES) {
        return EPPTOK_HOST_STOPPED;
    }
    memset(job, 0, sizeof *job);
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return EPPTOK_HOST_STOPPED;
    }
    int64_t until = epptok_i_now_ns() + (int64_t)wait_ms * EPPTOK_I_NS_PER_MS;
    enter_service(host, queue);
    pthread_mutex_lock(&host->lock);
    epptok_i_waiter *next_leader = NULL;
    int32_t found = take(host, queue, buffer, capacity, job, until, &next_leader);
    pthread_mutex_unlock(&host->lock);
    if (next_leader != NULL) {
        pthread_cond_signal(&next_leader->cond);
    }
    epptok_i_host_release(host);
    return found;
}

/* The lock is held and given up; the job is RUNNING. */
static int32_t reply_direct(epptok_i_host *host, epptok_i_job *job, const uint8_t *frame, size_t length)
{
    job->state = EPPTOK_I_REPLYING;
    job->references++;
    pthread_mutex_unlock(&host->lock);
    uint8_t *copy = malloc(length == 0 ? 1 : length);
    if (copy != NULL && length != 0) {
        memcpy(copy, frame, length);
    }
    pthread_mutex_lock(&host->lock);
    bool wanted = job->state == EPPTOK_I_REPLYING;
    if (wanted) {
        job->reply = copy;
        job->reply_length = length;
        epptok_i_settle(host, job, copy == NULL ? EPPTOK_OUT_OF_MEMORY : EPPTOK_OK);
    }
    epptok_i_waiter *waiter = wanted ? job->waiter : NULL;
    bool last = epptok_i_job_drop(job);
    pthread_mutex_unlock(&host->lock);
    if (waiter != NULL) {
        pthread_cond_signal(&waiter->cond);
    } else {
        free(copy);
    }
    if (last) {
        epptok_i_job_destroy(job);
    }
    return wanted && copy != NULL;
}

int32_t epptok_host_reply(uint32_t number, uint64_t ticket, const uint8_t *frame, size_t length)
{
    if (frame == NULL) {
        return 0;
    }
    if (serving.ticket == ticket && serving.host == number) {
        serving.ticket = 0;
    }
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return 0;
    }
    int32_t delivered = 0;
    pthread_mutex_lock(&host->lock);
    epptok_i_job *job = epptok_i_find_ticket(host, ticket);
    if (job == NULL || job->state != EPPTOK_I_RUNNING) {
        pthread_mutex_unlock(&host->lock);
    } else if (job->direct) {
        delivered = reply_direct(host, job, frame, length);
    } else {
        int64_t deadline = job->timer.deadline_ns;
        /* The call is over before its reply is written: the peer may read it and send its next call while we are still here. */
        epptok_i_connection *connection = epptok_i_retire(host, job, EPPTOK_OK);
        bool last = epptok_i_job_drop(job);
        pthread_mutex_unlock(&host->lock);
        delivered = epptok_i_connection_send(connection, frame, length, deadline);
        epptok_i_connection_drop(connection);
        if (last) {
            epptok_i_job_destroy(job);
        }
    }
    epptok_i_host_release(host);
    return delivered;
}
