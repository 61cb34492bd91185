#include "host_timers.h"

#include <stdlib.h>

static void put(epptok_i_timers *timers, size_t place, epptok_i_timer *timer)
{
    timers->heap[place] = timer;
    timer->place = place;
}

static void rise(epptok_i_timers *timers, size_t place, epptok_i_timer *timer)
{
    while (place > 1 && timers->heap[place / 2]->deadline_ns > timer->deadline_ns) {
        put(timers, place, timers->heap[place / 2]);
        place /= 2;
    }
    put(timers, place, timer);
}

static void sink(epptok_i_timers *timers, size_t place, epptok_i_timer *timer)
{
    for (;;) {
        size_t child = place * 2;
        if (child > timers->count) {
            break;
        }
        if (child < timers->count && timers->heap[child + 1]->deadline_ns < timers->heap[child]->deadline_ns) {
            child++;
        }
        if (timers->heap[child]->deadline_ns >= timer->deadline_ns) {
            break;
        }
        put(timers, place, timers->heap[child]);
        place = child;
    }
    put(timers, place, timer);
}

bool epptok_i_timers_add(epptok_i_timers *timers, epptok_i_timer *timer)
{
    if (timers->count + 1 >= timers->capacity) {
        size_t capacity = timers->capacity == 0 ? 64 : timers->capacity * 2;
        epptok_i_timer **heap = realloc(timers->heap, capacity * sizeof *heap);
        if (heap == NULL) {
            return false;
        }
        timers->heap = heap;
        timers->capacity = capacity;
    }
    rise(timers, ++timers->count, timer);
    return true;
}

void epptok_i_timers_remove(epptok_i_timers *timers, epptok_i_timer *timer)
{
    size_t place = timer->place;
    if (place == 0) {
        return;
    }
    timer->place = 0;
    epptok_i_timer *last = timers->heap[timers->count--];
    if (last == timer) {
        return;
    }
    if (place > 1 && timers->heap[place / 2]->deadline_ns > last->deadline_ns) {
        rise(timers, place, last);
    } else {
        sink(timers, place, last);
    }
}

epptok_i_timer *epptok_i_timers_first(const epptok_i_timers *timers)
{
    return timers->count == 0 ? NULL : timers->heap[1];
}

void epptok_i_timers_free(epptok_i_timers *timers)
{
    free(timers->heap);
    timers->heap = NULL;
    timers->count = timers->capacity = 0;
}
