/* Why a call failed: one sentence that names the culprit, never a byte of a prompt. */
#ifndef EPPTOK_REASON_H
#define EPPTOK_REASON_H

#include "../../include/epptok.h"

typedef struct epptok_i_reason {
    char text[512];
} epptok_i_reason;

/* Writes the sentence, cut to what fits, and returns `status`: `return epptok_i_because(reason, EPPTOK_..., ...)`. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
epptok_status epptok_i_because(epptok_i_reason *reason, epptok_status status, const char *format, ...);

epptok_status epptok_i_out_of_memory(epptok_i_reason *reason);

/* The system's text for an errno, into `buffer`; strerror() itself is not thread-safe. */
const char *epptok_i_errno_text(int error, char *buffer, size_t capacity);

/* Copies a NUL-terminated sentence into a caller's buffer, which may be NULL, cut on a UTF-8 boundary. */
void epptok_i_hand_out_message(const char *text, char *message, size_t capacity);

#endif
