/*
 * The private runtime: a child process that lives as long as its handle, and not longer than this process.
 *
 *     library                                   child
 *     control ──── socketpair, no other child ──── descriptor 3
 *                  of this process has a copy
 *
 * Each connection is a socketpair of its own, one end of which goes to the child over the control socket: one byte 'C'
 * with the descriptor. Nothing is on disk. The child ends at the end of file on descriptor 3.
 */
#ifndef EPPTOK_SPAWN_H
#define EPPTOK_SPAWN_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "reason.h"

/* How to start it; made once, at open, since the options are borrowed. */
typedef struct epptok_i_launch {
    char *node;       /* absolute; a mere name if PATH does not have it */
    char *runtime;    /* serve-process.js, absolute */
    char **arguments; /* of the runtime, NULL-terminated */
} epptok_i_launch;

epptok_status epptok_i_launch_prepare(const epptok_options *options, epptok_i_launch *launch, epptok_i_reason *reason);
void epptok_i_launch_free(epptok_i_launch *launch);

/*
 * A thread of its own waits for its end, so that one that dies idle is no zombie until the next call. `lock` is innermost: the
 * number of a process is its only until it has been waited for, and a kill must not come after that.
 */
typedef struct epptok_i_child {
    struct epptok_i_child *older;
    pid_t pid;
    int control;
    bool ready; /* its models were warm once */
    pthread_t watcher;
    bool watched;
    pthread_mutex_t lock; /* the rest */
    bool gone;            /* waited for, or somebody else has */
    bool status_known;
    int wait_status;
} epptok_i_child;

/* NULL with INIT_FAILED or OUT_OF_MEMORY in *status. */
epptok_i_child *epptok_i_child_start(const epptok_i_launch *launch, epptok_status *status, epptok_i_reason *reason);
/* Starts its watcher; false without a thread to spare: then the next call takes note of its end. */
bool epptok_i_child_watch(epptok_i_child *child);
/* A new connection to it. 0; EAGAIN when it does not keep up taking them; EPIPE when it is gone. */
int epptok_i_child_connect(epptok_i_child *child, int *descriptor);
/* Its end of the control socket is closed: it ended or is about to. */
bool epptok_i_child_hung_up(const epptok_i_child *child);
/* Takes note of its end without waiting; true once it is gone. Waits for no other process. */
bool epptok_i_child_reap(epptok_i_child *child);
/* "runtime process 123 was killed by signal 9" */
void epptok_i_child_describe(epptok_i_child *child, char *text, size_t capacity);
/* Does not wait for its end. */
void epptok_i_child_kill(epptok_i_child *child);
/* Closes control, waits a bounded time for its end, then kills it. */
void epptok_i_child_end(epptok_i_child *child);
/* Kills it and waits a bounded time for its end. */
void epptok_i_child_end_at_once(epptok_i_child *child);
/* After its end. */
void epptok_i_child_free(epptok_i_child *child);

#endif
