/* The private child: started, lost, started anew, ended. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "service.h"

static epptok_status open_model(const char *model, uint32_t timeout_ms, epptok **handle, char message[256])
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.model = model;
    options.node_path = RUNTIME_SERVICE;
    options.runtime_path = RUNTIME_SERVICE; /* has to exist; it reads neither */
    options.open_timeout_ms = timeout_ms;
    options.threads = 2;
    options.engine = "vllm";
    return epptok_open(&options, handle, message, 256);
}

static epptok *opened(const char *model)
{
    epptok *handle = NULL;
    char message[256];
    if (open_model(model, 5000, &handle, message) != EPPTOK_OK) {
        FAIL_AT("%s", message);
    }
    CHECK_TEXT(message, "");
    return handle;
}

static epptok_status tokenize(epptok *handle, const char *body, uint32_t timeout_ms, char message[256])
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = body;
    request.length = strlen(body);
    request.timeout_ms = timeout_ms;
    epptok_result *result = NULL;
    epptok_status status = epptok_tokenize(handle, &request, &result);
    if (message != NULL) {
        (void)snprintf(message, 256, "%s", epptok_result_message(result));
    }
    epptok_result_free(&result);
    return status;
}

static void check_served(epptok *handle, uint32_t timeout_ms)
{
    char message[256];
    epptok_status status = tokenize(handle, "abc", timeout_ms, message);
    if (status != EPPTOK_OK) {
        FAIL_AT("%s: %s", epptok_status_name(status), message);
    }
}

/* The children of this process that have not been waited for, zombies included; the last one's id. */
static unsigned children(pid_t *last)
{
    unsigned count = 0;
    DIR *processes = opendir("/proc");
    CHECK(processes != NULL);
    for (struct dirent *entry = readdir(processes); entry != NULL; entry = readdir(processes)) {
        char path[300], text[512] = {0};
        (void)snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file == NULL) {
            continue;
        }
        size_t length = fread(text, 1, sizeof text - 1, file);
        (void)fclose(file);
        const char *after_name = length > 0 ? strrchr(text, ')') : NULL;
        char state;
        long parent;
        if (after_name != NULL && sscanf(after_name + 1, " %c %ld", &state, &parent) == 2 && parent == (long)getpid()) {
            count++;
            if (last != NULL) {
                *last = (pid_t)atol(entry->d_name);
            }
        }
    }
    (void)closedir(processes);
    return count;
}

static void a_call_is_served_and_close_leaves_no_process_behind(void)
{
    epptok *handle = opened("ok");
    CHECK_NUMBER(children(NULL), 1);
    CHECK_STATUS(epptok_ready(handle, 1000), EPPTOK_OK);
    check_served(handle, 0);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK_NUMBER(children(NULL), 0);
    CHECK_STATUS(epptok_close(handle), EPPTOK_INVALID_HANDLE);
}

