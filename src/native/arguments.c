#include "arguments.h"

#include <string.h>

#define KNOWN_OPEN_FLAGS (EPPTOK_OPEN_ALLOW_OTHER_USER | EPPTOK_OPEN_ALLOW_CHAT_TEMPLATE)
#define KNOWN_REQUEST_FLAGS                                                                                            \
    (EPPTOK_WANT_PROMPT | EPPTOK_ADD_SPECIAL_TOKENS | EPPTOK_NO_SPECIAL_TOKENS | EPPTOK_SKIP_SPECIAL_TOKENS)
#define DEFAULT_TIMEOUT_MS 30000u
#define MOST_THREADS 1024u

/* What no caller can do without; whatever a struct of another version lacks after that reads as 0. */
#define LEAST_OPTIONS offsetof(epptok_options, runtime_path)
#define LEAST_REQUEST offsetof(epptok_request, model)

/*
 * Copies as much as both sides know. Fields are only ever added at the end, and a struct's size is a multiple of its
 * pointers', so a size that is not is no struct_size at all.
 */
static epptok_status read_struct(const char *what, const void *given, void *copy, size_t known, size_t least,
                                 epptok_i_reason *reason)
{
    size_t size;
    memset(copy, 0, known);
    if (given == NULL) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "%s is NULL", what);
    }
    memcpy(&size, given, sizeof size);
    if (size < least || size % sizeof(void *) != 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                "%s.struct_size is %zu, which is no size of the struct: start from its _INIT macro", what,
                                size);
    }
    memcpy(copy, given, size < known ? size : known);
    return EPPTOK_OK;
}

epptok_status epptok_i_read_options(const epptok_options *given, epptok_options *options, epptok_i_reason *reason)
{
    epptok_status status = read_struct("options", given, options, sizeof *options, LEAST_OPTIONS, reason);
    if (status != EPPTOK_OK) {
        return status;
    }
    if (options->abi_version != EPPTOK_ABI_VERSION) {
        return epptok_i_because(reason, EPPTOK_ABI_MISMATCH,
                                "the program was built for ABI version %u (options.abi_version), the library has %u",
                                options->abi_version, EPPTOK_ABI_VERSION);
    }
    if ((options->flags & ~KNOWN_OPEN_FLAGS) != 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "options.flags has unknown bits 0x%x",
                                options->flags & ~KNOWN_OPEN_FLAGS);
    }
    if (options->engine != NULL && strcmp(options->engine, "vllm") != 0 && strcmp(options->engine, "dynamo") != 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "options.engine is \"%s\": it can be vllm or dynamo",
                                options->engine);
    }
    if (options->transformers != 0 && options->transformers != 4 && options->transformers != 5) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "options.transformers is %u: it can be 0, 4 or 5",
                                options->transformers);
    }
    if (options->threads > MOST_THREADS) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "options.threads is %u: at most %u can be", options->threads,
                                MOST_THREADS);
    }
    if (options->default_timeout_ms == 0) {
        options->default_timeout_ms = DEFAULT_TIMEOUT_MS;
    }
    if (options->open_timeout_ms == 0) {
        options->open_timeout_ms = DEFAULT_TIMEOUT_MS;
    }
    return EPPTOK_OK;
}

epptok_status epptok_i_read_request(const epptok_request *given, epptok_request *request, epptok_i_reason *reason)
{
    epptok_status status = read_struct("request", given, request, sizeof *request, LEAST_REQUEST, reason);
    if (status != EPPTOK_OK) {
        return status;
    }
    if ((request->flags & ~KNOWN_REQUEST_FLAGS) != 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "request.flags has unknown bits 0x%x",
                                request->flags & ~KNOWN_REQUEST_FLAGS);
    }
    if ((request->flags & EPPTOK_ADD_SPECIAL_TOKENS) != 0 && (request->flags & EPPTOK_NO_SPECIAL_TOKENS) != 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                "request.flags has both ADD_SPECIAL_TOKENS and NO_SPECIAL_TOKENS");
    }
    if (request->reserved != 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "request.reserved is %u, not 0", request->reserved);
    }
    return EPPTOK_OK;
}

epptok_status epptok_i_check_body(const epptok_request *request, epptok_i_reason *reason)
{
    if (request->kind > EPPTOK_KIND_TEXT) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "request.kind is %u, which is no kind", request->kind);
    }
    if (request->body == NULL && request->length > 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "request.body is NULL, but request.length is %zu",
                                request->length);
    }
    return EPPTOK_OK;
}

epptok_status epptok_i_check_ids(const epptok_request *request, epptok_i_reason *reason)
{
    if (request->ids == NULL && request->id_count > 0) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "request.ids is NULL, but request.id_count is %zu",
                                request->id_count);
    }
    if (request->id_count > SIZE_MAX / sizeof(uint32_t)) {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "request.id_count is %zu, more than memory holds",
                                request->id_count);
    }
    return EPPTOK_OK;
}
