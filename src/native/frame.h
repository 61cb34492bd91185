/* Frames (docs/protocol.md) to bytes and back. No I/O, no allocation. */
#ifndef EPPTOK_FRAME_H
#define EPPTOK_FRAME_H

#include "pieces.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EPPTOK_I_PROTOCOL_VERSION 1u
#define EPPTOK_I_HEADER_BYTES 64u
#define EPPTOK_I_TABLE_ENTRY_BYTES 16u
#define EPPTOK_I_MAX_SECTIONS 16u
/* What a library accepts as an answer. A prompt of 64 MiB at one id per byte, with its text, stays below. */
#define EPPTOK_I_MAX_REPLY_BYTES ((uint64_t)1 << 30)

typedef enum epptok_i_frame_type {
    EPPTOK_I_HELLO = 1,
    EPPTOK_I_WELCOME = 2,
    EPPTOK_I_TOKENIZE = 3,
    EPPTOK_I_DETOKENIZE = 4,
    EPPTOK_I_STATS = 5,
    EPPTOK_I_READY = 6,
    EPPTOK_I_RESPONSE = 7
} epptok_i_frame_type;

typedef enum epptok_i_tag {
    EPPTOK_I_MODEL = 1,
    EPPTOK_I_BODY = 2,
    EPPTOK_I_IDS = 3,
    EPPTOK_I_COUNTS = 4,
    EPPTOK_I_MESSAGE = 5,
    EPPTOK_I_PROMPT = 6,
    EPPTOK_I_TEXT = 7,
    EPPTOK_I_ANNOTATIONS = 8,
    EPPTOK_I_WARNINGS = 9
} epptok_i_tag;
#define EPPTOK_I_TAGS 10u

/* The header's u32 fields from offset 28, by their place: HELLO[0] is offset 28, [1] is 32, and so on. */
#define EPPTOK_I_WORDS 9u
enum { EPPTOK_I_HELLO_ABI = 0, EPPTOK_I_HELLO_FEATURES = 1 };
enum { EPPTOK_I_WELCOME_STATUS = 0, EPPTOK_I_WELCOME_ABI = 1, EPPTOK_I_WELCOME_FEATURES = 2 };
enum { EPPTOK_I_REQUEST_KIND = 0, EPPTOK_I_REQUEST_FLAGS = 1, EPPTOK_I_REQUEST_MS = 2 };
enum {
    EPPTOK_I_RESPONSE_STATUS = 0,
    EPPTOK_I_RESPONSE_WORKER = 1,
    EPPTOK_I_RESPONSE_PROVENANCE = 2,
    EPPTOK_I_RESPONSE_QUEUE_US = 3,
    EPPTOK_I_RESPONSE_PARSE_US = 4,
    EPPTOK_I_RESPONSE_TEMPLATE_US = 5,
    EPPTOK_I_RESPONSE_ENCODE_US = 6,
    EPPTOK_I_RESPONSE_TOTAL_US = 7
};

typedef struct epptok_i_section {
    uint32_t tag;
    const void *data;
    size_t length;
} epptok_i_section;

#define EPPTOK_I_MAX_OUTGOING_SECTIONS 9u

/* A frame to send, as pieces that lie where the caller has them: a body is never copied to be framed. Do not copy it: parts[0] is its own head. */
typedef struct epptok_i_outgoing {
    uint8_t head[EPPTOK_I_HEADER_BYTES + EPPTOK_I_TABLE_ENTRY_BYTES * EPPTOK_I_MAX_OUTGOING_SECTIONS];
    epptok_i_bytes parts[1 + 2 * EPPTOK_I_MAX_OUTGOING_SECTIONS];
    size_t part_count;
    size_t length;
} epptok_i_outgoing;

/* False when the lengths overflow. Sections are borrowed as long as `frame` is used. */
bool epptok_i_frame_encode(epptok_i_outgoing *frame, epptok_i_frame_type type, uint64_t call_id,
                           const uint32_t words[EPPTOK_I_WORDS], const epptok_i_section *sections, size_t count);
void epptok_i_frame_set_word(epptok_i_outgoing *frame, size_t word, uint32_t value);
/* The frame as one piece, `frame->length` bytes. */
void epptok_i_frame_write(const epptok_i_outgoing *frame, uint8_t *to);

/* A received frame: views into its buffer, by tag. `data` is NULL for a section that is absent. */
typedef struct epptok_i_incoming {
    epptok_i_frame_type type;
    uint64_t call_id;
    uint32_t words[EPPTOK_I_WORDS];
    epptok_i_bytes sections[EPPTOK_I_TAGS];
} epptok_i_incoming;

/* The length that a header announces. NULL, or what is wrong with it. */
const char *epptok_i_frame_announced(const uint8_t header[EPPTOK_I_HEADER_BYTES], uint64_t limit, uint64_t *length);
/* Decodes a whole frame. NULL, or what is wrong with it; then nothing of `incoming` may be used. */
const char *epptok_i_frame_decode(const uint8_t *frame, size_t length, epptok_i_incoming *incoming);

#endif
