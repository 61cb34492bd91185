#include "host_answer.h"

#include <string.h>

#define MAX_MESSAGE 512u

static void write_frame(epptok_i_answer *answer, epptok_i_frame_type type, uint64_t call_id, const uint32_t *words,
                        const epptok_i_section *sections, size_t count)
{
    epptok_i_outgoing frame;
    (void)epptok_i_frame_encode(&frame, type, call_id, words, sections, count);
    epptok_i_frame_write(&frame, answer->bytes);
    answer->length = frame.length;
}

static size_t message_length(const char *message)
{
    size_t length = strlen(message);
    return length > MAX_MESSAGE ? MAX_MESSAGE : length;
}

void epptok_i_answer_call(epptok_i_answer *answer, uint64_t call_id, epptok_status status, const char *message)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_RESPONSE_STATUS] = (uint32_t)status;
    const epptok_i_section section = {EPPTOK_I_MESSAGE, message, message_length(message)};
    write_frame(answer, EPPTOK_I_RESPONSE, call_id, words, &section, section.length == 0 ? 0 : 1);
}

void epptok_i_answer_hello(epptok_i_answer *answer, epptok_status status, const char *message)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_WELCOME_STATUS] = (uint32_t)status;
    words[EPPTOK_I_WELCOME_ABI] = EPPTOK_ABI_VERSION;
    const epptok_i_section sections[] = {
        {EPPTOK_I_TEXT, EPPTOK_VERSION, sizeof EPPTOK_VERSION - 1},
        {EPPTOK_I_MESSAGE, message, message_length(message)},
    };
    write_frame(answer, EPPTOK_I_WELCOME, 0, words, sections, status == EPPTOK_OK ? 1 : 2);
}

unsigned epptok_i_frame_type_of(const uint8_t *header) { return header[6] | (unsigned)header[7] << 8; }

uint64_t epptok_i_frame_call_id(const uint8_t *header)
{
    uint64_t call_id;
    memcpy(&call_id, header + 16, sizeof call_id);
    return call_id;
}

uint32_t epptok_i_frame_ms_left(const uint8_t *header)
{
    uint32_t milliseconds;
    memcpy(&milliseconds, header + 28 + 4 * EPPTOK_I_REQUEST_MS, sizeof milliseconds);
    return milliseconds;
}

bool epptok_i_is_call(const uint8_t *header)
{
    unsigned type = epptok_i_frame_type_of(header);
    return type == EPPTOK_I_TOKENIZE || type == EPPTOK_I_DETOKENIZE || type == EPPTOK_I_STATS || type == EPPTOK_I_READY;
}
