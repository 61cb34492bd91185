#define _GNU_SOURCE
#include "spin.h"

#include <sched.h>
#include <unistd.h>

#include "clock.h"

/* A short call, and one wake on the other side while both have yet to find each other awake. */
#define MOMENT_NS 100000
#define MOST_VAIN 6 /* then one wait of 2^6 */

static uint8_t count_cores(void)
{
#if defined(__linux__)
    cpu_set_t allowed;
    long count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
#else
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count < 1 ? 1 : count > 2 ? 2 : (uint8_t)count;
}

bool epptok_i_spin_begin(epptok_i_spin *spin, bool *taken, int64_t *until_ns)
{
    if (spin->cores == 0) {
        spin->cores = count_cores();
    }
    if (spin->cores == 1) {
        return false;
    }
    if (spin->skip > 0) {
        spin->skip--;
        return false;
    }
    if (__atomic_test_and_set(taken, __ATOMIC_RELAXED)) {
        return false;
    }
    *until_ns = epptok_i_now_ns() + MOMENT_NS;
    return true;
}

void epptok_i_spin_pause(void) { (void)sched_yield(); }

void epptok_i_spin_end(epptok_i_spin *spin, bool *taken, bool found)
{
    __atomic_clear(taken, __ATOMIC_RELAXED);
    if (found) {
        spin->vain = 0;
        return;
    }
    if (spin->vain < MOST_VAIN) {
        spin->vain++;
    }
    spin->skip = (uint8_t)((1u << spin->vain) - 1);
}
