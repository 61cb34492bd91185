/*
 * Stands in for `node serve-process.js` in tests: takes the same arguments, serves with service.c. What it does is told by
 * --model:
 *
 *     ok            ready at once                  slow        ready after 200 ms
 *     broken        INIT_FAILED, with a message    exit        exits with code 7 before it serves
 *     never         stays NOT_READY                nosy        exits with code 8 if it finds a descriptor above 3
 *     loud          says so on standard error
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "check.h"
#include "service.h"

int main(int argc, char **argv)
{
    const char *model = "";
    int control = -1;
    long parent = 0;
    /* argv[1] is the runtime's file. */
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--control-fd") == 0) {
            control = atoi(argv[i + 1]);
        } else if (strcmp(argv[i], "--parent") == 0) {
            parent = atol(argv[i + 1]);
        } else if (strcmp(argv[i], "--model") == 0) {
            model = argv[i + 1];
        }
    }
    if (control != 3 || parent != (long)getppid()) {
        return 9;
    }
    if (strcmp(model, "exit") == 0) {
        return 7;
    }
    if (strcmp(model, "nosy") == 0) {
        for (int descriptor = 4; descriptor < 256; descriptor++) {
            if (fcntl(descriptor, F_GETFD) >= 0) {
                return 8;
            }
        }
    }
    if (strcmp(model, "loud") == 0) {
        fputs("loud\n", stderr);
    }
    service *runtime = service_start(NULL, control, 2, 0);
    if (strcmp(model, "broken") == 0) {
        service_ready(runtime, EPPTOK_INIT_FAILED, "model \"broken\": tokenizer.json is missing");
    } else if (strcmp(model, "never") != 0) {
        if (strcmp(model, "slow") == 0) {
            check_sleep_ms(200);
        }
        service_ready(runtime, EPPTOK_OK, "");
    }
    service_join(runtime);
    return 0;
}
