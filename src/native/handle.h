/*
 * Handles, and the calls in flight on them.
 *
 * An `epptok *` is the number of a table slot with a generation; only the table turns it into a handle. The list of
 * calls is what keeps a handle alive: a call is linked before the table's lock is let go, and close frees the handle
 * after the list has run empty.
 *
 * Locks: the table's before a handle's, never the other way round; neither while calling into the native host, which
 * has locks of its own.
 */
#ifndef EPPTOK_HANDLE_H
#define EPPTOK_HANDLE_H

#include <pthread.h>
#include <stdbool.h>

#include "host.h"
#include "reason.h"

struct epptok_i_peer;

#define EPPTOK_I_NO_DESCRIPTOR (-1)

/* One call in flight; lives on the stack of its thread. */
typedef struct epptok_i_call {
    struct epptok_i_call *next, *previous;
    uint64_t call_id;
    uint64_t thread;
    int64_t started_ns, deadline_ns;
    epptok_transport transport; /* which one it reached */
    /* Under the handle's lock: */
    epptok_status interrupted; /* OK while the call is wanted; then CANCELLED or SHUTTING_DOWN */
    int descriptor;            /* the connection it uses: shut down to wake it */
    uint64_t ticket;           /* its place in the native host's queue: cancelled to wake it; 0 is none */
    bool ticket_cancelled;
} epptok_i_call;

typedef struct epptok_i_handle {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a call was interrupted, or the last one returned */
    epptok_i_call *calls;
    bool closing;
    bool orphaned; /* closed from inside one of its own calls: the last call out frees it */
    size_t slot;
    uint32_t default_timeout_ms;
    epptok_transport transport; /* forced, or AUTO */
    bool caller_spins;        /* atomic: spin.h */
    /* In another process: */
    struct epptok_i_peer *peer;
    /* In this process, when peer is NULL: */
    uint32_t host;
    epptok_serve_callback callback;
    uint64_t owner_thread;
} epptok_i_handle;

/* A number that no other thread of this process has or had. pthread_t is reused. */
uint64_t epptok_i_thread_number(void);

/* Puts a new handle into the table, which owns it from then on. NULL with a reason if memory ran out. */
epptok_i_handle *epptok_i_handle_create(epptok **name, epptok_i_reason *reason);
/* Wakes its calls, waits for them, and frees it. */
epptok_status epptok_i_handle_close(epptok *name, epptok_i_reason *reason);
/* For the last call out of a handle that was closed from inside it. */
void epptok_i_handle_free(epptok_i_handle *handle);

/* Links `call` to the handle named `name`. On INVALID_HANDLE `reason` tells which kind of invalid. */
epptok_status epptok_i_call_begin(epptok *name, uint64_t call_id, uint32_t timeout_ms, epptok_i_call *call,
                                  epptok_i_handle **handle, epptok_i_reason *reason);
/* Unlinks it. What is returned, if not OK, is what the call has to return: whoever interrupted it was told that it would. */
epptok_status epptok_i_call_end(epptok_i_handle *handle, epptok_i_call *call, epptok_i_reason *reason);

/* False once the call is no longer wanted. */
bool epptok_i_call_wanted(epptok_i_handle *handle, epptok_i_call *call);
/* Sleeps until then; false when the call was interrupted. */
bool epptok_i_call_sleep(epptok_i_handle *handle, epptok_i_call *call, int64_t until_ns);
/* Interrupts the calls with this id (0: all but `except`); how many there were. */
size_t epptok_i_calls_interrupt(epptok_i_handle *handle, uint64_t call_id, epptok_status status,
                                const epptok_i_call *except);

#endif
