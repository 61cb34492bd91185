/*
 * Looking again and again before sleeping. A sleeping thread on another core takes tens of microseconds to wake, more than a
 * short call takes in all; but time spent looking in vain is taken from others. So a thread looks for a moment, yields its
 * core at each look, stops trying after moments in vain (and tries again ever more seldom), and never where there is one core
 * only. One thread at a time looks in each place.
 */
#ifndef EPPTOK_SPIN_H
#define EPPTOK_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* What a thread has learnt of its waits of one kind; zero at first. Of that thread alone. */
typedef struct epptok_i_spin {
    uint8_t cores; /* 0: not asked yet */
    uint8_t vain;  /* moments in a row */
    uint8_t skip;  /* waits that sleep at once before the next moment is spent */
} epptok_i_spin;

/* false: sleep at once. true: look until the time in *until_ns, with epptok_i_spin_pause() between, and then call end(). */
bool epptok_i_spin_begin(epptok_i_spin *spin, bool *taken, int64_t *until_ns);
void epptok_i_spin_pause(void);
void epptok_i_spin_end(epptok_i_spin *spin, bool *taken, bool found);

#endif
