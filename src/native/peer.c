#define _GNU_SOURCE
#include "peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "absolute.h"
#include "clock.h"
#include "descriptor.h"

#define MAX_IDLE 64u
#define NS_PER_MS 1000000
/*
 * The kernel closes the sockets of a dying process one after the other, a moment before it can be waited for. After the
 * shorter time a child whose end of control still stands is taken to be alive.
 */
#define MS_TO_SEE_IT_DIE 20
#define MS_TO_LEARN_HOW_IT_DIED 50

epptok_i_peer *epptok_i_peer_create(const epptok_options *options, epptok_status *status, epptok_i_reason *reason)
{
    epptok_i_peer *peer = calloc(1, sizeof *peer);
    if (peer == NULL) {
        *status = epptok_i_out_of_memory(reason);
        return NULL;
    }
    peer->any_user = (options->flags & EPPTOK_OPEN_ALLOW_OTHER_USER) != 0;
    if (options->socket_path == NULL) {
        *status = epptok_i_launch_prepare(options, &peer->launch, reason);
    } else {
        *status = epptok_i_absolute_socket(options->socket_path, &peer->socket_path, reason);
    }
    if (*status != EPPTOK_OK) {
        epptok_i_peer_free(peer);
        return NULL;
    }
    return peer;
}

void epptok_i_peer_free(epptok_i_peer *peer)
{
    while (peer->child != NULL) {
        epptok_i_child *child = peer->child;
        peer->child = child->older;
        epptok_i_child_free(child);
    }
    epptok_i_launch_free(&peer->launch);
    free(peer->socket_path);
    free(peer);
}

void epptok_i_peer_disown(epptok_i_peer *peer)
{
    for (epptok_i_link *link = peer->links; link != NULL; link = link->next) {
        epptok_i_descriptor_close(&link->wire.descriptor);
    }
    for (epptok_i_child *child = peer->child; child != NULL; child = child->older) {
        epptok_i_descriptor_close(&child->control);
    }
}

/* ---- under the handle's lock ---- */

static void drop(epptok_i_peer *peer, epptok_i_link *link)
{
    if (link->next != NULL) {
        link->next->previous = link->previous;
    }
    if (link->previous != NULL) {
        link->previous->next = link->next;
    } else {
        peer->links = link->next;
    }
    epptok_i_descriptor_close(&link->wire.descriptor);
    free(link);
}

static epptok_i_link *adopt(epptok_i_peer *peer, int descriptor, epptok_i_child *child)
{
    epptok_i_link *link = calloc(1, sizeof *link);
    if (link == NULL) {
        epptok_i_descriptor_close(&descriptor);
        return NULL;
    }
    link->wire.descriptor = descriptor;
    link->child = child;
    link->next = peer->links;
    if (link->next != NULL) {
        link->next->previous = link;
    }
    peer->links = link;
    return link;
}

/* The last one used, whose caches are warm. Those that died idle, of a runtime that was restarted, go. */
static epptok_i_link *find_idle(epptok_i_peer *peer)
{
    for (epptok_i_link *link = peer->links; link != NULL;) {
        epptok_i_link *next = link->next;
        if (!link->busy) {
            peer->idle--;
            if (epptok_i_wire_is_quiet(link->wire.descriptor)) {
                return link;
            }
            drop(peer, link);
        }
        link = next;
    }
    return NULL;
}

static epptok_status check_user(const epptok_i_peer *peer, int descriptor, epptok_i_reason *reason)
{
    unsigned long user = 0;
    if (peer->any_user) {
        return EPPTOK_OK;
    }
    if (!epptok_i_socket_user(descriptor, &user)) {
        return epptok_i_because(reason, EPPTOK_INIT_FAILED, "cannot tell whose socket %s is", peer->socket_path);
    }
    if (user != (unsigned long)geteuid()) {
        return epptok_i_because(reason, EPPTOK_INIT_FAILED,
                                "socket %s is served by user %lu, not by %lu (EPPTOK_OPEN_ALLOW_OTHER_USER accepts it)",
                                peer->socket_path, user, (unsigned long)geteuid());
    }
    return EPPTOK_OK;
}

static epptok_status connect_to_sidecar(epptok_i_peer *peer, int *descriptor, bool *busy, epptok_i_reason *reason)
{
    char text[128];
    int error = epptok_i_socket_connect(peer->socket_path, descriptor);
    *busy = error == EAGAIN;
    if (error != 0) {
        return epptok_i_because(reason, EPPTOK_UNAVAILABLE, "cannot connect to %s: %s", peer->socket_path,
                                epptok_i_errno_text(error, text, sizeof text));
    }
    epptok_status status = check_user(peer, *descriptor, reason);
    if (status != EPPTOK_OK) {
        epptok_i_descriptor_close(descriptor);
    }
    return status;
}

static epptok_status connect_to_child(epptok_i_peer *peer, int *descriptor, bool *busy, epptok_i_reason *reason)
{
    if (peer->child == NULL || epptok_i_child_hung_up(peer->child)) {
        epptok_status status = EPPTOK_OK;
        for (epptok_i_child *child = peer->child; child != NULL; child = child->older) {
            epptok_i_child_kill(child);
        }
        epptok_i_child *child = epptok_i_child_start(&peer->launch, &status, reason);
        if (child == NULL) {
            return status;
        }
        child->older = peer->child;
        peer->child = child;
    }
    int error = epptok_i_child_connect(peer->child, descriptor);
    *busy = error == EAGAIN || error == EPIPE; /* EPIPE: it ended this instant, and next time another is started */
    if (error != 0) {
        char text[128];
        return epptok_i_because(reason, EPPTOK_UNAVAILABLE, "cannot connect to runtime process %ld: %s",
                                (long)peer->child->pid, epptok_i_errno_text(error, text, sizeof text));
    }
    return EPPTOK_OK;
}

