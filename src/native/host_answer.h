/* The frames that the host writes by itself, and the little of a request that it reads. */
#ifndef EPPTOK_HOST_ANSWER_H
#define EPPTOK_HOST_ANSWER_H

#include "../../include/epptok.h"
#include "frame.h"

typedef struct epptok_i_answer {
    uint8_t bytes[768];
    size_t length;
} epptok_i_answer;

/* A RESPONSE without ids. `message` is cut to 512 bytes. */
void epptok_i_answer_call(epptok_i_answer *answer, uint64_t call_id, epptok_status status, const char *message);
void epptok_i_answer_hello(epptok_i_answer *answer, epptok_status status, const char *message);

/* Of a whole header. */
unsigned epptok_i_frame_type_of(const uint8_t *header);
uint64_t epptok_i_frame_call_id(const uint8_t *header);
uint32_t epptok_i_frame_ms_left(const uint8_t *header);
/* A type that a caller may send after HELLO. */
bool epptok_i_is_call(const uint8_t *header);

#endif
