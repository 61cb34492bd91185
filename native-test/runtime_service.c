/*
 * Stands in for `node serve-process.js` in tests: takes the same arguments, each as one word, serves with service.c. What it
 * does is told by the last part of the directory in --model:
 *
 *     ok            ready at once                  slow        ready after 200 ms
 *     broken        INIT_FAILED, with a message    exit        exits with code 7 before it serves
 *     never         stays NOT_READY                nosy        exits with code 8 if it finds a descriptor above 3
 *     loud          says so on standard error      deaf        takes no notice of its control descriptor
 *     here          exits with code 6 unless it finds the model's directory and runs in the root directory
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
    if (argc < 2 || access(argv[1], R_OK) != 0) {
        return 10; /* the runtime's file */
    }
    for (int i = 2; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (strncmp(argv[i], "--", 2) != 0 || value == NULL) {
            return 11;
        }
        value++;
        if (strncmp(argv[i], "--control-fd=", (size_t)(value - argv[i])) == 0) {
            control = atoi(value);
        } else if (strncmp(argv[i], "--parent=", (size_t)(value - argv[i])) == 0) {
            parent = atol(value);
        } else if (strncmp(argv[i], "--model=", (size_t)(value - argv[i])) == 0) {
            model = value;
        }
    }
    /* As the runtime reads it: what is before the first '=' is a name. */
    const char *equals = strchr(model, '=');
    const char *directory = equals == NULL ? model : equals + 1;
    const char *slash = strrchr(directory, '/');
    model = slash == NULL ? directory : slash + 1;
    if (control != 3 || parent != (long)getppid()) {
        return 9;
    }
    if (strcmp(model, "exit") == 0) {
        return 7;
    }
    if (strcmp(model, "here") == 0) {
        char current[8];
        if (access(directory, R_OK) != 0 || getcwd(current, sizeof current) == NULL || strcmp(current, "/") != 0) {
            return 6;
        }
    }
    if (strcmp(model, "deaf") == 0) {
        (void)alarm(20);
        for (;;) {
            (void)pause();
        }
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
