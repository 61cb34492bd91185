/*
 * epptok - the token ids of an LLM request, exactly as the engine will compute them.
 *
 *     epptok *handle = NULL;
 *     char message[256];
 *     epptok_options options = EPPTOK_OPTIONS_INIT;
 *     options.model = "/models/qwen3";
 *     if (epptok_open(&options, &handle, message, sizeof message) != EPPTOK_OK) { ... message says why ... }
 *
 *     epptok_request request = EPPTOK_REQUEST_INIT;
 *     request.kind = EPPTOK_KIND_CHAT;
 *     request.body = body;            // the raw bytes of the OpenAI-style request
 *     request.length = body_length;
 *     epptok_result *result = NULL;
 *     if (epptok_tokenize(handle, &request, &result) == EPPTOK_OK) {
 *         size_t count;
 *         const uint32_t *ids = epptok_result_ids(result, 0, &count);
 *     }
 *     epptok_result_free(&result);
 *     epptok_close(handle);
 *
 * THREADS. Any thread may call any function, at the same time, on the same handle. A call blocks its own thread only,
 * and never past its deadline. In a child after fork() every handle of the parent is EPPTOK_INVALID_HANDLE.
 * A result belongs to the thread that uses it: do not use one result from two threads at once.
 *
 * OWNERSHIP. What you pass in is borrowed until the call returns. What comes back is one epptok_result per call, owned
 * by the library, freed by epptok_result_free(); everything that an accessor returns lives as long as its result.
 *
 * TEXT is (pointer, length), UTF-8, may contain NUL, and is not NUL-terminated unless a function says so.
 *
 * The library never raises SIGPIPE, installs no signal handler, never exits, aborts or writes to standard output.
 */
#ifndef EPPTOK_H
#define EPPTOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define EPPTOK_API __attribute__((visibility("default")))
#else
#define EPPTOK_API
#endif

/* ---- Version ------------------------------------------------------------------------------------------------- */

#define EPPTOK_VERSION_MAJOR 0
#define EPPTOK_VERSION_MINOR 1
#define EPPTOK_VERSION_PATCH 0
#define EPPTOK_VERSION "0.1.0"

/* Raised when a program built against an older header could no longer be served. */
#define EPPTOK_ABI_VERSION 1u

/* The version of the library that is loaded, which may be another than the header's. Static, NUL-terminated. */
EPPTOK_API const char *epptok_version(void);
EPPTOK_API uint32_t epptok_abi_version(void);

/* ---- Status -------------------------------------------------------------------------------------------------- */

/* Append-only. 0 to 7 keep the numbers of Dynamo's QueryRouterResult. */
typedef enum epptok_status {
    EPPTOK_OK = 0,
    EPPTOK_INVALID_HANDLE = 1,    /* closed, stale, NULL, or of the parent of a fork */
    EPPTOK_INVALID_ARGUMENT = 2,  /* an argument or option of the call itself */
    EPPTOK_INIT_FAILED = 3,       /* the runtime or a model could not be started */
    EPPTOK_TOKENIZE_FAILED = 4,   /* the encoder failed on a valid request */
    EPPTOK_TIMEOUT = 6,           /* the deadline passed; the call has left the queue */
    EPPTOK_BACKPRESSURE = 7,      /* a queue is full; route by load instead */
    EPPTOK_CANCELLED = 8,         /* by epptok_cancel() */
    EPPTOK_UNSUPPORTED = 9,       /* valid, but a construct that cannot be done exactly; the message names it */
    EPPTOK_INVALID_REQUEST = 10,  /* the body: not JSON, not UTF-8, a field missing or of a wrong type */
    EPPTOK_NOT_READY = 11,        /* the models are still loading */
    EPPTOK_UNKNOWN_MODEL = 12,    /* no model of that name is loaded */
    EPPTOK_CONTEXT_TOO_LONG = 13, /* no room for output, or an embedding does not fit; the message has both numbers */
    EPPTOK_UNAVAILABLE = 14,      /* the runtime is lost; to retry is safe */
    EPPTOK_SHUTTING_DOWN = 15,    /* the handle or the runtime is being closed */
    EPPTOK_ABI_MISMATCH = 16,     /* header, library and runtime do not fit */
    EPPTOK_OUT_OF_MEMORY = 17,
    EPPTOK_BUFFER_TOO_SMALL = 18, /* epptok_tokenize_into() only; the count says what is needed */
    EPPTOK_INTERNAL = 19          /* a defect of epptok; please report it */
} epptok_status;

