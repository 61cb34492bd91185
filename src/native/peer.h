/*
 * The runtime in another process that a handle talks to: a sidecar behind a socket path, or a private child, and the
 * connections to it. A call checks one out, has it alone, and gives it back.
 */
#ifndef EPPTOK_PEER_H
#define EPPTOK_PEER_H

#include "handle.h"
#include "spawn.h"
#include "wire.h"

typedef struct epptok_i_link {
    struct epptok_i_link *next, *previous;
    epptok_i_wire wire;
    bool busy;
    epptok_i_child *child; /* the one at the other end; NULL: a sidecar */
} epptok_i_link;

/* Everything in it is guarded by the handle's lock. */
typedef struct epptok_i_peer {
    char *socket_path; /* absolute; NULL: a private child */
    bool any_user;
    bool opened; /* the open succeeded: before that a child has nothing to bring to an end */
    epptok_i_launch launch;
    epptok_i_child *child; /* the newest; older ones stay listed until the handle is closed, for their exit status */
    epptok_i_link *links;
    unsigned idle;
} epptok_i_peer;

epptok_i_peer *epptok_i_peer_create(const epptok_options *options, epptok_status *status, epptok_i_reason *reason);
/* Ends the child and closes the connections; no call is in flight. */
void epptok_i_peer_close(epptok_i_handle *handle);
void epptok_i_peer_free(epptok_i_peer *peer);
/* In a child after fork(): closes the descriptors, touches nothing else. The handle's lock is held. */
void epptok_i_peer_disown(epptok_i_peer *peer);

/*
 * An idle connection that still stands, or else a new one (*fresh), which has yet to say hello; starts the child if
 * there is none. NULL with a status: CANCELLED or SHUTTING_DOWN if the call was interrupted meanwhile.
 */
epptok_i_link *epptok_i_peer_check_out(epptok_i_handle *handle, epptok_i_call *call, bool *fresh,
                                       epptok_status *status, epptok_i_reason *reason);
void epptok_i_peer_give_back(epptok_i_handle *handle, epptok_i_call *call, epptok_i_link *link, bool reusable);

bool epptok_i_peer_ready(epptok_i_handle *handle, const epptok_i_link *link);
void epptok_i_peer_set_ready(epptok_i_handle *handle, epptok_i_link *link);
/* Words what happened to a connection that was lost. True: its child is gone, and never was ready. */
bool epptok_i_peer_lost(epptok_i_handle *handle, const epptok_i_call *call, const epptok_i_link *link,
                        epptok_i_reason *reason);

#endif
