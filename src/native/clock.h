/* One clock for every wait: nanoseconds of CLOCK_MONOTONIC, absolute. */
#ifndef EPPTOK_CLOCK_H
#define EPPTOK_CLOCK_H

#include <pthread.h>
#include <stdint.h>

int64_t epptok_i_now_ns(void);
int64_t epptok_i_deadline_in_ms(uint32_t milliseconds);

/* What is left, rounded up, for poll(): 0 once the deadline has passed. */
int epptok_i_poll_ms(int64_t deadline_ns);
/* What is left, rounded up, for a frame: at least 1, since 0 would read as expired. */
uint32_t epptok_i_wire_ms(int64_t deadline_ns);

/* A condition that is waited for on this clock. 0 or an errno. */
int epptok_i_condition_init(pthread_cond_t *condition);
/* Waits with `lock` held; returns when woken, spuriously, or at the deadline. */
void epptok_i_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns);

#endif