/* "TIMEOUT" for EPPTOK_TIMEOUT, "UNKNOWN_STATUS" for a number that is none. Static, NUL-terminated. */
EPPTOK_API const char *epptok_status_name(epptok_status status);
/* One sentence on what the status means. Static, NUL-terminated. */
EPPTOK_API const char *epptok_status_text(epptok_status status);

/* ---- The simple call ----------------------------------------------------------------------------------------- */

/* A table index with a generation, never an address: a stale copy is found out, not followed. */
typedef struct epptok epptok;
typedef struct epptok_options epptok_options;
typedef struct epptok_request epptok_request;
typedef struct epptok_result epptok_result;

/*
 * Opens a handle and waits until its models are warm, at most options->open_timeout_ms.
 *   options->socket_path NULL: starts a private runtime as a child process, which ends with this process.
 *   options->socket_path set:  attaches to a running `epptok serve --socket path`.
 * On failure *handle is NULL and `message` (may be NULL) holds a NUL-terminated reason, cut to message_capacity.
 */
EPPTOK_API epptok_status epptok_open(const epptok_options *options, epptok **handle, char *message,
                                     size_t message_capacity);

/*
 * Answers the calls in flight with SHUTTING_DOWN, waits for them to return, no longer, and releases the handle.
 * A private runtime ends. NULL and a closed handle are INVALID_HANDLE and otherwise harmless.
 */
EPPTOK_API epptok_status epptok_close(epptok *handle);

/*
 * Tokenizes one request. *result is set on failure too, and then carries the message; it is NULL only when `result`
 * itself is NULL (INVALID_ARGUMENT) or memory ran out. The returned status equals epptok_result_status(*result).
 * Zero token ids is a legal answer.
 */
EPPTOK_API epptok_status epptok_tokenize(epptok *handle, const epptok_request *request, epptok_result **result);

/*
 * The same into memory of the caller: the ids of all sequences, one after the other, and their number in *count.
 * If capacity is too small: BUFFER_TOO_SMALL, *count is what is needed, nothing is written to ids; the second call
 * tokenizes again. `message` (may be NULL) receives a NUL-terminated reason on failure, and "" on success.
 */
EPPTOK_API epptok_status epptok_tokenize_into(epptok *handle, const epptok_request *request, uint32_t *ids,
                                              size_t capacity, size_t *count, char *message,
                                              size_t message_capacity);

/* Text of request->ids, in epptok_result_text(). `body` and `kind` are not read. */
EPPTOK_API epptok_status epptok_detokenize(epptok *handle, const epptok_request *request, epptok_result **result);

/*
 * Makes every call in flight on this handle that carries `call_id` return CANCELLED at once.
 * OK if there was one, INVALID_ARGUMENT if there was none or call_id is 0.
 */
EPPTOK_API epptok_status epptok_cancel(epptok *handle, uint64_t call_id);

/* ---- Options ------------------------------------------------------------------------------------------------- */

typedef enum epptok_transport {
    EPPTOK_TRANSPORT_AUTO = 0,     /* in a Node process: callback on the owner's thread, direct elsewhere; else socket */
    EPPTOK_TRANSPORT_CALLBACK = 1, /* in process, the JavaScript thread that owns the handle */
    EPPTOK_TRANSPORT_DIRECT = 2,   /* in process, any thread */
    EPPTOK_TRANSPORT_SOCKET = 3    /* another process */
} epptok_transport;

