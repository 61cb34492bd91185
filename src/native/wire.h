/* One frame out and one frame in, over a connected stream socket, until a deadline. */
#ifndef EPPTOK_WIRE_H
#define EPPTOK_WIRE_H

#include "frame.h"
#include "reason.h"
#include "result.h"

/* One connection, and what its next exchange is likely to be like. Of the call that uses it. */
typedef struct epptok_i_wire {
    int descriptor;
    size_t reply_bytes; /* of the last answer */
} epptok_i_wire;

typedef struct epptok_i_trip {
    bool sent;  /* at least one byte of the request left: it may have been acted upon */
    bool whole; /* request and answer passed entirely, nothing is under way: the connection can be used again */
} epptok_i_trip;

/*
 * Sends `frame` and waits for the answer. OK, TIMEOUT, OUT_OF_MEMORY, or UNAVAILABLE when the connection ended or what came
 * over it is no frame. shutdown() of the descriptor by another thread ends the wait at once, as UNAVAILABLE. `spinning` is
 * where the callers of one handle agree on who of them may spin; NULL: this one may not.
 */
epptok_status epptok_i_wire_exchange(epptok_i_wire *wire, const epptok_i_outgoing *frame, int64_t deadline_ns,
                                     bool *spinning, epptok_i_reply *reply, epptok_i_trip *trip, epptok_i_reason *reason);

/* Nothing has come over it that nobody asked for, and the other end is there. */
bool epptok_i_wire_is_quiet(int descriptor);

#endif
