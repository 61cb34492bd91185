#include "frame.h"

#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ids are handed out in place as they come off the wire, little-endian"
#endif

#define WORDS_OFFSET 28u

static const uint8_t MAGIC[4] = {'E', 'P', 'P', 'K'};
static const uint8_t ZEROS[8] = {0};

static void put32(uint8_t *to, uint32_t value) { memcpy(to, &value, sizeof value); }
static void put64(uint8_t *to, uint64_t value) { memcpy(to, &value, sizeof value); }

static uint32_t get32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint64_t get64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static size_t gap_after(size_t length) { return (8u - (length & 7u)) & 7u; }

bool epptok_i_frame_encode(epptok_i_outgoing *frame, epptok_i_frame_type type, uint64_t call_id,
                           const uint32_t words[EPPTOK_I_WORDS], const epptok_i_section *sections, size_t count)
{
    if (count > EPPTOK_I_MAX_OUTGOING_SECTIONS) {
        return false;
    }
    size_t head_length = EPPTOK_I_HEADER_BYTES + EPPTOK_I_TABLE_ENTRY_BYTES * count;
    memset(frame->head, 0, head_length);
    frame->parts[0].data = frame->head;
    frame->parts[0].length = head_length;
    frame->part_count = 1;
    frame->length = head_length;
    for (size_t i = 0; i < count; i++) {
        uint8_t *entry = frame->head + EPPTOK_I_HEADER_BYTES + EPPTOK_I_TABLE_ENTRY_BYTES * i;
        put32(entry, sections[i].tag);
        put64(entry + 8, sections[i].length);
        size_t gap = gap_after(sections[i].length);
        if (sections[i].length > SIZE_MAX - gap || frame->length > SIZE_MAX - sections[i].length - gap) {
            return false;
        }
        frame->length += sections[i].length + gap;
        if (sections[i].length > 0) {
            frame->parts[frame->part_count].data = sections[i].data;
            frame->parts[frame->part_count++].length = sections[i].length;
        }
        if (gap > 0) {
            frame->parts[frame->part_count].data = ZEROS;
            frame->parts[frame->part_count++].length = gap;
        }
    }
    memcpy(frame->head, MAGIC, sizeof MAGIC);
    frame->head[4] = EPPTOK_I_PROTOCOL_VERSION;
    frame->head[6] = (uint8_t)type;
    put64(frame->head + 8, frame->length);
    put64(frame->head + 16, call_id);
    put32(frame->head + 24, (uint32_t)count);
    for (size_t i = 0; i < EPPTOK_I_WORDS; i++) {
        epptok_i_frame_set_word(frame, i, words[i]);
    }
    return true;
}

void epptok_i_frame_set_word(epptok_i_outgoing *frame, size_t word, uint32_t value)
{
    put32(frame->head + WORDS_OFFSET + 4 * word, value);
}

void epptok_i_frame_write(const epptok_i_outgoing *frame, uint8_t *to)
{
    epptok_i_pieces_write(frame->parts, frame->part_count, 0, to);
}

const char *epptok_i_frame_announced(const uint8_t header[EPPTOK_I_HEADER_BYTES], uint64_t limit, uint64_t *length)
{
    if (memcmp(header, MAGIC, sizeof MAGIC) != 0) {
        return "it does not start with the magic of a frame";
    }
    if (header[4] != EPPTOK_I_PROTOCOL_VERSION || header[5] != 0) {
        return "its protocol version is unknown";
    }
    if (header[6] < EPPTOK_I_HELLO || header[6] > EPPTOK_I_RESPONSE || header[7] != 0) {
        return "its type is unknown";
    }
    *length = get64(header + 8);
    if (*length > limit) {
        return "it is longer than the limit";
    }
    uint32_t sections = get32(header + 24);
    if (sections > EPPTOK_I_MAX_SECTIONS) {
        return "it has too many sections";
    }
    if ((*length & 7u) != 0 || *length < EPPTOK_I_HEADER_BYTES + (uint64_t)EPPTOK_I_TABLE_ENTRY_BYTES * sections) {
        return "its length does not hold its header and table";
    }
    return NULL;
}

const char *epptok_i_frame_decode(const uint8_t *frame, size_t length, epptok_i_incoming *incoming)
{
    if (length < EPPTOK_I_HEADER_BYTES) {
        return "it is shorter than a header";
    }
    uint64_t announced = 0;
    const char *fault = epptok_i_frame_announced(frame, UINT64_MAX, &announced);
    if (fault != NULL) {
        return fault;
    }
    if (announced != length) {
        return announced > length ? "it is cut short" : "bytes follow its end";
    }
    memset(incoming, 0, sizeof *incoming);
    incoming->type = (epptok_i_frame_type)frame[6];
    incoming->call_id = get64(frame + 16);
    for (size_t i = 0; i < EPPTOK_I_WORDS; i++) {
        incoming->words[i] = get32(frame + WORDS_OFFSET + 4 * i);
    }
    uint32_t count = get32(frame + 24);
    const uint8_t *table = frame + EPPTOK_I_HEADER_BYTES;
    size_t offset = EPPTOK_I_HEADER_BYTES + (size_t)EPPTOK_I_TABLE_ENTRY_BYTES * count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t tag = get32(table + (size_t)EPPTOK_I_TABLE_ENTRY_BYTES * i);
        uint64_t bytes = get64(table + (size_t)EPPTOK_I_TABLE_ENTRY_BYTES * i + 8);
        for (uint32_t j = 0; j < i; j++) {
            if (get32(table + (size_t)EPPTOK_I_TABLE_ENTRY_BYTES * j) == tag) {
                return "a section stands in it twice";
            }
        }
        /* offset and length are multiples of 8, so a section that fits fits with its gap. */
        if (bytes > length - offset) {
            return "a section reaches beyond its end";
        }
        if ((tag == EPPTOK_I_IDS || tag == EPPTOK_I_COUNTS) && (bytes & 3u) != 0) {
            return "its ids or counts are not whole numbers of 4 bytes";
        }
        if (tag > 0 && tag < EPPTOK_I_TAGS) {
            incoming->sections[tag].data = frame + offset;
            incoming->sections[tag].length = (size_t)bytes;
        }
        offset += (size_t)bytes + gap_after((size_t)bytes);
    }
    if (offset != length) {
        return "its sections do not fill it";
    }
    return NULL;
}
