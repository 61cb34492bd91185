/* The library can be unloaded after close, and loaded again: it leaves no handler behind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epptok.h>

#include "check.h"

typedef struct library {
    void *image;
    epptok_status (*open)(const epptok_options *, epptok **, char *, size_t);
    epptok_status (*tokenize_into)(epptok *, const epptok_request *, uint32_t *, size_t, size_t *, char *, size_t);
    epptok_status (*close)(epptok *);
} library;

static void *find(void *image, const char *symbol)
{
    void *found = dlsym(image, symbol);
    CHECK(found != NULL);
    return found;
}

static library load(void)
{
    library loaded;
    loaded.image = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (loaded.image == NULL) {
        FAIL_AT("%s", dlerror());
    }
    /* As POSIX has it: a data pointer is turned into a function's by way of memory. */
    *(void **)&loaded.open = find(loaded.image, "epptok_open");
    *(void **)&loaded.tokenize_into = find(loaded.image, "epptok_tokenize_into");
    *(void **)&loaded.close = find(loaded.image, "epptok_close");
    return loaded;
}

static void the_library_is_loaded_used_and_unloaded_three_times(void)
{
    for (unsigned i = 0; i < 3; i++) {
        library loaded = load();
        epptok_options options = EPPTOK_OPTIONS_INIT;
        options.model = "ok";
        options.node_path = RUNTIME_SERVICE;
        options.runtime_path = RUNTIME_SERVICE;
        epptok *handle = NULL;
        char message[256];
        if (loaded.open(&options, &handle, message, sizeof message) != EPPTOK_OK) {
            FAIL_AT("%s", message);
        }
        epptok_request request = EPPTOK_REQUEST_INIT;
        request.kind = EPPTOK_KIND_TEXT;
        request.body = "abc";
        request.length = 3;
        uint32_t ids[3];
        size_t count = 0;
        CHECK(loaded.tokenize_into(handle, &request, ids, 3, &count, message, sizeof message) == EPPTOK_OK);
        CHECK_NUMBER(count, 3);
        CHECK(loaded.close(handle) == EPPTOK_OK);
        CHECK(dlclose(loaded.image) == 0);
        CHECK(dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD) == NULL);
        /* A fork handler that had stayed would be called where nothing is any more. */
        pid_t child = fork();
        if (child == 0) {
            _exit(0);
        }
        int status = 1;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

int main(void)
{
    RUN(the_library_is_loaded_used_and_unloaded_three_times);
    return 0;
}
