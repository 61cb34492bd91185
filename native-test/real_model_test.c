/*
 * The real runtime on a real model (Qwen3), as a private child: what it answers, what it refuses and why, and its loss.
 * Golden ids are those of the Rust `tokenizers` package; test/doors holds the same ones.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <epptok.h>

#include "check.h"

static epptok *handle;

static epptok_status call(uint32_t kind, const void *body, size_t length, epptok_result **result)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = kind;
    request.body = body;
    request.length = length;
    request.timeout_ms = 60000;
    return epptok_tokenize(handle, &request, result);
}

static void check_ids(uint32_t kind, const char *body, const uint32_t *expected, size_t count)
{
    epptok_result *result = NULL;
    CHECK_STATUS(call(kind, body, strlen(body), &result), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_sequence_count(result), 1);
    size_t actual = 99;
    const uint32_t *ids = epptok_result_ids(result, 0, &actual);
    CHECK_NUMBER(actual, count);
    for (size_t i = 0; i < count; i++) {
        CHECK_NUMBER(ids[i], expected[i]);
    }
    CHECK_TEXT(epptok_result_message(result), "");
    CHECK_TEXT(epptok_result_model(result), "qwen3");
    epptok_result_free(&result);
}

static void check_refused(uint32_t kind, const char *body, epptok_status status, const char *culprit)
{
    epptok_result *result = NULL;
    CHECK_STATUS(call(kind, body, strlen(body), &result), status);
    CHECK_STATUS(epptok_result_status(result), status);
    CHECK_NAMES(epptok_result_message(result), culprit);
    CHECK_NUMBER(epptok_result_sequence_count(result), 0);
    epptok_result_free(&result);
}

static void a_chat_request_gets_its_ids(void)
{
    static const uint32_t expected[] = {151644, 872, 198, 9707, 1879, 151645, 198, 151644, 77091, 198};
    check_ids(EPPTOK_KIND_CHAT, "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello world\"}]}", expected, 10);
    check_ids(EPPTOK_KIND_AUTO, "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello world\"}]}", expected, 10);
}

static void an_empty_prompt_has_no_tokens(void)
{
    check_ids(EPPTOK_KIND_TEXT, "", NULL, 0);
    check_ids(EPPTOK_KIND_COMPLETION, "{\"prompt\":\"\"}", NULL, 0);
}

static void malformed_bodies_are_refused_by_name(void)
{
    check_refused(EPPTOK_KIND_CHAT, "{\"messages\": [", EPPTOK_INVALID_REQUEST, "JSON");
    check_refused(EPPTOK_KIND_TEXT, "\xff\xfe", EPPTOK_INVALID_REQUEST, "UTF-8");
    check_refused(EPPTOK_KIND_CHAT, "\"\xc3\"", EPPTOK_INVALID_REQUEST, "UTF-8");
    check_refused(EPPTOK_KIND_COMPLETION, "{\"prompt\":\"\\ud800\"}", EPPTOK_INVALID_REQUEST, "surrogate");
    check_refused(EPPTOK_KIND_AUTO, "{}", EPPTOK_INVALID_REQUEST, "messages");
    check_refused(99, "{}", EPPTOK_INVALID_ARGUMENT, "kind");
}

static void null_arguments_are_refused(void)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    epptok_result *result = NULL;
    request.length = 5;
    CHECK_STATUS(epptok_tokenize(handle, &request, NULL), EPPTOK_INVALID_ARGUMENT);
    CHECK_STATUS(epptok_tokenize(handle, NULL, &result), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(epptok_result_message(result), "request");
    epptok_result_free(&result);
    CHECK_STATUS(epptok_tokenize(handle, &request, &result), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(epptok_result_message(result), "body");
    epptok_result_free(&result);
    CHECK_STATUS(epptok_tokenize(NULL, &request, &result), EPPTOK_INVALID_HANDLE);
    epptok_result_free(&result);
}

static void a_prompt_of_10_mb_is_served(void)
{
    static const char line[] = "Hello world\n";
    size_t lines = 873814, length = lines * (sizeof line - 1);
    char *text = malloc(length);
    CHECK(text != NULL);
    for (size_t i = 0; i < lines; i++) {
        memcpy(text + i * (sizeof line - 1), line, sizeof line - 1);
    }
    epptok_result *result = NULL;
    size_t count = 0;
    CHECK_STATUS(call(EPPTOK_KIND_TEXT, text, length, &result), EPPTOK_OK);
    (void)epptok_result_ids(result, 0, &count);
    CHECK_NUMBER(count, 3 * lines);
    epptok_result_free(&result);
    free(text);
}

static void a_template_of_a_request_needs_the_permission(const char *named)
{
    static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello world\"}],"
                               "\"chat_template\":\"{{ messages[0].content }}\"}";
    static const uint32_t expected[] = {9707, 1879};
    check_refused(EPPTOK_KIND_CHAT, body, EPPTOK_UNSUPPORTED, "chat_template");
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.model = named;
    options.threads = 1;
    options.flags = EPPTOK_OPEN_ALLOW_CHAT_TEMPLATE;
    epptok *without = handle;
    char message[512];
    if (epptok_open(&options, &handle, message, sizeof message) != EPPTOK_OK) {
        FAIL_AT("%s", message);
    }
    check_ids(EPPTOK_KIND_CHAT, body, expected, 2);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    handle = without;
}

/* ---- models that cannot be opened ---- */

