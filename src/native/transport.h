/* The three ways of a call to the runtime, under one shape. */
#ifndef EPPTOK_TRANSPORT_H
#define EPPTOK_TRANSPORT_H

#include "frame.h"
#include "handle.h"
#include "result.h"

typedef struct epptok_i_transport {
    epptok_transport name;
    /* What an answer that is no valid response means here: UNAVAILABLE from another process, INTERNAL in this one. */
    epptok_status defect;
    /* Takes a request frame to the runtime and brings the answer, by the call's deadline. OK: `reply` is the caller's. */
    epptok_status (*exchange)(epptok_i_handle *handle, epptok_i_call *call, epptok_i_outgoing *frame,
                              epptok_i_frame_type type, epptok_i_reply *reply, epptok_i_reason *reason);
} epptok_i_transport;

extern const epptok_i_transport epptok_i_transport_callback;
extern const epptok_i_transport epptok_i_transport_direct;
extern const epptok_i_transport epptok_i_transport_socket;

/* The transport for a call of this thread. NULL with INVALID_ARGUMENT when the forced one cannot serve it. */
const epptok_i_transport *epptok_i_transport_choose(const epptok_i_handle *handle, epptok_i_frame_type type,
                                                    epptok_i_reason *reason);

/* What EPPTOK_TRANSPORT says, else `option`. False, with a reason, when that is no transport. */
bool epptok_i_transport_forced(uint32_t option, epptok_transport *forced, epptok_i_reason *reason);

/* Waits until the runtime of another process says that its models are warm, or why they cannot be. */
epptok_status epptok_i_socket_await_models(epptok_i_handle *handle, epptok_i_call *call, epptok_i_reason *reason);

#endif
