/*
 * A plugin as a router would load it: it is given an epptok handle and does not know how that handle was obtained. A C
 * program, or a Node script through koffi, loads it and calls these.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <epptok.h>

/* Tokenizes one chat request with tools, prints what came of it under the name of `door`, and decodes the ids back. */
EPPTOK_API int32_t plugin_run(epptok *handle, const char *door);
/* The same, from a thread of its own. */
EPPTOK_API int32_t plugin_run_in_thread(epptok *handle, const char *door);

/*
 * Starts `threads` threads that each make `calls` calls, all at once, and waits for them. How many threads had only OK.
 * workers[i] and statuses[i] (either may be NULL) tell of the last call of thread i.
 */
EPPTOK_API uint32_t plugin_run_on_threads(epptok *handle, uint32_t threads, uint32_t calls, uint32_t kind,
                                          const uint8_t *body, size_t length, uint32_t *workers, uint32_t *statuses);

/* epptok_tokenize_into(), on the caller's thread or on one of its own; *transport is what the result reports. */
EPPTOK_API int32_t plugin_tokenize(epptok *handle, uint32_t in_thread, uint32_t kind, const uint8_t *body,
                                   size_t length, uint32_t *ids, size_t capacity, uint64_t *count,
                                   uint32_t *transport, char *message, size_t message_capacity);

/* Times `count` calls after `warmup` untimed ones, in microseconds. The status of the first that failed, else OK. */
EPPTOK_API int32_t plugin_bench(epptok *handle, uint32_t in_thread, uint32_t kind, const uint8_t *body, size_t length,
                                uint32_t warmup, uint32_t count, double *latencies_us);

#endif
