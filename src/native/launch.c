/* Where node and serve-process.js are, and the arguments that options become. */
#define _GNU_SOURCE
#include "spawn.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the runtime lies when nobody says, from the folder of the library: the npm package, a checkout, then installed trees. */
static const char *const PLACES[] = {
    "../../serve-process.js",
    "../../dist/serve-process.js",
    "epptok/serve-process.js",
    "../share/epptok/serve-process.js",
    "../../share/epptok/serve-process.js",
};

static const char *given(const char *option, const char *variable)
{
    if (option != NULL && option[0] != '\0') {
        return option;
    }
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static char *joined(const char *folder, const char *rest)
{
    size_t length = strlen(folder) + strlen(rest) + 2;
    char *path = malloc(length);
    if (path != NULL) {
        (void)snprintf(path, length, "%s/%s", folder, rest);
    }
    return path;
}

static epptok_status find_runtime(const epptok_options *options, char **found, epptok_i_reason *reason)
{
    const char *path = given(options->runtime_path, "EPPTOK_RUNTIME");
    if (path != NULL) {
        if (access(path, R_OK) != 0) {
            return epptok_i_because(reason, EPPTOK_INIT_FAILED,
                                    "the runtime \"%s\" (options.runtime_path or EPPTOK_RUNTIME) cannot be read", path);
        }
        *found = strdup(path);
        return *found == NULL ? epptok_i_out_of_memory(reason) : EPPTOK_OK;
    }
    Dl_info library;
    char *folder = dladdr((const void *)PLACES, &library) != 0 ? realpath(library.dli_fname, NULL) : NULL;
    char *slash = folder == NULL ? NULL : strrchr(folder, '/');
    if (slash == NULL) {
        free(folder);
        return epptok_i_because(reason, EPPTOK_INIT_FAILED,
                                "the library cannot tell where it lies: set options.runtime_path or EPPTOK_RUNTIME");
    }
    *slash = '\0';
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        char *candidate = joined(folder, PLACES[i]);
        if (candidate == NULL) {
            free(folder);
            return epptok_i_out_of_memory(reason);
        }
        if (access(candidate, R_OK) == 0) {
            free(folder);
            *found = candidate;
            return EPPTOK_OK;
        }
        free(candidate);
    }
    (void)epptok_i_because(reason, EPPTOK_INIT_FAILED,
                           "the runtime serve-process.js is not beside the library in %s: set options.runtime_path or "
                           "EPPTOK_RUNTIME",
                           folder);
    free(folder);
    return EPPTOK_INIT_FAILED;
}

/* Appends copies; false once memory ran out. */
typedef struct list {
    char **items;
    size_t count, capacity;
    bool failed;
} list;

static void append(list *to, const char *text, size_t length)
{
    if (to->count + 1 >= to->capacity) {
        size_t capacity = to->capacity == 0 ? 16 : to->capacity * 2;
        char **items = realloc(to->items, capacity * sizeof *items);
        if (items == NULL) {
            to->failed = true;
            return;
        }
        to->items = items;
        to->capacity = capacity;
    }
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        to->failed = true;
        return;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    to->items[to->count++] = copy;
    to->items[to->count] = NULL;
}

static void append_option(list *to, const char *name, const char *value, size_t length)
{
    append(to, name, strlen(name));
    append(to, value, length);
}

static void append_number(list *to, const char *name, uint64_t value)
{
    if (value != 0) {
        char digits[24];
        int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
        append_option(to, name, digits, (size_t)length);
    }
}

static size_t append_models(list *to, const char *models)
{
    size_t count = 0;
    for (const char *line = models; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length > 0) {
            append_option(to, "--model", line, length);
            count++;
        }
        line += length + (line[length] == '\n');
    }
    return count;
}

epptok_status epptok_i_launch_prepare(const epptok_options *options, epptok_i_launch *launch, epptok_i_reason *reason)
{
    memset(launch, 0, sizeof *launch);
    list arguments = {NULL, 0, 0, false};
    if (options->model == NULL || append_models(&arguments, options->model) == 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                "options.model names no model directory (needed unless options.socket_path is set)");
    }
    append_number(&arguments, "--threads", options->threads);
    append_number(&arguments, "--max-queue-calls", options->max_queue_calls);
    append_number(&arguments, "--max-queue-bytes", options->max_queue_bytes);
    append_number(&arguments, "--context-length", options->context_length);
    append_number(&arguments, "--transformers", options->transformers);
    if (options->engine != NULL) {
        append_option(&arguments, "--engine", options->engine, strlen(options->engine));
    }
    if ((options->flags & EPPTOK_OPEN_ALLOW_CHAT_TEMPLATE) != 0) {
        append(&arguments, "--allow-chat-template", strlen("--allow-chat-template"));
    }
    launch->arguments = arguments.items;
    const char *node = given(options->node_path, "EPPTOK_NODE");
    launch->node = strdup(node == NULL ? "node" : node);
    epptok_status status = EPPTOK_OK;
    if (arguments.failed || launch->node == NULL) {
        status = epptok_i_out_of_memory(reason);
    } else {
        status = find_runtime(options, &launch->runtime, reason);
    }
    if (status != EPPTOK_OK) {
        epptok_i_launch_free(launch);
    }
    return status;
}

void epptok_i_launch_free(epptok_i_launch *launch)
{
    for (size_t i = 0; launch->arguments != NULL && launch->arguments[i] != NULL; i++) {
        free(launch->arguments[i]);
    }
    free(launch->arguments);
    free(launch->runtime);
    free(launch->node);
    memset(launch, 0, sizeof *launch);
}
