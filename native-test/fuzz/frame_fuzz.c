/*
 * Any bytes as a frame: refused, or decoded into views that lie inside them, do not overlap, and encode to the same frame
 * again. Then as the answer to a call, which every accessor must survive.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/native/result.h"

#define MUST(condition) ((condition) ? (void)0 : abort())

static void views_lie_inside(const uint8_t *frame, size_t length, const epptok_i_incoming *decoded)
{
    for (size_t tag = 1; tag < EPPTOK_I_TAGS; tag++) {
        const epptok_i_bytes *section = &decoded->sections[tag];
        if (section->data == NULL) {
            MUST(section->length == 0);
            continue;
        }
        size_t offset = (size_t)((const uint8_t *)section->data - frame);
        MUST(offset >= EPPTOK_I_HEADER_BYTES && offset % 8 == 0);
        MUST(offset <= length && section->length <= length - offset);
        for (size_t other = 1; other < tag; other++) {
            const epptok_i_bytes *second = &decoded->sections[other];
            size_t start = second->data == NULL ? length : (size_t)((const uint8_t *)second->data - frame);
            MUST(start >= offset + section->length || start + second->length <= offset);
        }
    }
}

static void encodes_to_the_same_meaning(const epptok_i_incoming *decoded)
{
    epptok_i_section sections[EPPTOK_I_TAGS];
    size_t count = 0;
    for (uint32_t tag = 1; tag < EPPTOK_I_TAGS; tag++) {
        if (decoded->sections[tag].data != NULL) {
            sections[count].tag = tag;
            sections[count].data = decoded->sections[tag].data;
            sections[count++].length = decoded->sections[tag].length;
        }
    }
    epptok_i_outgoing outgoing;
    epptok_i_incoming again;
    MUST(epptok_i_frame_encode(&outgoing, decoded->type, decoded->call_id, decoded->words, sections, count));
    uint8_t *bytes = malloc(outgoing.length);
    MUST(bytes != NULL);
    epptok_i_frame_write(&outgoing, bytes);
    MUST(epptok_i_frame_decode(bytes, outgoing.length, &again) == NULL);
    MUST(again.type == decoded->type && again.call_id == decoded->call_id);
    MUST(memcmp(again.words, decoded->words, sizeof again.words) == 0);
    for (uint32_t tag = 1; tag < EPPTOK_I_TAGS; tag++) {
        MUST(again.sections[tag].length == decoded->sections[tag].length);
        MUST((again.sections[tag].data == NULL) == (decoded->sections[tag].data == NULL));
        MUST(again.sections[tag].length == 0 ||
             memcmp(again.sections[tag].data, decoded->sections[tag].data, again.sections[tag].length) == 0);
    }
    free(bytes);
}

static volatile uint32_t seen;

static void touch(const void *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        seen += ((const uint8_t *)data)[i];
    }
}

static void every_accessor_survives(const uint8_t *frame, size_t length)
{
    epptok_i_reply reply = {malloc(length == 0 ? 1 : length), length};
    epptok_result *result = NULL;
    epptok_i_reason reason = {{0}};
    uint64_t call_id = 0;
    MUST(reply.frame != NULL);
    memcpy(reply.frame, frame, length);
    if (length >= 24) {
        memcpy(&call_id, frame + 16, sizeof call_id);
    }
    epptok_status status = epptok_i_result_of_reply(&reply, call_id, EPPTOK_UNAVAILABLE, &result, &reason);
    MUST((result == NULL) == (reply.frame != NULL));
    if (result != NULL) {
        MUST(epptok_result_status(result) == status);
        for (size_t i = 0; i <= epptok_result_sequence_count(result); i++) {
            size_t count;
            const uint32_t *ids = epptok_result_ids(result, i, &count);
            touch(ids, count * sizeof *ids);
        }
        size_t bytes;
        const char *(*const sections[])(const epptok_result *, size_t *) = {
            epptok_result_prompt, epptok_result_text, epptok_result_annotations, epptok_result_warnings};
        for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
            const char *text = sections[i](result, &bytes);
            touch(text, bytes);
        }
        touch(epptok_result_message(result), strlen(epptok_result_message(result)));
        touch(epptok_result_model(result), strlen(epptok_result_model(result)));
        touch(epptok_status_name(status), strlen(epptok_status_name(status)));
    }
    epptok_result_free(&result);
    free(reply.frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Memory of its own, aligned as a received frame is: a read beyond the end is seen. */
    uint8_t *frame = malloc(size == 0 ? 1 : size);
    MUST(frame != NULL);
    if (size > 0) {
        memcpy(frame, data, size);
    }
    epptok_i_incoming decoded;
    if (epptok_i_frame_decode(frame, size, &decoded) == NULL) {
        views_lie_inside(frame, size, &decoded);
        encodes_to_the_same_meaning(&decoded);
    }
    every_accessor_survives(frame, size);
    free(frame);
    return 0;
}
