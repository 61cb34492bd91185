/*
 * Many calls on one handle, however it was obtained, each answer compared with the first one for the same body. For a C
 * program (load_client.c), and through koffi for a Node host.
 */
#ifndef LOAD_H
#define LOAD_H

#include <epptok.h>

#define LOAD_STATUSES 32u
#define LOAD_SIZES 4u
#define LOAD_FRESH 65536u

typedef struct load_plan {
    uint32_t threads;            /* 0: the calling thread alone */
    uint32_t timeout_ms;         /* of each call */
    uint64_t calls;              /* in all; 0: until seconds have passed */
    double seconds;              /* 0: until the calls are made */
    uint32_t sizes[LOAD_SIZES];  /* bytes of the bodies, taken in turn; 0: none */
    double per_second;           /* calls of each thread, at even intervals; 0: one after the other */
    uint32_t fresh;              /* 1: words that no cache has seen in each body of up to LOAD_FRESH bytes; no ids to compare */
} load_plan;

typedef struct load_report {
    uint64_t calls, wrong;       /* wrong: OK, with other ids than the same body had before */
    uint64_t statuses[LOAD_STATUSES];
    uint64_t transports[4];
    double p50_us, p99_us, longest_us;
} load_report;

/* Returns when all threads have. A status other than OK does not end the run. */
EPPTOK_API void load_run(epptok *handle, const load_plan *plan, load_report *report);

#endif
