#define _GNU_SOURCE
#include "socket_calls.h"

#include <signal.h>
#include <unistd.h>

#include "check.h"

char socket_folder[] = "/tmp/epptok-socket-test-XXXXXX";
char socket_path[64];

static void broken_pipe(int signal_number)
{
    (void)signal_number;
    _exit(13);
}

void socket_calls_begin(void)
{
    CHECK(mkdtemp(socket_folder) != NULL);
    (void)snprintf(socket_path, sizeof socket_path, "%s/s", socket_folder);
    CHECK(signal(SIGPIPE, broken_pipe) != SIG_ERR);
}

void socket_calls_end(void) { CHECK(rmdir(socket_folder) == 0); }

epptok_status open_at(const char *path, uint32_t flags, epptok **handle, char message[256])
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.socket_path = path;
    options.flags = flags;
    options.open_timeout_ms = 2000;
    return epptok_open(&options, handle, message, 256);
}

epptok *opened(void)
{
    epptok *handle = NULL;
    char message[256];
    if (open_at(socket_path, 0, &handle, message) != EPPTOK_OK) {
        FAIL_AT("%s", message);
    }
    return handle;
}

void *make_call(void *argument)
{
    call *self = argument;
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = self->body;
    request.length = self->length;
    request.call_id = self->call_id;
    request.timeout_ms = self->timeout_ms;
    int64_t start = check_now_ms();
    epptok_result *result = NULL;
    self->status = epptok_tokenize(self->handle, &request, &result);
    self->took_ms = check_now_ms() - start;
    CHECK_STATUS(epptok_result_status(result), self->status);
    CHECK((self->status == EPPTOK_OK) == (epptok_result_message(result)[0] == '\0'));
    (void)snprintf(self->message, sizeof self->message, "%s", epptok_result_message(result));
    (void)epptok_result_ids(result, 0, &self->count);
    if (self->status == EPPTOK_OK) {
        CHECK_NUMBER(epptok_result_transport(result), EPPTOK_TRANSPORT_SOCKET);
    }
    epptok_result_free(&result);
    return NULL;
}

call called(epptok *handle, const char *body, uint64_t call_id, uint32_t timeout_ms)
{
    call one = {handle, body, strlen(body), call_id, timeout_ms, EPPTOK_INTERNAL, "", 0, 0};
    (void)make_call(&one);
    return one;
}
