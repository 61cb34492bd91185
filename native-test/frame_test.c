/* Frames: what the encoder writes, what the decoder reads, and what it refuses. */
#include <dirent.h>

#include "../src/native/result.h"
#include "check.h"

static const uint32_t NO_WORDS[EPPTOK_I_WORDS] = {0};

static uint8_t *bytes_of(const epptok_i_outgoing *frame)
{
    uint8_t *bytes = malloc(frame->length);
    CHECK(bytes != NULL);
    epptok_i_frame_write(frame, bytes);
    return bytes;
}

static uint32_t u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void a_request_is_laid_out_as_the_protocol_page_says(void)
{
    uint32_t words[EPPTOK_I_WORDS] = {EPPTOK_KIND_CHAT, EPPTOK_WANT_PROMPT, 1500};
    epptok_i_section sections[] = {{EPPTOK_I_MODEL, "qwen3", 5}, {EPPTOK_I_BODY, "{\"a\":[1]}", 9}};
    epptok_i_outgoing frame;
    CHECK(epptok_i_frame_encode(&frame, EPPTOK_I_TOKENIZE, 0x1122334455667788u, words, sections, 2));
    CHECK_NUMBER(frame.length, 64 + 32 + 8 + 16);
    uint8_t *bytes = bytes_of(&frame);
    CHECK(memcmp(bytes, "EPPK\1\0\3\0", 8) == 0);
    CHECK_NUMBER(u32(bytes + 8), frame.length);
    CHECK_NUMBER(u32(bytes + 16), 0x55667788u);
    CHECK_NUMBER(u32(bytes + 24), 2);
    CHECK_NUMBER(u32(bytes + 28), EPPTOK_KIND_CHAT);
    CHECK_NUMBER(u32(bytes + 32), EPPTOK_WANT_PROMPT);
    CHECK_NUMBER(u32(bytes + 36), 1500);
    CHECK(memcmp(bytes + 96, "qwen3\0\0\0", 8) == 0);
    CHECK(memcmp(bytes + 104, "{\"a\":[1]}\0\0\0\0\0\0\0", 16) == 0);
    free(bytes);
}

static void a_body_is_framed_where_it_lies(void)
{
    static const char body[100000] = {0};
    epptok_i_section section = {EPPTOK_I_BODY, body, sizeof body};
    epptok_i_outgoing frame;
    CHECK(epptok_i_frame_encode(&frame, EPPTOK_I_TOKENIZE, 0, NO_WORDS, &section, 1));
    CHECK_NUMBER(frame.part_count, 2);
    CHECK(frame.parts[1].data == body);
}

static void lengths_that_overflow_are_not_encoded(void)
{
    epptok_i_outgoing frame;
    epptok_i_section whole = {EPPTOK_I_BODY, "", SIZE_MAX};
    epptok_i_section most = {EPPTOK_I_BODY, "", SIZE_MAX - 15};
    CHECK(!epptok_i_frame_encode(&frame, EPPTOK_I_TOKENIZE, 0, NO_WORDS, &whole, 1));
    CHECK(!epptok_i_frame_encode(&frame, EPPTOK_I_TOKENIZE, 0, NO_WORDS, &most, 1));
}

/* ---- hostile frames: one good response, one thing changed ---- */

static uint8_t *good_response(size_t *length)
{
    static const uint32_t ids[] = {7, 8, 9}, counts[] = {1, 2};
    epptok_i_section sections[] = {
        {EPPTOK_I_IDS, ids, sizeof ids}, {EPPTOK_I_COUNTS, counts, sizeof counts}, {EPPTOK_I_MODEL, "m", 1}};
    epptok_i_outgoing frame;
    CHECK(epptok_i_frame_encode(&frame, EPPTOK_I_RESPONSE, 5, NO_WORDS, sections, 3));
    *length = frame.length;
    return bytes_of(&frame);
}

static const char *fault_after_change(size_t offset, uint64_t value, size_t bytes)
{
    size_t length;
    uint8_t *frame = good_response(&length);
    epptok_i_incoming incoming;
    CHECK(epptok_i_frame_decode(frame, length, &incoming) == NULL);
    memcpy(frame + offset, &value, bytes);
    const char *fault = epptok_i_frame_decode(frame, length, &incoming);
    free(frame);
    return fault == NULL ? "accepted" : fault;
}

