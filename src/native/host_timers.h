/* The nearest deadline first: a binary heap whose entries know their place, so that any of them leaves in O(log n). */
#ifndef EPPTOK_HOST_TIMERS_H
#define EPPTOK_HOST_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose deadline it is: the timer is a member of that struct. */
typedef enum epptok_i_timer_owner { EPPTOK_I_TIMER_JOB, EPPTOK_I_TIMER_CONNECTION } epptok_i_timer_owner;

typedef struct epptok_i_timer {
    int64_t deadline_ns;
    size_t place; /* in the heap, from 1; 0: not in it */
    epptok_i_timer_owner owner;
} epptok_i_timer;

typedef struct epptok_i_timers {
    epptok_i_timer **heap; /* from 1 */
    size_t count, capacity;
} epptok_i_timers;

/* false if memory ran out. */
bool epptok_i_timers_add(epptok_i_timers *timers, epptok_i_timer *timer);
void epptok_i_timers_remove(epptok_i_timers *timers, epptok_i_timer *timer);
/* NULL if there is none. */
epptok_i_timer *epptok_i_timers_first(const epptok_i_timers *timers);
void epptok_i_timers_free(epptok_i_timers *timers);

#endif
