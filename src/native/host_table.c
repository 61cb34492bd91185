/*
 * Hosts by number: a slot and a generation, so that a number kept after its host has stopped names nothing.
 *
 * fork(): the child has none of the threads and perhaps half of a critical section. All locks are taken before the fork,
 * so the state is whole; the child then forgets the parent's hosts, closes its copies of their descriptors (a connection
 * that it kept open would hide the parent's close from the peer), and could start hosts of its own.
 */
#include "host_io.h"
#include "host_state.h"

#define SLOTS 256u
#define GENERATION_STEP SLOTS

static struct {
    pthread_mutex_t lock;
    epptok_i_host *hosts[SLOTS];
    uint32_t generations[SLOTS]; /* multiples of SLOTS, so that generation + slot is the number */
    epptok_i_host *forsaken;     /* of the parent of a fork: never freed, their threads are not here */
} table = {PTHREAD_MUTEX_INITIALIZER, {NULL}, {0}, NULL};

static pthread_once_t fork_handlers = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&table.lock);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (table.hosts[slot] != NULL) {
            pthread_mutex_lock(&table.hosts[slot]->lock);
        }
    }
}

static void after_fork_in_parent(void)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        if (table.hosts[slot] != NULL) {
            pthread_mutex_unlock(&table.hosts[slot]->lock);
        }
    }
    pthread_mutex_unlock(&table.lock);
}

static void after_fork_in_child(void)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        epptok_i_host *host = table.hosts[slot];
        if (host == NULL) {
            continue;
        }
        epptok_i_io_abandon(host);
        pthread_mutex_unlock(&host->lock);
        host->forsaken = table.forsaken;
        table.forsaken = host;
        table.hosts[slot] = NULL;
    }
    pthread_mutex_unlock(&table.lock);
}

static void install_fork_handlers(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

bool epptok_i_host_enter(epptok_i_host *host)
{
    pthread_once(&fork_handlers, install_fork_handlers);
    bool entered = false;
    pthread_mutex_lock(&table.lock);
    for (uint32_t slot = 0; slot < SLOTS && !entered; slot++) {
        if (table.hosts[slot] != NULL) {
            continue;
        }
        table.generations[slot] += GENERATION_STEP;
        if (table.generations[slot] == 0) {
            table.generations[slot] = GENERATION_STEP;
        }
        host->number = table.generations[slot] + slot;
        host->references = 1;
        table.hosts[slot] = host;
        entered = true;
    }
    pthread_mutex_unlock(&table.lock);
    return entered;
}

epptok_i_host *epptok_i_host_acquire(uint32_t number)
{
    pthread_mutex_lock(&table.lock);
    epptok_i_host *host = table.hosts[number % SLOTS];
    if (host != NULL && host->number == number) {
        host->references++;
    } else {
        host = NULL;
    }
    pthread_mutex_unlock(&table.lock);
    return host;
}

void epptok_i_host_release(epptok_i_host *host)
{
    pthread_mutex_lock(&table.lock);
    bool last = --host->references == 0;
    pthread_mutex_unlock(&table.lock);
    if (last) {
        epptok_i_host_destroy(host);
    }
}

void epptok_i_host_leave(epptok_i_host *host)
{
    pthread_mutex_lock(&table.lock);
    table.hosts[host->number % SLOTS] = NULL;
    pthread_mutex_unlock(&table.lock);
    epptok_i_host_release(host);
}