/* Accept a socket that belongs to another user. Without it such a socket is refused. */
#define EPPTOK_OPEN_ALLOW_OTHER_USER 1u
/* Private child: take a chat_template from requests. Without it such requests are EPPTOK_UNSUPPORTED. */
#define EPPTOK_OPEN_ALLOW_CHAT_TEMPLATE 2u

/*
 * Start from EPPTOK_OPTIONS_INIT. New fields come at the end; struct_size tells the library which ones you know.
 * A relative path is of the current directory at epptok_open(), which may change later: a private child runs in "/" (with
 * glibc from 2.29, and on macOS).
 */
struct epptok_options {
    size_t struct_size;
    uint32_t abi_version;
    uint32_t flags;               /* EPPTOK_OPEN_* */
    const char *model;            /* private child: model directory, or "name=directory"; several: one per line */
    const char *socket_path;      /* NULL: start a private child */
    const char *runtime_path;     /* serve-process.js; NULL: $EPPTOK_RUNTIME, else beside the library */
    const char *node_path;        /* NULL: $EPPTOK_NODE, else `node` on PATH */
    const char *engine;           /* whose special tokens: "vllm" (NULL) or "dynamo" */
    uint32_t threads;             /* private child: workers, at most 1,024; 0: the cores available */
    uint32_t default_timeout_ms;  /* for calls with timeout_ms 0; 0: 30,000 */
    uint32_t open_timeout_ms;     /* connecting, spawning and loading models; 0: 30,000 */
    uint32_t max_queue_calls;     /* private child: calls waiting before BACKPRESSURE; 0: 1,024 */
    uint64_t max_queue_bytes;     /* private child: bytes waiting before BACKPRESSURE; 0: 256 MiB */
    uint64_t context_length;      /* private child: overrides the model's; 0: the model's own */
    uint32_t transport;           /* epptok_transport; EPPTOK_TRANSPORT in the environment overrides it */
    uint32_t transformers;        /* private child: major version of `transformers` that the engine runs on, where they
                                     differ: 5 ignores add_bos_token; 0: 4 */
};

#define EPPTOK_OPTIONS_INIT                                                                                            \
    { sizeof(epptok_options), EPPTOK_ABI_VERSION, 0u, NULL, NULL, NULL, NULL, NULL, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u }

typedef enum epptok_kind {
    EPPTOK_KIND_AUTO = 0,       /* told by the body: messages, prompt, or input */
    EPPTOK_KIND_CHAT = 1,       /* body of /v1/chat/completions */
    EPPTOK_KIND_COMPLETION = 2, /* body of /v1/completions */
    EPPTOK_KIND_EMBEDDING = 3,  /* body of /v1/embeddings */
    EPPTOK_KIND_TEXT = 4        /* body is the text itself */
} epptok_kind;

#define EPPTOK_WANT_PROMPT 1u         /* return the rendered prompt: epptok_result_prompt() */
#define EPPTOK_ADD_SPECIAL_TOKENS 2u  /* override the kind's default: add */
#define EPPTOK_NO_SPECIAL_TOKENS 4u   /* override the kind's default: do not add */
#define EPPTOK_SKIP_SPECIAL_TOKENS 8u /* epptok_detokenize(): leave special tokens out of the text */

/* Start from EPPTOK_REQUEST_INIT. */
struct epptok_request {
    size_t struct_size;
    uint32_t kind;        /* epptok_kind */
    uint32_t flags;
    const void *body;     /* may be NULL when length is 0 */
    size_t length;        /* bytes */
    const char *model;    /* NUL-terminated name; NULL: the body's "model" if several are loaded, else the only one */
    const uint32_t *ids;  /* epptok_detokenize() only */
    size_t id_count;
    uint64_t call_id;     /* chosen by the caller, for epptok_cancel(); 0: not cancellable */
    uint32_t timeout_ms;  /* of the whole call; 0: the handle's default, never infinite */
    uint32_t reserved;    /* 0 */
};

