/* The one table of statuses: name, number (as in epptok.h), and what it means. */
#ifndef EPPTOK_STATUS_H
#define EPPTOK_STATUS_H

#define EPPTOK_I_STATUS_MAP(X)                                                                                         \
    X(OK, 0, "success")                                                                                                \
    X(INVALID_HANDLE, 1, "the handle is closed, stale, NULL, or belongs to the parent of a fork")                      \
    X(INVALID_ARGUMENT, 2, "an argument or option of the call is not valid")                                           \
    X(INIT_FAILED, 3, "the runtime or a model could not be started")                                                   \
    X(TOKENIZE_FAILED, 4, "the encoder failed on a valid request")                                                     \
    X(TIMEOUT, 6, "the deadline passed before an answer came")                                                         \
    X(BACKPRESSURE, 7, "a queue is full")                                                                              \
    X(CANCELLED, 8, "the call was cancelled")                                                                          \
    X(UNSUPPORTED, 9, "the request or model uses a construct that cannot be done exactly")                             \
    X(INVALID_REQUEST, 10, "the body is not a valid request")                                                          \
    X(NOT_READY, 11, "the models are still loading")                                                                   \
    X(UNKNOWN_MODEL, 12, "no model of that name is loaded")                                                            \
    X(CONTEXT_TOO_LONG, 13, "the prompt does not fit the context length of the model")                                 \
    X(UNAVAILABLE, 14, "the runtime is lost; to retry is safe")                                                        \
    X(SHUTTING_DOWN, 15, "the handle or the runtime is being closed")                                                  \
    X(ABI_MISMATCH, 16, "header, library and runtime do not fit together")                                             \
    X(OUT_OF_MEMORY, 17, "memory ran out")                                                                             \
    X(BUFFER_TOO_SMALL, 18, "the buffer is too small for the ids")                                                     \
    X(INTERNAL, 19, "a defect of epptok; please report it")

#endif
