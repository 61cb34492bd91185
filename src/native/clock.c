#define _GNU_SOURCE
#include "clock.h"

#include <limits.h>
#include <time.h>

#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

int64_t epptok_i_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t epptok_i_deadline_in_ms(uint32_t milliseconds)
{
    return epptok_i_now_ns() + (int64_t)milliseconds * NS_PER_MS;
}

static int64_t ms_left(int64_t deadline_ns)
{
    int64_t left = deadline_ns - epptok_i_now_ns();
    return left <= 0 ? 0 : (left + NS_PER_MS - 1) / NS_PER_MS;
}

int epptok_i_poll_ms(int64_t deadline_ns)
{
    int64_t left = ms_left(deadline_ns);
    return left > INT_MAX ? INT_MAX : (int)left;
}

uint32_t epptok_i_wire_ms(int64_t deadline_ns)
{
    int64_t left = ms_left(deadline_ns);
    if (left < 1) {
        return 1;
    }
    return left > (int64_t)UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

int epptok_i_condition_init(pthread_cond_t *condition)
{
#if defined(__APPLE__)
    return pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);
    if (error != 0) {
        return error;
    }
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (error == 0) {
        error = pthread_cond_init(condition, &attributes);
    }
    (void)pthread_condattr_destroy(&attributes);
    return error;
#endif
}

void epptok_i_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns)
{
    struct timespec when;
#if defined(__APPLE__)
    int64_t left = deadline_ns - epptok_i_now_ns();
    if (left <= 0) {
        return;
    }
    when.tv_sec = (time_t)(left / NS_PER_S);
    when.tv_nsec = (long)(left % NS_PER_S);
    (void)pthread_cond_timedwait_relative_np(condition, lock, &when);
#else
    when.tv_sec = (time_t)(deadline_ns / NS_PER_S);
    when.tv_nsec = (long)(deadline_ns % NS_PER_S);
    (void)pthread_cond_timedwait(condition, lock, &when);
#endif
}