static void open_waits_until_the_models_are_warm(void)
{
    int64_t start = check_now_ms();
    epptok *handle = opened("slow");
    CHECK(check_now_ms() - start >= 190);
    check_served(handle, 0);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static void a_model_that_cannot_be_loaded_is_named(void)
{
    epptok *handle = (epptok *)1;
    char message[256];
    CHECK_STATUS(open_model("broken", 5000, &handle, message), EPPTOK_INIT_FAILED);
    CHECK(handle == NULL);
    CHECK_NAMES(message, "tokenizer.json is missing");
    CHECK_NUMBER(children(NULL), 0);
}

static void a_child_that_dies_while_it_starts_fails_the_open(void)
{
    epptok *handle = NULL;
    char message[256];
    CHECK_STATUS(open_model("exit", 5000, &handle, message), EPPTOK_INIT_FAILED);
    CHECK_NAMES(message, "exited with code 7");
    CHECK_NUMBER(children(NULL), 0);
}

static void open_has_a_deadline_of_its_own(void)
{
    epptok *handle = NULL;
    char message[256];
    int64_t start = check_now_ms();
    CHECK_STATUS(open_model("never", 1500, &handle, message), EPPTOK_TIMEOUT);
    CHECK(check_now_ms() - start >= 1499 && check_now_ms() - start < 1500 + 10 * SLACK_MS);
    CHECK_NAMES(message, "loading");
    CHECK_NUMBER(children(NULL), 0);
}

/* It would be waited for at close, for two seconds. */
static void a_child_that_takes_no_notice_does_not_hold_up_an_open_that_failed(void)
{
    epptok *handle = NULL;
    char message[256];
    int64_t start = check_now_ms();
    CHECK_STATUS(open_model("deaf", 150, &handle, message), EPPTOK_TIMEOUT);
    CHECK(check_now_ms() - start >= 149 && check_now_ms() - start < 150 + 10 * SLACK_MS);
    CHECK_NUMBER(children(NULL), 0);
}

static void what_is_missing_is_named(void)
{
    epptok *handle = NULL;
    char message[256];
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.model = "ok";
    options.runtime_path = "/nowhere/serve-process.js";
    CHECK_STATUS(epptok_open(&options, &handle, message, sizeof message), EPPTOK_INIT_FAILED);
    CHECK_NAMES(message, "/nowhere/serve-process.js");
    options.runtime_path = RUNTIME_SERVICE;
    options.node_path = "/nowhere/node";
    CHECK_STATUS(epptok_open(&options, &handle, message, sizeof message), EPPTOK_INIT_FAILED);
    CHECK_NAMES(message, "/nowhere/node");
}

static void the_child_inherits_no_descriptor(void)
{
    int leaked = open("/dev/null", O_RDONLY);
    CHECK(leaked >= 0 && fcntl(leaked, F_SETFD, 0) == 0);
    epptok *handle = opened("nosy");
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    (void)close(leaked);
}

static void a_host_without_standard_descriptors_starts_one_too(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)close(0);
        (void)close(1);
        (void)close(2);
        epptok *handle = opened("ok");
        bool untouched = fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 && fcntl(2, F_GETFD) < 0;
        bool served = tokenize(handle, "abc", 0, NULL) == EPPTOK_OK;
        _exit(untouched && served && epptok_close(handle) == EPPTOK_OK ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void what_the_child_says_is_heard_where_the_host_keeps_its_standard_error_to_itself(void)
{
    int heard[2];
    CHECK(pipe(heard) == 0);
    pid_t host = fork();
    CHECK(host >= 0);
    if (host == 0) {
        CHECK(dup2(heard[1], 2) == 2 && fcntl(2, F_SETFD, FD_CLOEXEC) == 0);
        epptok *handle = opened("loud");
        _exit(epptok_close(handle) == EPPTOK_OK ? 0 : 1);
    }
    (void)close(heard[1]);
    char text[64] = {0};
    CHECK(read(heard[0], text, sizeof text - 1) >= 0);
    CHECK_TEXT(text, "loud\n");
    int status = 1;
    CHECK(waitpid(host, &status, 0) == host && status == 0);
    (void)close(heard[0]);
}

/* Dead to the last descriptor; the library may have taken note already. */
static void kill_idle(pid_t pid)
{
    siginfo_t ended;
    CHECK(kill(pid, SIGKILL) == 0);
    while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
}

typedef struct errand {
    epptok *handle;
    epptok_status status;
    char message[256];
    int64_t ended_ms;
    unsigned *begun;
} errand;

static void *wait_for_silence(void *argument)
{
    errand *self = argument;
    (void)__atomic_add_fetch(self->begun, 1, __ATOMIC_SEQ_CST);
    self->status = tokenize(self->handle, "silence", 30000, self->message);
    self->ended_ms = check_now_ms();
    return NULL;
}

static void calls_in_flight_learn_of_a_killed_child_and_the_next_call_has_a_new_one(void)
{
    epptok *handle = opened("ok");
    errand others[8];
    pthread_t threads[8];
    unsigned begun = 0;
    for (unsigned i = 0; i < 8; i++) {
        memset(&others[i], 0, sizeof others[i]);
        others[i].handle = handle;
        others[i].begun = &begun;
        CHECK(pthread_create(&threads[i], NULL, wait_for_silence, &others[i]) == 0);
    }
    CHECK_SOON(__atomic_load_n(&begun, __ATOMIC_SEQ_CST) == 8);
    check_sleep_ms(100);
    pid_t pid = 0;
    CHECK_NUMBER(children(&pid), 1);
    int64_t start = check_now_ms();
    CHECK(kill(pid, SIGKILL) == 0);
    for (unsigned i = 0; i < 8; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK_STATUS(others[i].status, EPPTOK_UNAVAILABLE);
        CHECK(others[i].ended_ms - start < 5000);
        CHECK_NAMES(others[i].message, "killed by signal 9");
    }
    CHECK_NUMBER(children(NULL), 0);
    check_served(handle, 5000);
    pid_t next = 0;
    CHECK_NUMBER(children(&next), 1);
    CHECK(next != pid);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK_NUMBER(children(NULL), 0);
}

static void a_child_that_died_idle_is_replaced_before_the_call(void)
{
    epptok *handle = opened("slow");
    pid_t pid = 0;
    check_served(handle, 5000);
    CHECK_NUMBER(children(&pid), 1);
    kill_idle(pid);
    check_served(handle, 5000);
    CHECK_NUMBER(children(NULL), 1);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK_NUMBER(children(NULL), 0);
}

static void a_child_that_died_idle_is_no_zombie_for_long(void)
{
    epptok *handle = opened("ok");
    pid_t pid = 0;
    CHECK_NUMBER(children(&pid), 1);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK_SOON(children(NULL) == 0);
    check_served(handle, 5000);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static int64_t call_that_restarts(epptok *handle)
{
    pid_t pid = 0;
    CHECK_NUMBER(children(&pid), 1);
    kill_idle(pid);
    int64_t start = check_now_ms();
    CHECK_STATUS(tokenize(handle, "abc", 60, NULL), EPPTOK_TIMEOUT);
    int64_t took = check_now_ms() - start;
    check_served(handle, 5000);
    return took;
}

static void a_restart_does_not_outlast_the_deadline_of_the_call(void)
{
    epptok *handle = opened("slow");
    CHECK_IN_TIME(60 + SLACK_MS, call_that_restarts(handle));
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static int64_t call_that_times_out(epptok *handle)
{
    int64_t start = check_now_ms();
    CHECK_STATUS(tokenize(handle, "abc", 100, NULL), EPPTOK_TIMEOUT);
    int64_t took = check_now_ms() - start;
    CHECK(took >= 99);
    return took;
}

static void a_stopped_child_times_out_and_is_killed_at_close(void)
{
    epptok *handle = opened("ok");
    pid_t pid = 0;
    CHECK_NUMBER(children(&pid), 1);
    CHECK(kill(pid, SIGSTOP) == 0);
    check_sleep_ms(50); /* until all its threads have noticed */
    CHECK_IN_TIME(100 + SLACK_MS, call_that_times_out(handle));
    int64_t start = check_now_ms();
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(check_now_ms() - start < 10000); /* it is given two seconds */
    CHECK_NUMBER(children(NULL), 0);
}

static void *open_and_leave(void *handle)
{
    *(epptok **)handle = opened("ok");
    return NULL;
}

static void the_child_outlives_the_thread_that_started_it(void)
{
    epptok *handle = NULL;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, open_and_leave, &handle) == 0);
    (void)pthread_join(thread, NULL);
    check_sleep_ms(50);
    check_served(handle, 1000);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
}

static int gone(pid_t pid)
{
    for (unsigned i = 0; i < 300 && kill(pid, 0) == 0; i++) {
        check_sleep_ms(10);
    }
    /* Perhaps a zombie of whoever adopts orphans here. */
    char path[64], text[256] = {0};
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 1;
    }
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    const char *after_name = length > 0 ? strrchr(text, ')') : NULL;
    return after_name != NULL && after_name[2] == 'Z';
}

/* A grandchild keeps running without exec: it must not keep the control socket open. */
static void the_child_ends_when_its_host_is_killed_though_a_forked_process_lives_on(void)
{
    int report[2];
    CHECK(pipe(report) == 0);
    pid_t host = fork();
    CHECK(host >= 0);
    if (host == 0) {
        epptok *handle = opened("ok");
        pid_t mine[2] = {0, 0};
        (void)children(&mine[0]);
        mine[1] = fork();
        if (mine[1] == 0) {
            (void)alarm(20);
            int invalid = epptok_ready(handle, 100) == EPPTOK_INVALID_HANDLE;
            for (;;) {
                check_sleep_ms(invalid ? 1000 : 1);
                if (!invalid) {
                    _exit(1);
                }
            }
        }
        (void)!write(report[1], mine, sizeof mine);
        for (;;) {
            (void)pause();
        }
    }
    pid_t theirs[2] = {0, 0};
    CHECK(read(report[0], theirs, sizeof theirs) == (ssize_t)sizeof theirs);
    check_sleep_ms(50);
    CHECK(kill(theirs[0], 0) == 0);
    CHECK(kill(theirs[1], 0) == 0);
    CHECK(kill(host, SIGKILL) == 0);
    CHECK(waitpid(host, NULL, 0) == host);
    CHECK(gone(theirs[0]));
    CHECK(kill(theirs[1], SIGKILL) == 0);
    (void)close(report[0]);
    (void)close(report[1]);
}

static void a_host_that_ignores_its_children_is_served_as_well(void)
{
    CHECK(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    epptok *handle = opened("ok");
    pid_t pid = 0;
    CHECK_NUMBER(children(&pid), 1);
    kill_idle(pid);
    check_served(handle, 5000);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    CHECK(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
    CHECK_NUMBER(children(NULL), 0);
}

static void open_close_and_open_again(void)
{
    for (unsigned i = 0; i < 5; i++) {
        epptok *first = opened("ok");
        epptok *second = opened("ok");
        CHECK(first != second);
        CHECK_STATUS(epptok_close(first), EPPTOK_OK);
        CHECK_STATUS(tokenize(first, "abc", 1000, NULL), EPPTOK_INVALID_HANDLE);
        CHECK_STATUS(tokenize(second, "abc", 1000, NULL), EPPTOK_OK);
        CHECK_STATUS(epptok_close(second), EPPTOK_OK);
    }
}

int main(void)
{
    RUN(a_call_is_served_and_close_leaves_no_process_behind);
    RUN(open_waits_until_the_models_are_warm);
    RUN(a_model_that_cannot_be_loaded_is_named);
    RUN(a_child_that_dies_while_it_starts_fails_the_open);
    RUN(open_has_a_deadline_of_its_own);
    RUN(a_child_that_takes_no_notice_does_not_hold_up_an_open_that_failed);
    RUN(what_is_missing_is_named);
    RUN(the_child_inherits_no_descriptor);
    RUN(a_host_without_standard_descriptors_starts_one_too);
    RUN(what_the_child_says_is_heard_where_the_host_keeps_its_standard_error_to_itself);
    RUN(calls_in_flight_learn_of_a_killed_child_and_the_next_call_has_a_new_one);
    RUN(a_child_that_died_idle_is_replaced_before_the_call);
    RUN(a_child_that_died_idle_is_no_zombie_for_long);
    RUN(a_restart_does_not_outlast_the_deadline_of_the_call);
    RUN(a_stopped_child_times_out_and_is_killed_at_close);
    RUN(the_child_outlives_the_thread_that_started_it);
    RUN(the_child_ends_when_its_host_is_killed_though_a_forked_process_lives_on);
    RUN(a_host_that_ignores_its_children_is_served_as_well);
    RUN(open_close_and_open_again);
    return 0;
}