static void a_header_of_another_protocol_is_refused(void)
{
    CHECK_NAMES(fault_after_change(0, 'X', 1), "magic");
    CHECK_NAMES(fault_after_change(4, 2, 2), "version");
    CHECK_NAMES(fault_after_change(4, 0x101, 2), "version");
    CHECK_NAMES(fault_after_change(6, 0, 2), "type");
    CHECK_NAMES(fault_after_change(6, 8, 2), "type");
    CHECK_NAMES(fault_after_change(6, 0x107, 2), "type");
}

static void lengths_that_do_not_add_up_are_refused(void)
{
    size_t length;
    free(good_response(&length));
    CHECK_NAMES(fault_after_change(8, length - 8, 8), "follow its end");
    CHECK_NAMES(fault_after_change(8, length + 8, 8), "cut short");
    CHECK_NAMES(fault_after_change(8, length + 1, 8), "length");
    CHECK_NAMES(fault_after_change(8, 0, 8), "length");
    CHECK_NAMES(fault_after_change(8, UINT64_MAX - 7, 8), "cut short");
    CHECK_NAMES(fault_after_change(24, 17, 4), "too many sections");
    CHECK_NAMES(fault_after_change(24, UINT32_MAX, 4), "too many sections");
    CHECK_NAMES(fault_after_change(24, 2, 4), "fill");
    CHECK_NAMES(fault_after_change(24, 0, 4), "fill");
    /* The table reaches into the sections: their bytes are read as entries. */
    CHECK(strcmp(fault_after_change(24, 5, 4), "accepted") != 0);
    CHECK_NAMES(fault_after_change(24, 16, 4), "hold its header and table");
}

static void section_lengths_that_overflow_are_refused(void)
{
    size_t first = 64 + 8, last = 64 + 32 + 8;
    CHECK_NAMES(fault_after_change(first, UINT64_MAX, 8), "beyond its end");
    CHECK_NAMES(fault_after_change(first, UINT64_MAX - 3, 8), "beyond its end");
    CHECK_NAMES(fault_after_change(last, UINT64_MAX - 127, 8), "beyond its end");
    CHECK_NAMES(fault_after_change(last, 9, 8), "beyond its end");
    CHECK_NAMES(fault_after_change(last, 0, 8), "fill");
    CHECK_NAMES(fault_after_change(first, 13, 8), "4 bytes");
    CHECK_NAMES(fault_after_change(64 + 16 + 8, 7, 8), "4 bytes");
}

static void a_section_stands_once(void)
{
    CHECK_NAMES(fault_after_change(64 + 16, EPPTOK_I_IDS, 4), "twice");
    CHECK_NAMES(fault_after_change(64 + 32, EPPTOK_I_COUNTS, 4), "twice");
}

static void an_unknown_section_is_skipped(void)
{
    CHECK_TEXT(fault_after_change(64 + 32, 77, 4), "accepted");
    CHECK_TEXT(fault_after_change(64 + 32, UINT32_MAX, 4), "accepted");
    CHECK_TEXT(fault_after_change(64 + 32, 0, 4), "accepted");
}

static void every_prefix_of_a_frame_is_refused(void)
{
    size_t length;
    uint8_t *frame = good_response(&length);
    epptok_i_incoming incoming;
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *prefix = malloc(cut + 1); /* its own block, so that a sanitizer sees a read beyond it */
        CHECK(prefix != NULL);
        memcpy(prefix, frame, cut);
        CHECK(epptok_i_frame_decode(prefix, cut, &incoming) != NULL);
        free(prefix);
    }
    free(frame);
}

static void a_header_that_announces_too_much_is_refused_before_anything_is_allocated(void)
{
    size_t length;
    uint8_t *frame = good_response(&length);
    uint64_t announced, huge = EPPTOK_I_MAX_REPLY_BYTES + 8;
    memcpy(frame + 8, &huge, 8);
    CHECK_NAMES(epptok_i_frame_announced(frame, EPPTOK_I_MAX_REPLY_BYTES, &announced), "limit");
    free(frame);
}

/* ---- responses become results ---- */

