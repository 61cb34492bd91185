/* The library can be unloaded after close, and loaded again: it leaves no handler behind. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "loaded.h"

static void the_library_is_loaded_used_and_unloaded_three_times(void)
{
    for (unsigned i = 0; i < 3; i++) {
        loaded library = loaded_from(LIBRARY);
        epptok_options options = EPPTOK_OPTIONS_INIT;
        options.model = "ok";
        options.node_path = RUNTIME_SERVICE;
        options.runtime_path = RUNTIME_SERVICE;
        epptok *handle = NULL;
        char message[256];
        if (library.open(&options, &handle, message, sizeof message) != EPPTOK_OK) {
            FAIL_AT("%s", message);
        }
        epptok_request request = EPPTOK_REQUEST_INIT;
        request.kind = EPPTOK_KIND_TEXT;
        request.body = "abc";
        request.length = 3;
        uint32_t ids[3];
        size_t count = 0;
        CHECK(library.tokenize_into(handle, &request, ids, 3, &count, message, sizeof message) == EPPTOK_OK);
        CHECK_NUMBER(count, 3);
        CHECK(library.close(handle) == EPPTOK_OK);
        CHECK(dlclose(library.image) == 0);
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
