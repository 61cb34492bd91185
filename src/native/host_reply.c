/* How a service answers the call that it took. */
#include "host_connection.h"

#include <stdlib.h>

/* The lock is held and given up; the job is RUNNING. */
static int32_t reply_direct(epptok_i_host *host, epptok_i_job *job, const epptok_i_bytes *pieces, size_t count)
{
    size_t length = epptok_i_pieces_length(pieces, count);
    job->state = EPPTOK_I_REPLYING;
    job->references++;
    pthread_mutex_unlock(&host->lock);
    uint8_t *copy = malloc(length == 0 ? 1 : length);
    if (copy != NULL) {
        epptok_i_pieces_write(pieces, count, 0, copy);
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

int32_t epptok_host_reply_with_ids(uint32_t number, uint64_t ticket, const uint8_t *frame, size_t length,
                                   const uint32_t *ids, size_t count)
{
    if (frame == NULL || (ids == NULL && count != 0)) {
        return 0;
    }
    epptok_i_host *host = epptok_i_host_acquire(number);
    if (host == NULL) {
        return 0;
    }
    epptok_i_service_replied(host, ticket);
    static const uint32_t GAP[1] = {0};
    const epptok_i_bytes pieces[EPPTOK_I_MOST_PIECES] = {
        {frame, length}, {ids, count * sizeof *ids}, {GAP, count % 2 * sizeof *GAP}};
    int32_t delivered = 0;
    pthread_mutex_lock(&host->lock);
    epptok_i_job *job = epptok_i_find_ticket(host, ticket);
    if (job == NULL || job->state != EPPTOK_I_RUNNING) {
        pthread_mutex_unlock(&host->lock);
    } else if (job->direct) {
        delivered = reply_direct(host, job, pieces, EPPTOK_I_MOST_PIECES);
    } else {
        int64_t deadline = job->timer.deadline_ns;
        /* The call is over before its reply is written: the peer may read it and send its next call while we are still here. */
        epptok_i_connection *connection = epptok_i_retire(host, job, EPPTOK_OK);
        bool last = epptok_i_job_drop(job);
        pthread_mutex_unlock(&host->lock);
        delivered = epptok_i_connection_send(connection, pieces, EPPTOK_I_MOST_PIECES, deadline);
        epptok_i_connection_drop(connection);
        if (delivered == 0) {
            /* The peer left before the leader saw it, and the call had no longer a part in the connection then. */
            pthread_mutex_lock(&host->lock);
            host->counters.disconnected++;
            pthread_mutex_unlock(&host->lock);
        }
        if (last) {
            epptok_i_job_destroy(job);
        }
    }
    epptok_i_host_release(host);
    return delivered;
}

int32_t epptok_host_reply(uint32_t number, uint64_t ticket, const uint8_t *frame, size_t length)
{
    return epptok_host_reply_with_ids(number, ticket, frame, length, NULL, 0);
}