/* ---- */

/* Descriptors are made and listed under the lock that a fork takes, so that a forked child can close its copies of all. */
epptok_i_link *epptok_i_peer_check_out(epptok_i_handle *handle, epptok_i_call *call, bool *fresh,
                                       epptok_status *status, epptok_i_reason *reason)
{
    epptok_i_peer *peer = handle->peer;
    bool busy = false;
    epptok_i_link *link = NULL;
    *fresh = false;
    pthread_mutex_lock(&handle->lock);
    for (;;) {
        *status = call->interrupted;
        if (*status != EPPTOK_OK) {
            break;
        }
        link = find_idle(peer);
        if (link != NULL) {
            break;
        }
        if (busy && epptok_i_now_ns() >= call->deadline_ns) {
            *status = EPPTOK_TIMEOUT; /* `reason` holds what it waited for */
            break;
        }
        int descriptor = -1;
        *status = peer->socket_path != NULL ? connect_to_sidecar(peer, &descriptor, &busy, reason)
                                            : connect_to_child(peer, &descriptor, &busy, reason);
        if (*status == EPPTOK_OK) {
            *fresh = true;
            link = adopt(peer, descriptor, peer->socket_path != NULL ? NULL : peer->child);
            if (link == NULL) {
                *status = epptok_i_out_of_memory(reason);
            }
            break;
        }
        if (!busy) {
            break;
        }
        int64_t soon = epptok_i_now_ns() + 2 * NS_PER_MS;
        epptok_i_condition_wait(&handle->changed, &handle->lock, soon < call->deadline_ns ? soon : call->deadline_ns);
    }
    if (link != NULL) {
        link->busy = true;
        call->descriptor = link->wire.descriptor;
    }
    pthread_mutex_unlock(&handle->lock);
    return link;
}

void epptok_i_peer_give_back(epptok_i_handle *handle, epptok_i_call *call, epptok_i_link *link, bool reusable)
{
    pthread_mutex_lock(&handle->lock);
    call->descriptor = EPPTOK_I_NO_DESCRIPTOR;
    /* An interrupted call's connection has been shut down. */
    if (reusable && call->interrupted == EPPTOK_OK && handle->peer->idle < MAX_IDLE) {
        link->busy = false;
        handle->peer->idle++;
    } else {
        drop(handle->peer, link);
    }
    pthread_mutex_unlock(&handle->lock);
}

bool epptok_i_peer_ready(epptok_i_handle *handle, const epptok_i_link *link)
{
    pthread_mutex_lock(&handle->lock);
    bool ready = link->child == NULL || link->child->ready;
    pthread_mutex_unlock(&handle->lock);
    return ready;
}

void epptok_i_peer_set_ready(epptok_i_handle *handle, epptok_i_link *link)
{
    pthread_mutex_lock(&handle->lock);
    if (link->child != NULL) {
        link->child->ready = true;
    }
    pthread_mutex_unlock(&handle->lock);
}

bool epptok_i_peer_lost(epptok_i_handle *handle, const epptok_i_call *call, const epptok_i_link *link,
                        epptok_i_reason *reason)
{
    epptok_i_child *child = link->child;
    if (child == NULL) {
        return false;
    }
    pthread_mutex_lock(&handle->lock);
    int64_t start = epptok_i_now_ns(), now = start;
    bool ended = epptok_i_child_hung_up(child);
    while (!epptok_i_child_reap(child) && call->interrupted == EPPTOK_OK && now < call->deadline_ns &&
           now < start + (ended ? MS_TO_LEARN_HOW_IT_DIED : MS_TO_SEE_IT_DIE) * (int64_t)NS_PER_MS) {
        epptok_i_condition_wait(&handle->changed, &handle->lock, now + NS_PER_MS);
        now = epptok_i_now_ns();
        ended = ended || epptok_i_child_hung_up(child);
    }
    ended = ended || epptok_i_child_reap(child);
    char what[96];
    epptok_i_child_describe(child, what, sizeof what);
    bool never_ready = ended && !child->ready;
    pthread_mutex_unlock(&handle->lock);
    (void)epptok_i_because(reason, EPPTOK_UNAVAILABLE, "%s%s", what,
                           never_ready ? " while it was starting; its standard error may say why" : " with the call in flight");
    return never_ready;
}

void epptok_i_peer_close(epptok_i_handle *handle)
{
    epptok_i_peer *peer = handle->peer;
    pthread_mutex_lock(&handle->lock);
    while (peer->links != NULL) {
        drop(peer, peer->links);
    }
    for (epptok_i_child *child = peer->child; child != NULL; child = child->older) {
        epptok_i_descriptor_close(&child->control);
    }
    pthread_mutex_unlock(&handle->lock);
    for (epptok_i_child *child = peer->child; child != NULL; child = child->older) {
        if (peer->opened) {
            epptok_i_child_end(child);
        } else {
            epptok_i_child_end_at_once(child);
        }
    }
}
