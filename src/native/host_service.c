/* The services' side: who counts as one, and next(). */
#include "host_connection.h"
#include "host_io.h"
#include "host_state.h"
#include "spin.h"

#include <stdlib.h>
#include <string.h>

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

void epptok_i_service_replied(const epptok_i_host *host, uint64_t ticket)
{
    if (serving.ticket == ticket && serving.host == host->number) {
        serving.ticket = 0;
    }
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

static bool is_large(const epptok_i_job *job) { return job->length > EPPTOK_I_LARGE_BYTES; }

static bool takes_large(const epptok_i_queue *queue)
{
    return queue->large == 0 || queue->large + 1 < queue->services;
}

/*
 * First in, first out, but large calls never hold all services: one stays free for the others, if there are two.
 * Calls whose deadline has passed are left to the leader or their caller, who are about to end them.
 */
static epptok_i_job *first_live(const epptok_i_queue *queue, int64_t now)
{
    bool large_too = takes_large(queue);
    epptok_i_job *job = queue->head;
    while (job != NULL && (job->timer.deadline_ns <= now || (!large_too && is_large(job)))) {
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
        found = __atomic_load_n(&queue->calls, __ATOMIC_ACQUIRE) != 0 || (leads && host->io->landing.landed.ticket != 0);
        if (found || epptok_i_now_ns() >= until) {
            break;
        }
        epptok_i_spin_pause();
    }
    epptok_i_spin_end(&learnt, &queue->spinning, found);
    pthread_mutex_lock(&host->lock);
}

static void describe(const epptok_i_job *job, int64_t now, epptok_host_job *out)
{
    out->ticket = job->ticket;
    out->length = job->length;
    out->deadline_ms = (uint64_t)((job->timer.deadline_ns - now + EPPTOK_I_NS_PER_MS - 1) / EPPTOK_I_NS_PER_MS);
    out->queue_us = (uint64_t)((now - job->queued_ns) / 1000);
}

/* What this thread serves from now on. The lock is held. */
static void count_large(epptok_i_queue *queue, bool large)
{
    queue->large += (uint32_t)large;
    queue->large -= (uint32_t)serving.large;
    serving.large = large;
}

bool epptok_i_service_takes(const epptok_i_host *host, const epptok_i_job *job, int64_t now)
{
    const epptok_i_queue *queue = &host->queues[EPPTOK_HOST_QUEUE_CALLS];
    return job->queue == EPPTOK_HOST_QUEUE_CALLS && queue->head == NULL && (!is_large(job) || takes_large(queue)) &&
           host->io->landing.lent && job->timer.deadline_ns > now;
}

bool epptok_i_service_begin(epptok_i_host *host, epptok_i_job *job, int64_t now)
{
    if (!epptok_i_enter_running(host, job)) {
        return false;
    }
    epptok_host_job call;
    describe(job, now, &call);
    epptok_i_lead_lands(host, &call);
    count_large(&host->queues[EPPTOK_HOST_QUEUE_CALLS], serving.host == host->number && is_large(job));
    return true;
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
        if (leads && host->io->landing.landed.ticket != 0) {
            *out = host->io->landing.landed;
            found = EPPTOK_HOST_JOB;
            if (serving.host == host->number) {
                serving.ticket = out->ticket;
            }
            *next_leader = epptok_i_lead_leave(host, true);
            leads = false;
            break;
        }
        int64_t now = epptok_i_now_ns();
        epptok_i_job *job = first_live(q, now);
        if (job != NULL) {
            describe(job, now, out);
            found = job->length > capacity || buffer == NULL ? EPPTOK_HOST_GROW : EPPTOK_HOST_JOB;
            if (found == EPPTOK_HOST_GROW) {
                break;
            }
            epptok_i_waiter *then_leads = NULL;
            if (leads) {
                then_leads = epptok_i_lead_leave(host, true);
            } else {
                epptok_i_lead_missed(host);
            }
            leads = false;
            /* Before its frame is copied, which takes milliseconds without the lock: another service may look meanwhile. */
            count_large(q, serving.host == host->number && is_large(job));
            if (copy_frame(host, job, buffer, then_leads)) {
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
        if (queue == EPPTOK_HOST_QUEUE_CALLS && epptok_i_lead_take(host, leads, buffer, capacity)) {
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
