/* What the public functions make of arguments that are wrong, and of structs of other versions. */
#include <stdbool.h>

#include "check.h"
#include "service.h"

static service *runtime;
static epptok *handle;
static char path[] = "/tmp/epptok-arguments-test-XXXXXX";
static char socket_path[64];

static void refused(const epptok_request *request, const char *named)
{
    epptok_result *result = NULL;
    CHECK_STATUS(epptok_tokenize(handle, request, &result), EPPTOK_INVALID_ARGUMENT);
    CHECK_STATUS(epptok_result_status(result), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(epptok_result_message(result), named);
    epptok_result_free(&result);
}

static epptok_request text(const char *body)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = body;
    request.length = strlen(body);
    return request;
}

static void what_is_wrong_with_a_request_is_named(void)
{
    epptok_request request = text("abc");
    refused(NULL, "request is NULL");
    request.struct_size = 0;
    refused(&request, "struct_size");
    request.struct_size = 8;
    refused(&request, "struct_size");
    request.struct_size = sizeof request + 3;
    refused(&request, "struct_size");
    request = text("abc");
    request.body = NULL;
    refused(&request, "request.body");
    request = text("abc");
    request.kind = 5;
    refused(&request, "request.kind");
    request = text("abc");
    request.flags = 0x10;
    refused(&request, "request.flags");
    request.flags = EPPTOK_ADD_SPECIAL_TOKENS | EPPTOK_NO_SPECIAL_TOKENS;
    refused(&request, "NO_SPECIAL_TOKENS");
    request = text("abc");
    request.reserved = 1;
    refused(&request, "request.reserved");
    request = text("abc");
    request.length = SIZE_MAX;
    refused(&request, "request.length");
}

static void no_place_for_the_result_is_refused(void)
{
    epptok_request request = text("abc");
    CHECK_STATUS(epptok_tokenize(handle, &request, NULL), EPPTOK_INVALID_ARGUMENT);
    CHECK_STATUS(epptok_detokenize(handle, &request, NULL), EPPTOK_INVALID_ARGUMENT);
    CHECK_STATUS(epptok_stats(handle, 0, NULL), EPPTOK_INVALID_ARGUMENT);
}

static void what_is_wrong_with_ids_is_named(void)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    epptok_result *result = NULL;
    request.id_count = 1;
    CHECK_STATUS(epptok_detokenize(handle, &request, &result), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(epptok_result_message(result), "request.ids");
    epptok_result_free(&result);
    uint32_t id = 65;
    request.ids = &id;
    request.id_count = SIZE_MAX / 2;
    CHECK_STATUS(epptok_detokenize(handle, &request, &result), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(epptok_result_message(result), "request.id_count");
    epptok_result_free(&result);
    /* body and kind are not read. */
    request.id_count = 1;
    request.kind = 99;
    request.length = 5;
    CHECK_STATUS(epptok_detokenize(handle, &request, &result), EPPTOK_OK);
    epptok_result_free(&result);
}

static void no_body_at_all_is_a_body(void)
{
    epptok_request request = text("");
    request.body = NULL;
    epptok_result *result = NULL;
    size_t count = 1;
    CHECK_STATUS(epptok_tokenize(handle, &request, &result), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_sequence_count(result), 1);
    CHECK(epptok_result_ids(result, 0, &count) != NULL && count == 0);
    epptok_result_free(&result);
}

static void a_handle_that_is_none_goes_before_everything_else(void)
{
    static epptok *const none[] = {NULL, (epptok *)1, (epptok *)2, (epptok *)(uintptr_t)0x20001, (epptok *)UINTPTR_MAX,
                                   (epptok *)path};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        epptok *name = none[i] == (epptok *)(uintptr_t)0x20001 ? (epptok *)((uintptr_t)handle + 2) : none[i];
        epptok_result *result = NULL;
        CHECK_STATUS(epptok_tokenize(name, NULL, &result), EPPTOK_INVALID_HANDLE);
        CHECK(epptok_result_message(result)[0] != '\0');
        CHECK_NUMBER(epptok_result_transport(result), EPPTOK_TRANSPORT_AUTO);
        epptok_result_free(&result);
        CHECK_STATUS(epptok_cancel(name, 1), EPPTOK_INVALID_HANDLE);
        CHECK_STATUS(epptok_ready(name, 1), EPPTOK_INVALID_HANDLE);
        CHECK_STATUS(epptok_close(name), EPPTOK_INVALID_HANDLE);
    }
}

