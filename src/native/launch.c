/* Where node and serve-process.js are, and the arguments that options become. */
#define _GNU_SOURCE
#include "absolute.h"
#include "spawn.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
        return epptok_i_absolute("the runtime", path, found, reason);
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

/* Of PATH, which may hold relative folders too; NULL when it is in none, or memory ran out: then the spawn says so. */
static char *on_path(const char *name)
{
    const char *folders = getenv("PATH");
    while (folders != NULL) {
        size_t length = strcspn(folders, ":");
        char *folder = length == 0 ? strdup(".") : strndup(folders, length);
        char *candidate = folder == NULL ? NULL : joined(folder, name);
        free(folder);
        struct stat found;
        if (candidate == NULL ||
            (stat(candidate, &found) == 0 && S_ISREG(found.st_mode) && access(candidate, X_OK) == 0)) {
            return candidate;
        }
        free(candidate);
        folders = folders[length] == ':' ? folders + length + 1 : NULL;
    }
    return NULL;
}

static epptok_status find_node(const epptok_options *options, char **found, epptok_i_reason *reason)
{
    const char *name = given(options->node_path, "EPPTOK_NODE");
    name = name == NULL ? "node" : name;
    if (strchr(name, '/') != NULL) {
        return epptok_i_absolute("node", name, found, reason);
    }
    char *path = on_path(name);
    if (path != NULL) {
        epptok_status status = epptok_i_absolute("node", path, found, reason);
        free(path);
        return status;
    }
    *found = strdup(name);
    return *found == NULL ? epptok_i_out_of_memory(reason) : EPPTOK_OK;
}

/* Owns its words; `failed` once memory ran out. */
typedef struct list {
    char **items;
    size_t count, capacity;
    bool failed;
} list;

static void append(list *to, char *text)
{
    if (to->count + 1 >= to->capacity) {
        size_t capacity = to->capacity == 0 ? 16 : to->capacity * 2;
        char **items = realloc(to->items, capacity * sizeof *items);
        if (items == NULL) {
            free(text);
            to->failed = true;
            return;
        }
        to->items = items;
        to->capacity = capacity;
    }
    to->items[to->count++] = text;
    to->items[to->count] = NULL;
}

/* One word, `--name=value`: a value that begins with '-' is no option. */
static void append_option(list *to, const char *name, const char *value)
{
    size_t length = strlen(name) + 1 + strlen(value) + 1;
    char *word = malloc(length);
    if (word == NULL) {
        to->failed = true;
        return;
    }
    (void)snprintf(word, length, "%s=%s", name, value);
    append(to, word);
}

static void append_number(list *to, const char *name, uint64_t value)
{
    if (value != 0) {
        char digits[24];
        (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
        append_option(to, name, digits);
    }
}

/*
 * `directory` or `name=directory` with an absolute directory, malloc'ed. The runtime takes what is before the first '=' for the
 * name: where a '=' of the current directory would come first, the name that the directory has anyway is written out.
 */
static epptok_status absolute_model(const char *line, char **model, epptok_i_reason *reason)
{
    const char *equals = strchr(line, '=');
    const char *directory = equals == NULL ? line : equals + 1;
    if (*directory == '\0' || equals == line) {
        *model = strdup(line); /* neither of both: the runtime says so */
        return *model == NULL ? epptok_i_out_of_memory(reason) : EPPTOK_OK;
    }
    char *path = NULL;
    epptok_status status = epptok_i_absolute("options.model", directory, &path, reason);
    if (status != EPPTOK_OK) {
        return status;
    }
    size_t end = strlen(line), start;
    while (equals == NULL && end > 0 && line[end - 1] == '/') {
        end--;
    }
    for (start = end; equals == NULL && start > 0 && line[start - 1] != '/';) {
        start--;
    }
    const char *name = equals == NULL ? line + start : line;
    size_t name_length = equals == NULL ? end - start : (size_t)(equals - line);
    if (equals == NULL && (line[0] == '/' || strchr(path, '=') == NULL)) {
        *model = path;
        return EPPTOK_OK;
    }
    if (equals == NULL && (name_length == 0 || strncmp(name, "..", name_length) == 0)) {
        status = epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                  "options.model \"%s\" is relative to %s, which holds '=': write name=directory", line, path);
        free(path);
        return status;
    }
    size_t length = name_length + 1 + strlen(path) + 1;
    *model = malloc(length);
    if (*model != NULL) {
        (void)snprintf(*model, length, "%.*s=%s", (int)name_length, name, path);
    }
    free(path);
    return *model == NULL ? epptok_i_out_of_memory(reason) : EPPTOK_OK;
}

static epptok_status append_models(list *to, const char *models, epptok_i_reason *reason)
{
    size_t count = 0;
    for (const char *rest = models; rest != NULL && *rest != '\0';) {
        size_t length = strcspn(rest, "\n");
        if (length > 0) {
            char *model = NULL, *line = strndup(rest, length);
            epptok_status status = line == NULL ? epptok_i_out_of_memory(reason) : absolute_model(line, &model, reason);
            free(line);
            if (status != EPPTOK_OK) {
                return status;
            }
            append_option(to, "--model", model);
            free(model);
            count++;
        }
        rest += length + (rest[length] == '\n');
    }
    return count > 0 ? EPPTOK_OK
                     : epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                        "options.model names no model directory (needed unless options.socket_path is set)");
}

epptok_status epptok_i_launch_prepare(const epptok_options *options, epptok_i_launch *launch, epptok_i_reason *reason)
{
    memset(launch, 0, sizeof *launch);
    list arguments = {NULL, 0, 0, false};
    epptok_status status = append_models(&arguments, options->model, reason);
    append_number(&arguments, "--threads", options->threads);
    append_number(&arguments, "--max-queue-calls", options->max_queue_calls);
    append_number(&arguments, "--max-queue-bytes", options->max_queue_bytes);
    append_number(&arguments, "--context-length", options->context_length);
    append_number(&arguments, "--transformers", options->transformers);
    if (options->engine != NULL) {
        append_option(&arguments, "--engine", options->engine);
    }
    if ((options->flags & EPPTOK_OPEN_ALLOW_CHAT_TEMPLATE) != 0) {
        char *word = strdup("--allow-chat-template");
        arguments.failed = arguments.failed || word == NULL;
        if (word != NULL) {
            append(&arguments, word);
        }
    }
    launch->arguments = arguments.items;
    if (status == EPPTOK_OK && arguments.failed) {
        status = epptok_i_out_of_memory(reason);
    }
    if (status == EPPTOK_OK) {
        status = find_node(options, &launch->node, reason);
    }
    if (status == EPPTOK_OK) {
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
