/* A test is a function, named after what it shows. The first thing that does not hold ends the program, naming itself. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *check_running __attribute__((unused)) = "";

#define FAIL_AT(...)                                                                                                   \
    (fprintf(stderr, "not ok - %s\n%s:%d: ", check_running, __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__),         \
     fputc('\n', stderr), fflush(NULL), _Exit(1))

#define CHECK(condition) ((condition) ? (void)0 : (void)FAIL_AT("does not hold: %s", #condition))

#define CHECK_NUMBER(actual, expected)                                                                                 \
    do {                                                                                                               \
        unsigned long long check_actual = (unsigned long long)(actual), check_expected = (unsigned long long)(expected); \
        if (check_actual != check_expected) {                                                                          \
            FAIL_AT("%s is %llu, not %llu", #actual, check_actual, check_expected);                                    \
        }                                                                                                              \
    } while (0)

#define CHECK_STATUS(actual, expected)                                                                                 \
    do {                                                                                                               \
        epptok_status check_actual = (actual);                                                                         \
        if (check_actual != (expected)) {                                                                              \
            FAIL_AT("%s is %s, not %s", #actual, epptok_status_name(check_actual), epptok_status_name(expected));      \
        }                                                                                                              \
    } while (0)

#define CHECK_TEXT(actual, expected)                                                                                   \
    do {                                                                                                               \
        const char *check_actual = (actual), *check_expected = (expected);                                             \
        if (strcmp(check_actual, check_expected) != 0) {                                                               \
            FAIL_AT("%s is \"%s\", not \"%s\"", #actual, check_actual, check_expected);                                \
        }                                                                                                              \
    } while (0)

#define CHECK_NAMES(actual, part)                                                                                      \
    do {                                                                                                               \
        const char *check_actual = (actual), *check_part = (part);                                                     \
        if (strstr(check_actual, check_part) == NULL) {                                                                \
            FAIL_AT("%s is \"%s\", which does not name \"%s\"", #actual, check_actual, check_part);                    \
        }                                                                                                              \
    } while (0)

#define RUN(test)                                                                                                      \
    do {                                                                                                               \
        check_running = #test;                                                                                         \
        test();                                                                                                        \
        printf("ok - %s\n", #test);                                                                                    \
        fflush(stdout);                                                                                                \
    } while (0)

static inline int64_t check_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline void check_sleep_ms(long ms)
{
    struct timespec pause = {ms / 1000, (ms % 1000) * 1000000};
    (void)nanosleep(&pause, NULL);
}

/*
 * Another thread or process does it soon: in a moment, or after seconds on a machine that is busy with other things. `condition`
 * is looked at until it holds, and not again: it may be what is to be done.
 */
#define CHECK_SOON(condition)                                                                                          \
    do {                                                                                                               \
        int64_t check_until = check_now_ms() + 10000;                                                                  \
        int check_held = (condition);                                                                                  \
        while (!check_held && check_now_ms() < check_until) {                                                          \
            check_sleep_ms(1);                                                                                         \
            check_held = (condition);                                                                                  \
        }                                                                                                              \
        if (!check_held) {                                                                                             \
            FAIL_AT("does not hold, nor will soon: %s", #condition);                                                   \
        }                                                                                                              \
    } while (0)

/*
 * That something is done in time is shown by one of several attempts: such a machine wakes a thread late now and then, which is
 * not the doing of what is tested. `attempt` is an expression: the milliseconds that it took.
 */
#define CHECK_IN_TIME(limit_ms, attempt)                                                                               \
    do {                                                                                                               \
        int64_t check_least = (attempt);                                                                               \
        for (unsigned check_i = 1; check_i < 8 && check_least >= (limit_ms); check_i++) {                              \
            int64_t check_took = (attempt);                                                                            \
            check_least = check_took < check_least ? check_took : check_least;                                         \
        }                                                                                                              \
        if (check_least >= (limit_ms)) {                                                                               \
            FAIL_AT("%s: %lld ms at best, not under %lld", #attempt, (long long)check_least, (long long)(limit_ms));   \
        }                                                                                                              \
    } while (0)

#endif