static void a_result_that_is_null_has_nothing(void)
{
    size_t length = 1, count = 1;
    epptok_result *none = NULL;
    CHECK_STATUS(epptok_result_status(NULL), EPPTOK_INTERNAL);
    CHECK_TEXT(epptok_result_message(NULL), "");
    CHECK_TEXT(epptok_result_model(NULL), "");
    CHECK_NUMBER(epptok_result_sequence_count(NULL), 0);
    CHECK(epptok_result_ids(NULL, 0, &count) == NULL && count == 0);
    CHECK(epptok_result_prompt(NULL, &length) == NULL && length == 0);
    CHECK(epptok_result_text(NULL, NULL) == NULL);
    CHECK_NUMBER(epptok_result_worker(NULL), 0);
    CHECK_NUMBER(epptok_result_timings(NULL).round_trip_us, 0);
    epptok_result_free(&none);
    epptok_result_free(NULL);
}

/* ---- tokenize_into ---- */

static void ids_of_all_sequences_go_into_the_callers_buffer(void)
{
    uint32_t ids[4] = {9, 9, 9, 9};
    size_t count = 0;
    char message[64] = "x";
    epptok_request request = text("batch");
    CHECK_STATUS(epptok_tokenize_into(handle, &request, ids, 4, &count, message, sizeof message), EPPTOK_OK);
    CHECK(count == 3 && ids[0] == 1 && ids[1] == 2 && ids[2] == 3 && ids[3] == 9);
    CHECK_TEXT(message, "");
}

static void too_small_a_buffer_learns_what_is_needed(void)
{
    uint32_t ids[2] = {9, 9};
    size_t count = 0;
    char message[64];
    epptok_request request = text("batch");
    CHECK_STATUS(epptok_tokenize_into(handle, &request, ids, 2, &count, message, sizeof message),
                 EPPTOK_BUFFER_TOO_SMALL);
    CHECK(count == 3 && ids[0] == 9 && ids[1] == 9);
    CHECK_NAMES(message, "3 ids");
    CHECK_STATUS(epptok_tokenize_into(handle, &request, NULL, 0, &count, NULL, 0), EPPTOK_BUFFER_TOO_SMALL);
    CHECK_NUMBER(count, 3);
    request = text("");
    CHECK_STATUS(epptok_tokenize_into(handle, &request, NULL, 0, &count, NULL, 0), EPPTOK_OK);
    CHECK_NUMBER(count, 0);
}

