/* What a call came to: the received frame and views into it. */
#ifndef EPPTOK_RESULT_H
#define EPPTOK_RESULT_H

#include "frame.h"
#include "reason.h"

/* A response frame in memory from malloc(). */
typedef struct epptok_i_reply {
    uint8_t *frame;
    size_t length;
} epptok_i_reply;

/*
 * Checks `reply` as the RESPONSE to `call_id` and makes a result of it, which then owns the bytes; otherwise they stay
 * with the caller. `defect` is the status for an answer that is none: UNAVAILABLE from a socket, INTERNAL in process.
 */
epptok_status epptok_i_result_of_reply(epptok_i_reply *reply, uint64_t call_id, epptok_status defect,
                                       epptok_result **result, epptok_i_reason *reason);
/* A failure that no runtime worded. NULL if memory ran out. */
epptok_result *epptok_i_result_of_failure(epptok_status status, const epptok_i_reason *reason);

void epptok_i_result_set_trip(epptok_result *result, epptok_transport transport, int64_t elapsed_ns);

#endif
