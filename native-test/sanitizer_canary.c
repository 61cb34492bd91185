/* Does the wrong thing that its argument names. A sanitizer that lets it end with 0 (for want of ptrace, say) checks nothing. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int shared;
static char *volatile kept;

static void *increment(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        shared++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "";
    kept = malloc(16);
    if (kept == NULL) {
        return 0;
    }
    if (strcmp(fault, "leak") == 0) {
        kept = NULL;
    } else if (strcmp(fault, "overflow") == 0) {
        kept[16] = 1;
    } else if (strcmp(fault, "undefined") == 0) {
        shared = INT_MAX - 1 + argc;
        shared++;
    } else if (strcmp(fault, "race") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, increment, NULL) == 0) {
            (void)increment(NULL);
            (void)pthread_join(thread, NULL);
        }
    }
    free(kept);
    return 0;
}