static void counts_have_to_add_up_to_the_ids(void)
{
    static const uint32_t wrong[][2] = {{1, 1}, {2, 2}, {UINT32_MAX, 4}, {0, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        static const uint32_t ids[] = {7, 8, 9};
        epptok_i_section sections[] = {{EPPTOK_I_IDS, ids, sizeof ids}, {EPPTOK_I_COUNTS, wrong[i], sizeof wrong[i]}};
        epptok_i_outgoing frame;
        CHECK(epptok_i_frame_encode(&frame, EPPTOK_I_RESPONSE, 5, NO_WORDS, sections, 2));
        epptok_i_reply reply = {bytes_of(&frame), frame.length};
        epptok_i_reason reason;
        epptok_result *result = NULL;
        CHECK_STATUS(epptok_i_result_of_reply(&reply, 5, EPPTOK_UNAVAILABLE, &result, &reason), EPPTOK_UNAVAILABLE);
        CHECK_NAMES(reason.text, "counts");
        CHECK(result == NULL && reply.frame != NULL);
        free(reply.frame);
    }
}

static void an_answer_to_another_call_is_refused(void)
{
    epptok_i_reply reply;
    reply.frame = good_response(&reply.length);
    epptok_i_reason reason;
    epptok_result *result = NULL;
    CHECK_STATUS(epptok_i_result_of_reply(&reply, 6, EPPTOK_INTERNAL, &result, &reason), EPPTOK_INTERNAL);
    CHECK_NAMES(reason.text, "another call");
    free(reply.frame);
}

static void ids_are_handed_out_in_place(void)
{
    epptok_i_reply reply;
    reply.frame = good_response(&reply.length);
    const uint8_t *start = reply.frame;
    const uint8_t *end = start + reply.length;
    epptok_i_reason reason;
    epptok_result *result = NULL;
    CHECK_STATUS(epptok_i_result_of_reply(&reply, 5, EPPTOK_INTERNAL, &result, &reason), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_sequence_count(result), 2);
    size_t count;
    const uint32_t *ids = epptok_result_ids(result, 1, &count);
    CHECK(count == 2 && ids[0] == 8 && ids[1] == 9);
    CHECK((const uint8_t *)ids > start && (const uint8_t *)ids < end);
    CHECK(epptok_result_ids(result, 2, &count) == NULL && count == 0);
    CHECK_TEXT(epptok_result_model(result), "m");
    epptok_result_free(&result);
    CHECK(result == NULL);
}

/* ---- golden frames, written by the TypeScript side ---- */

static uint8_t *read_golden(const char *name, size_t *length)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", GOLDEN, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    uint8_t *bytes = malloc(65536);
    CHECK(bytes != NULL);
    *length = fread(bytes, 1, 65536, file);
    (void)fclose(file);
    return bytes;
}

static void a_golden_frame_decodes_and_encodes_to_the_same_bytes(void)
{
    DIR *folder = opendir(GOLDEN);
    unsigned seen = 0;
    CHECK(folder != NULL);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (strstr(entry->d_name, ".bin") == NULL) {
            continue;
        }
        size_t length = 0;
        uint8_t *bytes = read_golden(entry->d_name, &length);
        epptok_i_incoming incoming;
        const char *fault = epptok_i_frame_decode(bytes, length, &incoming);
        if (fault != NULL) {
            FAIL_AT("%s: %s", entry->d_name, fault);
        }
        epptok_i_section sections[EPPTOK_I_MAX_OUTGOING_SECTIONS];
        uint32_t count = u32(bytes + 24);
        for (uint32_t i = 0; i < count; i++) {
            sections[i].tag = u32(bytes + 64 + 16 * i);
            sections[i].data = incoming.sections[sections[i].tag].data;
            sections[i].length = incoming.sections[sections[i].tag].length;
        }
        epptok_i_outgoing frame;
        CHECK(epptok_i_frame_encode(&frame, incoming.type, incoming.call_id, incoming.words, sections, count));
        uint8_t *again = bytes_of(&frame);
        if (frame.length != length || memcmp(bytes, again, length) != 0) {
            FAIL_AT("%s: encodes to other bytes", entry->d_name);
        }
        free(again);
        free(bytes);
        seen++;
    }
    (void)closedir(folder);
    CHECK(seen >= 9);
}

