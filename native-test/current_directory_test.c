/* A private child of a host that changes its current directory, or has lost it: paths are what they were at open. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "service.h"

static char folder[] = "/tmp/epptok-directory-test-XXXXXX";

/* bin/node, runtime.js and the models ./here, ./a=b/here, ./-x/here */
static void lay_out(void)
{
    static const char *const made[] = {"bin", "here", "a=b", "a=b/here", "-x", "-x/here"};
    CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        CHECK(mkdir(made[i], 0700) == 0);
    }
    CHECK(symlink(RUNTIME_SERVICE, "bin/node") == 0);
    int file = open("runtime.js", O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0 && close(file) == 0);
}

static void clear_away(void)
{
    static const char *const made[] = {"-x/here", "-x", "a=b/here", "a=b", "here", "bin"};
    CHECK(chdir(folder) == 0 && unlink("bin/node") == 0 && unlink("runtime.js") == 0);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        CHECK(rmdir(made[i]) == 0);
    }
    CHECK(chdir("/") == 0 && rmdir(folder) == 0);
}

static char message[512];

static epptok_status try_to_open(const char *model, const char *node, const char *runtime, epptok **handle)
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.model = model;
    options.node_path = node;
    options.runtime_path = runtime;
    options.open_timeout_ms = 5000;
    options.threads = 2;
    options.engine = "vllm";
    return epptok_open(&options, handle, message, sizeof message);
}

static epptok *opened(const char *model, const char *node, const char *runtime)
{
    epptok *handle = NULL;
    if (try_to_open(model, node, runtime, &handle) != EPPTOK_OK) {
        FAIL_AT("%s: %s", model, message);
    }
    return handle;
}

/* Loses the child, so that the next call has a new one. */
static bool served_by_a_new_child(epptok *handle)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = "die";
    request.length = 3;
    request.timeout_ms = 5000;
    epptok_result *result = NULL;
    CHECK_STATUS(epptok_tokenize(handle, &request, &result), EPPTOK_UNAVAILABLE);
    epptok_result_free(&result);
    request.body = "abc";
    bool served = epptok_tokenize(handle, &request, &result) == EPPTOK_OK;
    (void)snprintf(message, sizeof message, "%s", epptok_result_message(result));
    epptok_result_free(&result);
    return served;
}

static void check_served_from_elsewhere(const char *model, const char *node, const char *runtime)
{
    epptok *handle = opened(model, node, runtime);
    char before[256];
    CHECK(getcwd(before, sizeof before) != NULL && chdir("/") == 0);
    if (!served_by_a_new_child(handle)) {
        FAIL_AT("%s: %s", model, message);
    }
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(chdir(before) == 0);
}

static void relative_paths_stay_what_they_were_at_open(void)
{
    check_served_from_elsewhere("here", "bin/node", "runtime.js");
    check_served_from_elsewhere("name=here", "./bin/node", "./runtime.js");
    check_served_from_elsewhere("one=./bin/../here\n\nother=here", "bin/node", "runtime.js");
}

static void paths_in_the_environment_do_too(void)
{
    CHECK(setenv("EPPTOK_NODE", "bin/node", 1) == 0 && setenv("EPPTOK_RUNTIME", "runtime.js", 1) == 0);
    check_served_from_elsewhere("here", NULL, NULL);
    CHECK(unsetenv("EPPTOK_NODE") == 0 && unsetenv("EPPTOK_RUNTIME") == 0);
}

static void so_does_a_relative_folder_on_path(void)
{
    char before[4096];
    (void)snprintf(before, sizeof before, "%s", getenv("PATH"));
    CHECK(setenv("PATH", "/nowhere:here:bin", 1) == 0);
    check_served_from_elsewhere("here", NULL, "runtime.js");
    CHECK(setenv("PATH", "/nowhere:", 1) == 0 && chdir("bin") == 0);
    check_served_from_elsewhere("../here", NULL, "../runtime.js");
    CHECK(setenv("PATH", before, 1) == 0 && chdir(folder) == 0);
}

static void a_model_that_begins_with_a_dash_is_no_option(void)
{
    check_served_from_elsewhere("-x/here", "bin/node", "runtime.js");
    check_served_from_elsewhere("-x=here", "bin/node", "runtime.js");
}

/* The runtime takes what is before the first '=' for the name. */
static void an_equals_sign_in_the_current_directory_is_no_name(void)
{
    CHECK(chdir("a=b") == 0);
    check_served_from_elsewhere("here", "../bin/node", "../runtime.js");
    check_served_from_elsewhere("./here//", "../bin/node", "../runtime.js");
    check_served_from_elsewhere("name=here", "../bin/node", "../runtime.js");
    epptok *handle = NULL;
    CHECK_STATUS(try_to_open(".", "../bin/node", "../runtime.js", &handle), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.model \".\"");
    CHECK_STATUS(try_to_open("here/..", "../bin/node", "../runtime.js", &handle), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.model \"here/..\"");
    CHECK(chdir(folder) == 0);
}

static void a_current_directory_that_was_removed_is_not_needed_for_absolute_paths(void)
{
    char model[64], node[64], runtime[64];
    (void)snprintf(model, sizeof model, "%s/here", folder);
    (void)snprintf(node, sizeof node, "%s/bin/node", folder);
    (void)snprintf(runtime, sizeof runtime, "%s/runtime.js", folder);
    CHECK(mkdir("gone", 0700) == 0 && chdir("gone") == 0 && rmdir("../gone") == 0);
    epptok *handle = opened(model, node, runtime);
    CHECK(served_by_a_new_child(handle));
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK_STATUS(try_to_open("here", node, runtime, &handle), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.model \"here\" is relative");
    CHECK_STATUS(try_to_open(model, "bin/node", runtime, &handle), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "\"bin/node\" is relative");
    CHECK(handle == NULL && chdir(folder) == 0);
}

int main(void)
{
    lay_out();
    RUN(relative_paths_stay_what_they_were_at_open);
    RUN(paths_in_the_environment_do_too);
    RUN(so_does_a_relative_folder_on_path);
    RUN(a_model_that_begins_with_a_dash_is_no_option);
    RUN(an_equals_sign_in_the_current_directory_is_no_name);
    RUN(a_current_directory_that_was_removed_is_not_needed_for_absolute_paths);
    clear_away();
    return 0;
}
