/* A test is a function; CHECK says what did not hold and goes on. */
#ifndef HOST_CHECK_H
#define HOST_CHECK_H

#include <stdio.h>
#include <string.h>

static int host_check_failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            host_check_failures++;                                                                                     \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
        }                                                                                                              \
    } while (0)

#define CHECK_TEXT(text, part)                                                                                         \
    do {                                                                                                               \
        const char *host_check_text = (text);                                                                          \
        if (strstr(host_check_text, (part)) == NULL) {                                                                 \
            host_check_failures++;                                                                                     \
            fprintf(stderr, "%s:%d: \"%s\" does not contain \"%s\"\n", __FILE__, __LINE__, host_check_text, (part));   \
        }                                                                                                              \
    } while (0)

typedef struct host_check_test {
    const char *name;
    void (*run)(void);
} host_check_test;

/* Runs the tests whose names contain argv[1], or all. The result of main(). */
static inline int host_check_run(const host_check_test *tests, size_t count, int argc, char **argv)
{
    size_t ran = 0;
    for (size_t i = 0; i < count; i++) {
        if (argc > 1 && strstr(tests[i].name, argv[1]) == NULL) {
            continue;
        }
        int before = host_check_failures;
        tests[i].run();
        printf("%s - %s\n", host_check_failures == before ? "ok" : "not ok", tests[i].name);
        fflush(stdout);
        ran++;
    }
    printf("%zu tests, %d failures\n", ran, host_check_failures);
    return host_check_failures != 0 || ran == 0;
}

#endif
