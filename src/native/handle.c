#define _GNU_SOURCE
#include "handle.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "peer.h"

typedef enum slot_state {
    FREE = 0,
    LIVE,
    CLOSING,  /* no longer to be had by its name, but calls are still on their way out */
    OF_PARENT, /* in a child after fork(): of the parent, for ever */
} slot_state;

typedef struct slot {
    epptok_i_handle *handle;
    uint64_t generation;
    slot_state state;
} slot;

/* The only mutable state of the library, beside the native host's. A generation is never used twice in one process. */
static struct {
    pthread_mutex_t lock;
    slot *slots;
    size_t capacity, used;
    uint64_t generations, threads;
    bool fork_watched;
} table = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, 0, 0, false};

static __thread uint64_t thread_number;

/*
 * A name is generation, 16 bits of slot, and a one: odd, so that it cannot be mistaken for an address, and above 64 kB,
 * since Go's runtime takes a smaller "pointer" for corruption.
 */
#define SLOT_BITS 16
#define MAX_SLOTS ((size_t)1 << SLOT_BITS)

static epptok *name_of(size_t index, uint64_t generation)
{
    return (epptok *)((((uintptr_t)generation << SLOT_BITS | (uintptr_t)index) << 1) | 1u);
}

/* ---- fork ---- */

/*
 * A forked child has one thread. Whatever the other threads of the parent held at that moment would stay held for ever
 * in the child, so all locks are taken before a fork, and given back on both sides.
 */
static void lock_all(void)
{
    pthread_mutex_lock(&table.lock);
    for (size_t i = 0; i < table.capacity; i++) {
        if (table.slots[i].state == LIVE || table.slots[i].state == CLOSING) {
            pthread_mutex_lock(&table.slots[i].handle->lock);
        }
    }
}

static void unlock_all(void)
{
    for (size_t i = 0; i < table.capacity; i++) {
        if (table.slots[i].state == LIVE || table.slots[i].state == CLOSING) {
            pthread_mutex_unlock(&table.slots[i].handle->lock);
        }
    }
    pthread_mutex_unlock(&table.lock);
}

/* The child gives up its copies of the descriptors: a copy of the control socket would keep the runtime from seeing that the parent ended. */
static void disown_all(void)
{
    for (size_t i = 0; i < table.capacity; i++) {
        slot *place = &table.slots[i];
        if (place->state == LIVE || place->state == CLOSING) {
            if (place->handle->peer != NULL) {
                epptok_i_peer_disown(place->handle->peer);
            }
            pthread_mutex_unlock(&place->handle->lock);
            place->state = OF_PARENT;
        }
    }
    pthread_mutex_unlock(&table.lock);
}

/* ---- the table ---- */

uint64_t epptok_i_thread_number(void)
{
    if (thread_number == 0) {
        pthread_mutex_lock(&table.lock);
        thread_number = ++table.threads;
        pthread_mutex_unlock(&table.lock);
    }
    return thread_number;
}