static void a_failure_brings_its_message_cut_to_what_fits(void)
{
    uint32_t ids[4];
    size_t count = 7;
    char message[8];
    epptok_request request = text("status:10");
    CHECK_STATUS(epptok_tokenize_into(handle, &request, ids, 4, &count, message, sizeof message), EPPTOK_INVALID_REQUEST);
    CHECK_TEXT(message, "as the ");
    CHECK_NUMBER(count, 0);
    CHECK_STATUS(epptok_tokenize_into(handle, &request, NULL, 4, &count, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_STATUS(epptok_tokenize_into(handle, &request, ids, 4, NULL, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
}

/* ---- structs of other versions ---- */

static void a_program_with_smaller_structs_is_served(void)
{
    /* As if `transport` and `reserved`, and `model` and all after it, had not been there yet; what follows is not read. */
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.struct_size = offsetof(epptok_options, transport);
    options.socket_path = socket_path;
    options.transport = 99;
    options.transformers = 99;
    epptok *older = NULL;
    char message[256];
    if (epptok_open(&options, &older, message, sizeof message) != EPPTOK_OK) {
        FAIL_AT("%s", message);
    }
    epptok_request request = text("abc");
    request.struct_size = offsetof(epptok_request, model);
    request.model = (const char *)1;
    request.reserved = 99;
    size_t count = 0;
    uint32_t ids[3];
    CHECK_STATUS(epptok_tokenize_into(older, &request, ids, 3, &count, NULL, 0), EPPTOK_OK);
    CHECK_STATUS(epptok_close(older), EPPTOK_OK);
}

static void a_program_with_larger_structs_is_served(void)
{
    struct {
        epptok_options known;
        uint64_t later[4];
    } options = {EPPTOK_OPTIONS_INIT, {1, 2, 3, 4}};
    struct {
        epptok_request known;
        uint64_t later[4];
    } request = {EPPTOK_REQUEST_INIT, {1, 2, 3, 4}};
    options.known.struct_size = sizeof options;
    options.known.socket_path = socket_path;
    epptok *newer = NULL;
    char message[256];
    CHECK_STATUS(epptok_open(&options.known, &newer, message, sizeof message), EPPTOK_OK);
    request.known = text("abc");
    request.known.struct_size = sizeof request;
    epptok_result *result = NULL;
    CHECK_STATUS(epptok_tokenize(newer, &request.known, &result), EPPTOK_OK);
    epptok_result_free(&result);
    CHECK_STATUS(epptok_close(newer), EPPTOK_OK);
}

/* ---- options ---- */

static void what_is_wrong_with_options_is_named(void)
{
    char message[256];
    epptok *opened = NULL;
    epptok_options options = EPPTOK_OPTIONS_INIT;
    CHECK_STATUS(epptok_open(NULL, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options is NULL");
    CHECK_STATUS(epptok_open(&options, NULL, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "handle");
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.model");
    options.model = "\n\n";
    CHECK_STATUS(epptok_open(&options, &opened, NULL, 0), EPPTOK_INVALID_ARGUMENT);
    options.model = "m";
    options.abi_version = 2;
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_ABI_MISMATCH);
    CHECK_NAMES(message, "abi_version");
    options.abi_version = EPPTOK_ABI_VERSION;
    options.flags = 4;
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.flags");
    options.flags = 0;
    options.engine = "sglang";
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.engine");
    options.engine = NULL;
    options.threads = 1025;
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.threads is 1025: at most 1024");
    options.threads = 1024; /* the next refusal is of something else */
    options.struct_size = 0;
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "struct_size");
    options.struct_size = sizeof options;
    options.transport = EPPTOK_TRANSPORT_DIRECT;
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "direct");
    options.transport = 4;
    CHECK_STATUS(epptok_open(&options, &opened, message, sizeof message), EPPTOK_INVALID_ARGUMENT);
    CHECK_NAMES(message, "options.transport");
    CHECK(opened == NULL);
}

static void names_and_versions_are_told(void)
{
    CHECK_TEXT(epptok_version(), EPPTOK_VERSION);
    CHECK_NUMBER(epptok_abi_version(), EPPTOK_ABI_VERSION);
    CHECK_TEXT(epptok_status_name(EPPTOK_BUFFER_TOO_SMALL), "BUFFER_TOO_SMALL");
    CHECK_TEXT(epptok_status_name((epptok_status)5), "UNKNOWN_STATUS");
    CHECK_TEXT(epptok_status_name((epptok_status)20), "UNKNOWN_STATUS");
    CHECK(epptok_status_text(EPPTOK_TIMEOUT)[0] != '\0' && epptok_status_text((epptok_status)99)[0] != '\0');
    CHECK_TEXT(epptok_transport_name(EPPTOK_TRANSPORT_SOCKET), "socket");
    CHECK_TEXT(epptok_transport_name(EPPTOK_TRANSPORT_AUTO), "none");
}

int main(void)
{
    CHECK(mkdtemp(path) != NULL);
    (void)snprintf(socket_path, sizeof socket_path, "%s/s", path);
    runtime = service_start(socket_path, -1, 1, 1);
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.socket_path = socket_path;
    CHECK_STATUS(epptok_open(&options, &handle, NULL, 0), EPPTOK_OK);
    RUN(what_is_wrong_with_a_request_is_named);
    RUN(no_place_for_the_result_is_refused);
    RUN(what_is_wrong_with_ids_is_named);
    RUN(no_body_at_all_is_a_body);
    RUN(a_handle_that_is_none_goes_before_everything_else);
    RUN(a_result_that_is_null_has_nothing);
    RUN(ids_of_all_sequences_go_into_the_callers_buffer);
    RUN(too_small_a_buffer_learns_what_is_needed);
    RUN(a_failure_brings_its_message_cut_to_what_fits);
    RUN(a_program_with_smaller_structs_is_served);
    RUN(a_program_with_larger_structs_is_served);
    RUN(what_is_wrong_with_options_is_named);
    RUN(names_and_versions_are_told);
    CHECK_STATUS(epptok_close(handle), EPPTOK_OK);
    service_stop(runtime);
    (void)remove(path);
    return 0;
}
