#include "host_lead.h"

#include "host_io.h"

/* Longer than most calls take, shorter than anybody waits for BACKPRESSURE or TIMEOUT. */
#define UNLED_NS (2 * EPPTOK_I_NS_PER_MS)
/* So many looks in a row at a lead that does not change hands: there is no traffic to watch over. */
#define QUIET_LOOKS 16
/* A service that waited in vain comes back at once, or it never does. */
#define STAND_BY_MS 250

static void read_into_scratch(epptok_i_io *io)
{
    io->landing.lent = false;
    io->landing.bytes = io->scratch;
    io->landing.capacity = sizeof io->scratch;
}

static void begin(epptok_i_io *io, epptok_i_leader leader, uint8_t *lent, size_t capacity)
{
    epptok_i_landing *landing = &io->landing;
    io->lead.leader = leader;
    io->lead.takes_next = leader == EPPTOK_I_SERVICE;
    io->lead.wanted = false;
    io->lead.has_called = false;
    read_into_scratch(io);
    /* A buffer so small takes nothing that scratch would not. */
    if (lent != NULL && capacity >= sizeof io->scratch) {
        landing->lent = true;
        landing->bytes = lent;
        landing->capacity = capacity;
    }
    landing->landed.ticket = 0;
}

static void end(epptok_i_lead *lead)
{
    lead->leader = EPPTOK_I_NOBODY;
    lead->takes_next = false;
    lead->wanted = false;
    lead->left_ns = epptok_i_now_ns();
}

static epptok_i_waiter *waiting_service(epptok_i_host *host)
{
    epptok_i_queue *calls = &host->queues[EPPTOK_HOST_QUEUE_CALLS];
    epptok_i_waiter *service = calls->idle;
    if (service != NULL) {
        epptok_i_idle_remove(calls, service);
    }
    return service;
}

bool epptok_i_lead_take(epptok_i_host *host, bool leads, uint8_t *buffer, size_t capacity)
{
    if (host->io == NULL) {
        return false;
    }
    epptok_i_lead *lead = &host->io->lead;
    if (leads || lead->leader == EPPTOK_I_NOBODY) {
        begin(host->io, EPPTOK_I_SERVICE, buffer, capacity);
        return true;
    }
    if (lead->leader == EPPTOK_I_IO_THREAD && !lead->wanted) {
        lead->wanted = true;
        epptok_i_io_attend(host, NULL);
    }
    return false;
}

static void rouse_io_thread(epptok_i_lead *lead)
{
    if (lead->standing_by) {
        lead->standing_by = false;
        pthread_cond_signal(&lead->io_thread);
    }
}

epptok_i_waiter *epptok_i_lead_leave(epptok_i_host *host, bool serves)
{
    epptok_i_lead *lead = &host->io->lead;
    end(lead);
    lead->calls += serves;
    epptok_i_waiter *next = waiting_service(host);
    if ((serves && next == NULL) || host->ended) {
        rouse_io_thread(lead);
    }
    return next;
}

void epptok_i_lead_missed(epptok_i_host *host)
{
    if (host->io != NULL && host->io->lead.leader == EPPTOK_I_NOBODY) {
        rouse_io_thread(&host->io->lead);
    }
}

void epptok_i_lead_lands(epptok_i_host *host, const epptok_host_job *call)
{
    host->io->landing.landed = *call;
    host->io->lead.takes_next = false;
    read_into_scratch(host->io);
}

bool epptok_i_lead_takes(epptok_i_host *host)
{
    epptok_i_lead *lead = &host->io->lead;
    bool takes = lead->takes_next;
    lead->takes_next = false;
    lead->has_called = lead->leader == EPPTOK_I_IO_THREAD;
    return takes;
}

void epptok_i_lead_interrupt(epptok_i_host *host)
{
    if (host->io != NULL && host->io->lead.leader == EPPTOK_I_SERVICE) {
        epptok_i_io_attend(host, NULL);
    }
}

bool epptok_i_lead_stand_by(epptok_i_host *host)
{
    epptok_i_lead *lead = &host->io->lead;
    uint64_t seen = lead->calls;
    unsigned quiet = 0;
    for (;;) {
        if (lead->leader == EPPTOK_I_NOBODY) {
            if (host->ended) {
                return false;
            }
            int64_t overdue = lead->left_ns + UNLED_NS;
            if (epptok_i_now_ns() >= overdue) {
                begin(host->io, EPPTOK_I_IO_THREAD, NULL, 0);
                return true;
            }
            epptok_i_condition_wait(&lead->io_thread, &host->lock, overdue);
        } else if (quiet < QUIET_LOOKS) {
            epptok_i_condition_wait(&lead->io_thread, &host->lock, epptok_i_now_ns() + UNLED_NS);
        } else {
            lead->standing_by = true;
            epptok_i_condition_wait(&lead->io_thread, &host->lock, epptok_i_deadline_in_ms(STAND_BY_MS));
            lead->standing_by = false;
        }
        quiet = seen == lead->calls ? quiet + 1 : 0;
        seen = lead->calls;
    }
}

bool epptok_i_lead_keep(epptok_i_host *host)
{
    epptok_i_lead *lead = &host->io->lead;
    epptok_i_waiter *service = host->ended ? NULL : waiting_service(host);
    if (service == NULL && !lead->has_called && !host->ended) {
        return true;
    }
    end(lead);
    if (service != NULL) {
        /* Not after unlocking: it lives as long as the host, and this is not the way of a call. */
        pthread_cond_signal(&service->cond);
    }
    return false;
}