#define EPPTOK_REQUEST_INIT { sizeof(epptok_request), 0u, 0u, NULL, 0u, NULL, NULL, 0u, 0u, 0u, 0u }

/* ---- Results ------------------------------------------------------------------------------------------------- */

/* Every accessor accepts NULL: status INTERNAL, counts 0, pointers NULL or "" as said. */

EPPTOK_API epptok_status epptok_result_status(const epptok_result *result);
/* Why the call failed, naming the culprit; "" on success. NUL-terminated, never NULL. */
EPPTOK_API const char *epptok_result_message(const epptok_result *result);

/* Sequences: 1 for chat and text, one per prompt for a batch, 0 on failure. */
EPPTOK_API size_t epptok_result_sequence_count(const epptok_result *result);
/* The ids of one sequence, aligned to 4 bytes; *count (may be NULL) is their number. NULL if out of range. */
EPPTOK_API const uint32_t *epptok_result_ids(const epptok_result *result, size_t sequence, size_t *count);

/* The rendered prompt of the first sequence, if WANT_PROMPT was set. NULL if there is none. */
EPPTOK_API const char *epptok_result_prompt(const epptok_result *result, size_t *length);
/* The text of epptok_detokenize(). NULL if there is none. */
EPPTOK_API const char *epptok_result_text(const epptok_result *result, size_t *length);
/* The annotations that the request asked for, one JSON object: {"formatted_prompt": ..., "token_ids": [...]}. NULL if none. */
EPPTOK_API const char *epptok_result_annotations(const epptok_result *result, size_t *length);
/* What was odd but answered, one sentence per line. NULL if none. */
EPPTOK_API const char *epptok_result_warnings(const epptok_result *result, size_t *length);
/* The name of the model that served. NUL-terminated, "" if none did. */
EPPTOK_API const char *epptok_result_model(const epptok_result *result);

typedef enum epptok_provenance {
    EPPTOK_PROVENANCE_NONE = 0,
    EPPTOK_PROVENANCE_TOKENIZED = 1,   /* encoded here */
    EPPTOK_PROVENANCE_PASSTHROUGH = 2, /* the prompt was token ids */
    EPPTOK_PROVENANCE_PRECOMPUTED = 3  /* nvext.token_data */
} epptok_provenance;

EPPTOK_API epptok_provenance epptok_result_provenance(const epptok_result *result);
/* Which transport served: never AUTO for a call that reached one. */
EPPTOK_API epptok_transport epptok_result_transport(const epptok_result *result);
/* "callback", "direct", "socket", or "none". Static, NUL-terminated. */
EPPTOK_API const char *epptok_transport_name(epptok_transport transport);
/* The number of the worker that served, from 1; 0 if none did. */
EPPTOK_API uint32_t epptok_result_worker(const epptok_result *result);

/* Microseconds. */
typedef struct epptok_timings {
    uint32_t queue_us;
    uint32_t parse_us;
    uint32_t template_us;
    uint32_t encode_us;
    uint32_t total_us;      /* queue to answer, as the runtime saw it */
    uint32_t round_trip_us; /* the whole call, as the library saw it */
} epptok_timings;

EPPTOK_API epptok_timings epptok_result_timings(const epptok_result *result);

/* Frees *result and sets it to NULL. `result` and *result may be NULL. */
EPPTOK_API void epptok_result_free(epptok_result **result);

/* ---- Operations ---------------------------------------------------------------------------------------------- */

/*
 * OK if a call could be served now. Otherwise NOT_READY, UNAVAILABLE, TIMEOUT (the runtime does not answer), INIT_FAILED,
 * SHUTTING_DOWN or INVALID_HANDLE. A private runtime that was lost is started again. timeout_ms as in a request.
 */
EPPTOK_API epptok_status epptok_ready(epptok *handle, uint32_t timeout_ms);
/* Metrics in Prometheus text format, in epptok_result_text(). */
EPPTOK_API epptok_status epptok_stats(epptok *handle, uint32_t timeout_ms, epptok_result **result);

#ifdef __cplusplus
}
#endif

#endif