static bool find_free_slot(size_t *index)
{
    for (*index = 0; *index < table.capacity; (*index)++) {
        if (table.slots[*index].state == FREE) {
            return true;
        }
    }
    size_t capacity = table.capacity == 0 ? 8 : table.capacity * 2;
    if (capacity > MAX_SLOTS) {
        return false;
    }
    slot *slots = realloc(table.slots, capacity * sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    memset(slots + table.capacity, 0, (capacity - table.capacity) * sizeof *slots);
    table.slots = slots;
    table.capacity = capacity;
    return true;
}

static bool insert(epptok_i_handle *handle, epptok **name)
{
    pthread_mutex_lock(&table.lock);
    /* Registered with the library's own handle, so that dlclose() takes it back. */
    if (!table.fork_watched) {
        table.fork_watched = pthread_atfork(lock_all, unlock_all, disown_all) == 0;
    }
    bool found = table.fork_watched && find_free_slot(&handle->slot);
    if (found) {
        slot *place = &table.slots[handle->slot];
        place->handle = handle;
        place->generation = ++table.generations;
        place->state = LIVE;
        table.used++;
        *name = name_of(handle->slot, place->generation);
    }
    pthread_mutex_unlock(&table.lock);
    return found;
}

/* Under the table's lock. NULL, with the reason, for anything that is not a live handle. */
static slot *find(const epptok *name, epptok_i_reason *reason)
{
    uintptr_t number = (uintptr_t)name;
    size_t index = (number >> 1) & (MAX_SLOTS - 1);
    if (name == NULL) {
        (void)epptok_i_because(reason, EPPTOK_INVALID_HANDLE, "the handle is NULL");
        return NULL;
    }
    slot *place = index < table.capacity ? &table.slots[index] : NULL;
    if (place != NULL && place->state != FREE && name == name_of(index, place->generation)) {
        if (place->state == LIVE) {
            return place;
        }
        if (place->state == OF_PARENT) {
            (void)epptok_i_because(reason, EPPTOK_INVALID_HANDLE,
                                   "the handle belongs to the parent process: open one of your own after fork()");
            return NULL;
        }
    }
    (void)epptok_i_because(reason, EPPTOK_INVALID_HANDLE, "the handle is closed, or never was one");
    return NULL;
}

void epptok_i_handle_free(epptok_i_handle *handle)
{
    if (handle->peer != NULL) {
        epptok_i_peer_close(handle);
    }
    pthread_mutex_lock(&table.lock);
    slot *place = &table.slots[handle->slot];
    if (place->state == CLOSING) {
        place->state = FREE;
        place->handle = NULL;
        if (--table.used == 0) {
            free(table.slots);
            table.slots = NULL;
            table.capacity = 0;
        }
    }
    pthread_mutex_unlock(&table.lock);
    if (handle->peer != NULL) {
        epptok_i_peer_free(handle->peer);
    }
    (void)pthread_cond_destroy(&handle->changed);
    (void)pthread_mutex_destroy(&handle->lock);
    free(handle);
}

epptok_i_handle *epptok_i_handle_create(epptok **name, epptok_i_reason *reason)
{
    epptok_i_handle *handle = calloc(1, sizeof *handle);
    if (handle == NULL || epptok_i_condition_init(&handle->changed) != 0) {
        free(handle);
        (void)epptok_i_out_of_memory(reason);
        return NULL;
    }
    if (pthread_mutex_init(&handle->lock, NULL) == 0) {
        if (insert(handle, name)) {
            return handle;
        }
        (void)pthread_mutex_destroy(&handle->lock);
    }
    (void)pthread_cond_destroy(&handle->changed);
    free(handle);
    (void)epptok_i_because(reason, EPPTOK_OUT_OF_MEMORY, "no room for another handle (at most %u)", (unsigned)MAX_SLOTS);
    return NULL;
}

static bool others_in_flight(const epptok_i_handle *handle, uint64_t thread)
{
    for (const epptok_i_call *call = handle->calls; call != NULL; call = call->next) {
        if (call->thread != thread) {
            return true;
        }
    }
    return false;
}

epptok_status epptok_i_handle_close(epptok *name, epptok_i_reason *reason)
{
    uint64_t thread = epptok_i_thread_number();
    pthread_mutex_lock(&table.lock);
    slot *place = find(name, reason);
    epptok_i_handle *handle = place == NULL ? NULL : place->handle;
    if (place != NULL) {
        place->state = CLOSING;
    }
    pthread_mutex_unlock(&table.lock);
    if (handle == NULL) {
        return EPPTOK_INVALID_HANDLE;
    }
    (void)epptok_i_calls_interrupt(handle, 0, EPPTOK_SHUTTING_DOWN, NULL);
    pthread_mutex_lock(&handle->lock);
    handle->closing = true;
    while (others_in_flight(handle, thread)) {
        (void)pthread_cond_wait(&handle->changed, &handle->lock);
    }
    /* Closed from inside the owner's callback: that call cannot return before close does. */
    handle->orphaned = handle->calls != NULL;
    bool mine = !handle->orphaned;
    pthread_mutex_unlock(&handle->lock);
    if (mine) {
        epptok_i_handle_free(handle);
    }
    return EPPTOK_OK;
}

/* ---- calls ---- */

epptok_status epptok_i_call_begin(epptok *name, uint64_t call_id, uint32_t timeout_ms, epptok_i_call *call,
                                  epptok_i_handle **out, epptok_i_reason *reason)
{
    memset(call, 0, sizeof *call);
    call->call_id = call_id;
    call->thread = epptok_i_thread_number();
    call->descriptor = EPPTOK_I_NO_DESCRIPTOR;
    call->started_ns = epptok_i_now_ns();
    pthread_mutex_lock(&table.lock);
    slot *place = find(name, reason);
    epptok_i_handle *handle = place == NULL ? NULL : place->handle;
    if (handle != NULL) {
        pthread_mutex_lock(&handle->lock);
        call->deadline_ns =
            call->started_ns + (int64_t)(timeout_ms == 0 ? handle->default_timeout_ms : timeout_ms) * 1000000;
        call->next = handle->calls;
        if (call->next != NULL) {
            call->next->previous = call;
        }
        handle->calls = call;
        pthread_mutex_unlock(&handle->lock);
    }
    pthread_mutex_unlock(&table.lock);
    *out = handle;
    return handle == NULL ? EPPTOK_INVALID_HANDLE : EPPTOK_OK;
}