static epptok_result *golden_result(const char *name, uint64_t call_id)
{
    epptok_i_reply reply;
    epptok_i_reason reason;
    epptok_result *result = NULL;
    reply.frame = read_golden(name, &reply.length);
    CHECK(reply.frame != NULL);
    (void)epptok_i_result_of_reply(&reply, call_id, EPPTOK_INTERNAL, &result, &reason);
    CHECK(result != NULL);
    return result;
}

static void the_golden_batch_reads_as_it_was_meant(void)
{
    epptok_result *result = golden_result("response-batch.bin", UINT64_C(0x1122334455667788));
    size_t count, length;
    CHECK_STATUS(epptok_result_status(result), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_sequence_count(result), 3);
    const uint32_t *ids = epptok_result_ids(result, 0, &count);
    CHECK(count == 2 && ids[0] == 9707 && ids[1] == 11);
    CHECK(epptok_result_ids(result, 1, &count) != NULL && count == 0);
    ids = epptok_result_ids(result, 2, &count);
    CHECK(count == 3 && ids[0] == 1879 && ids[1] == 0 && ids[2] == 151645);
    const char *prompt = epptok_result_prompt(result, &length);
    CHECK(length == 31 && memcmp(prompt, "<|im_start|>user\nHi\0<|im_end|>\n", 31) == 0);
    const char *annotations = epptok_result_annotations(result, &length);
    CHECK(length == 23 && memcmp(annotations, "{\"token_ids\":[9707,11]}", 23) == 0);
    const char *warnings = epptok_result_warnings(result, &length);
    CHECK(length == 12 && memcmp(warnings, "first\nsecond", 12) == 0);
    CHECK(epptok_result_text(result, &length) == NULL && length == 0);
    CHECK_TEXT(epptok_result_model(result), "qwen3");
    CHECK_NUMBER(epptok_result_worker(result), 2);
    CHECK_NUMBER(epptok_result_provenance(result), EPPTOK_PROVENANCE_TOKENIZED);
    epptok_timings timings = epptok_result_timings(result);
    CHECK(timings.queue_us == 12 && timings.parse_us == 34 && timings.template_us == 56 && timings.encode_us == 78 &&
          timings.total_us == 180);
    epptok_result_free(&result);
}

static void the_other_golden_responses_read_as_they_were_meant(void)
{
    size_t count, length;
    epptok_result *none = golden_result("response-no-tokens.bin", 1);
    CHECK_STATUS(epptok_result_status(none), EPPTOK_OK);
    CHECK_NUMBER(epptok_result_sequence_count(none), 1);
    CHECK(epptok_result_ids(none, 0, &count) != NULL && count == 0);
    epptok_result_free(&none);

    epptok_result *failed = golden_result("response-failure.bin", 3);
    CHECK_STATUS(epptok_result_status(failed), EPPTOK_CONTEXT_TOO_LONG);
    CHECK_TEXT(epptok_result_message(failed), "5000 ids, the context is 4096");
    CHECK_NUMBER(epptok_result_sequence_count(failed), 0);
    epptok_result_free(&failed);

    epptok_result *text = golden_result("response-text.bin", 4);
    const char *bytes = epptok_result_text(text, &length);
    CHECK(length == 13 && memcmp(bytes, "na\xc3\xafve \xe6\x96\x87\xe5\xad\x97", 13) == 0);
    epptok_result_free(&text);
}

int main(void)
{
    RUN(a_request_is_laid_out_as_the_protocol_page_says);
    RUN(a_body_is_framed_where_it_lies);
    RUN(lengths_that_overflow_are_not_encoded);
    RUN(a_header_of_another_protocol_is_refused);
    RUN(lengths_that_do_not_add_up_are_refused);
    RUN(section_lengths_that_overflow_are_refused);
    RUN(a_section_stands_once);
    RUN(an_unknown_section_is_skipped);
    RUN(every_prefix_of_a_frame_is_refused);
    RUN(a_header_that_announces_too_much_is_refused_before_anything_is_allocated);
    RUN(counts_have_to_add_up_to_the_ids);
    RUN(an_answer_to_another_call_is_refused);
    RUN(ids_are_handed_out_in_place);
    RUN(a_golden_frame_decodes_and_encodes_to_the_same_bytes);
    RUN(the_golden_batch_reads_as_it_was_meant);
    RUN(the_other_golden_responses_read_as_they_were_meant);
    return 0;
}