static void check_cannot_open(const char *directory, const char *culprit)
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.model = directory;
    epptok *none = NULL;
    char message[512];
    CHECK_STATUS(epptok_open(&options, &none, message, sizeof message), EPPTOK_INIT_FAILED);
    CHECK(none == NULL);
    CHECK_NAMES(message, culprit);
}

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0 && fclose(file) == 0);
}

static void a_model_that_is_missing_half_there_or_broken_is_named(void)
{
    char directory[] = "/tmp/epptok-real-XXXXXX", file[300];
    CHECK(mkdtemp(directory) != NULL);
    check_cannot_open("/nowhere/at/all", "/nowhere/at/all");
    write_file(directory, "tokenizer_config.json", "{}");
    check_cannot_open(directory, "tokenizer.json");
    write_file(directory, "tokenizer.json", "{\"model\": ");
    check_cannot_open(directory, "JSON");
    static const char *const names[] = {"tokenizer_config.json", "tokenizer.json"};
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(file, sizeof file, "%s/%s", directory, names[i]);
        CHECK(unlink(file) == 0);
    }
    CHECK(rmdir(directory) == 0);
}

/* ---- the loss of the child, with eight calls in flight ---- */

#define CALLERS 8

static char long_text[4 << 20];
static struct lost {
    pthread_t thread;
    epptok_status status;
    char message[256];
    int64_t at_ms;
} lost[CALLERS];

static void *call_until_lost(void *argument)
{
    struct lost *mine = argument;
    do {
        epptok_result *result = NULL;
        mine->status = call(EPPTOK_KIND_TEXT, long_text, sizeof long_text, &result);
        (void)snprintf(mine->message, sizeof mine->message, "%s", epptok_result_message(result));
        epptok_result_free(&result);
    } while (mine->status == EPPTOK_OK);
    mine->at_ms = check_now_ms();
    return NULL;
}

static pid_t child_of_this_process(void)
{
    char path[64];
    long pid = 0;
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *children = fopen(path, "r");
    if (children != NULL) {
        if (fscanf(children, "%ld", &pid) != 1) {
            pid = 0;
        }
        (void)fclose(children);
    }
    return (pid_t)pid;
}

static void a_killed_child_costs_its_calls_and_no_others(void)
{
    pid_t child = child_of_this_process();
    if (child == 0) {
        printf("# the children of a process cannot be listed here: not run\n");
        return;
    }
    /* Words that are all different keep the workers busy. */
    for (size_t i = 0; i < sizeof long_text; i++) {
        long_text[i] = i % 9 == 8 ? ' ' : (char)('a' + (i * i / 7 + i / 9) % 26);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        CHECK(pthread_create(&lost[i].thread, NULL, call_until_lost, &lost[i]) == 0);
    }
    check_sleep_ms(200);
    int64_t killed_at = check_now_ms();
    CHECK(kill(child, SIGKILL) == 0);
    for (size_t i = 0; i < CALLERS; i++) {
        CHECK(pthread_join(lost[i].thread, NULL) == 0);
        CHECK_STATUS(lost[i].status, EPPTOK_UNAVAILABLE);
        CHECK_NAMES(lost[i].message, "killed by signal 9");
        CHECK(lost[i].at_ms - killed_at < 5000);
    }
    an_empty_prompt_has_no_tokens();
    CHECK(child_of_this_process() != child);
}

int main(void)
{
    const char *model = getenv("EPPTOK_TEST_MODEL");
    CHECK(model != NULL);
    char named[1024], message[512];
    (void)snprintf(named, sizeof named, "qwen3=%s", model);
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.model = named;
    options.threads = 2;
    options.context_length = 10000000;
    if (epptok_open(&options, &handle, message, sizeof message) != EPPTOK_OK) {
        FAIL_AT("%s", message);
    }
    RUN(a_chat_request_gets_its_ids);
    RUN(an_empty_prompt_has_no_tokens);
    RUN(malformed_bodies_are_refused_by_name);
    RUN(null_arguments_are_refused);
    RUN(a_prompt_of_10_mb_is_served);
    a_template_of_a_request_needs_the_permission(named);
    RUN(a_killed_child_costs_its_calls_and_no_others);
    RUN(a_model_that_is_missing_half_there_or_broken_is_named);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    return 0;
}
