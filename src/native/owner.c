/* Hosts that end with a thread. */
#include "host.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct owned {
    struct owned *next;
    uint32_t host;
    epptok *handle;
} owned;

static pthread_key_t thread_end;
static bool thread_end_made;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

/* Hosts and handles are never given the same number twice: what was stopped and closed before is named by nothing. */
static void end_of_thread(void *first)
{
    for (owned *one = first; one != NULL;) {
        owned *next = one->next;
        epptok_host_stop(one->host);
        (void)epptok_close(one->handle);
        free(one);
        one = next;
    }
}

/* A thread that opens and closes for years keeps no list of what is gone. */
static owned *without_stopped(owned *first)
{
    epptok_host_counters unused;
    for (owned **link = &first; *link != NULL;) {
        owned *one = *link;
        if (epptok_host_counters_read(one->host, &unused) == 1) {
            link = &one->next;
        } else {
            *link = one->next;
            free(one);
        }
    }
    return first;
}

static void make_thread_end(void) { thread_end_made = pthread_key_create(&thread_end, end_of_thread) == 0; }

#if defined(__GNUC__)
/* dlclose() would leave a key whose destructor is no longer mapped. */
__attribute__((destructor)) static void delete_thread_end(void)
{
    if (thread_end_made) {
        (void)pthread_key_delete(thread_end);
    }
}
#endif

int32_t epptok_host_end_with_thread(uint32_t host, epptok *handle)
{
    (void)pthread_once(&thread_end_once, make_thread_end);
    owned *one = thread_end_made ? malloc(sizeof *one) : NULL;
    if (one == NULL) {
        return 0;
    }
    one->next = without_stopped(pthread_getspecific(thread_end));
    one->host = host;
    one->handle = handle;
    if (pthread_setspecific(thread_end, one) != 0) {
        /* Only the first one can fail: then there was no list. */
        free(one);
        return 0;
    }
    return 1;
}
