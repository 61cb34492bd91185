/* Bytes from a peer to whole frames. Of the leader (host_lead.h). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_connection.h"
#include "host_io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define HEADER_MS 30000
/* The caller counts its own deadline; what it gave up is closed a little later than that, not earlier. */
#define GRACE_MS 1000
#define MAX_HELLO_BYTES 4096u
#define FIRST_CAPACITY (2u * EPPTOK_I_SCRATCH_BYTES)
#define GROWTH 4u
/* One peer that sends without end must not hold up the others. */
#define READS_IN_A_ROW 16

static bool refuse(epptok_i_connection *connection)
{
    pthread_mutex_lock(&connection->host->lock);
    connection->host->counters.bad_frames++;
    pthread_mutex_unlock(&connection->host->lock);
    return false;
}

static bool refuse_hello(epptok_i_connection *connection, const char *message)
{
    epptok_i_answer answer;
    epptok_i_answer_hello(&answer, EPPTOK_ABI_MISMATCH, message);
    (void)epptok_i_connection_send_answer(connection, &answer);
    return refuse(connection);
}

/* Makes room for `capacity` bytes, or turns to discarding. */
static void reserve(epptok_i_connection *connection, size_t capacity, bool whole)
{
    epptok_i_io *io = connection->host->io;
    size_t reserved = whole ? 0 : capacity;
    uint8_t *frame = NULL;
    if (whole || io->partial_bytes - connection->reserved + reserved <= connection->host->max_queue_bytes) {
        frame = realloc(connection->frame, capacity);
    }
    if (frame == NULL) {
        free(connection->frame);
        connection->discards = true;
        reserved = capacity = 0;
    }
    io->partial_bytes += reserved;
    io->partial_bytes -= connection->reserved;
    connection->reserved = reserved;
    connection->frame = frame;
    connection->capacity = capacity;
}

static bool check_header(epptok_i_connection *connection, uint64_t *length)
{
    const uint8_t *header = connection->header;
    char message[160];
    if (!connection->greeted && memcmp(header, "EPPK", 4) == 0 &&
        (header[4] | header[5] << 8) != EPPTOK_I_PROTOCOL_VERSION) {
        snprintf(message, sizeof message, "the library speaks protocol version %d, this runtime speaks %u",
                 header[4] | header[5] << 8, EPPTOK_I_PROTOCOL_VERSION);
        return refuse_hello(connection, message);
    }
    if (epptok_i_frame_announced(header, UINT64_MAX, length) != NULL) {
        return refuse(connection);
    }
    if (!connection->greeted) {
        bool hello = epptok_i_frame_type_of(header) == EPPTOK_I_HELLO && *length <= MAX_HELLO_BYTES;
        return hello || refuse(connection);
    }
    if (!epptok_i_is_call(header)) {
        return refuse(connection);
    }
    if (*length > connection->host->max_frame_bytes || *length > SIZE_MAX) {
        epptok_i_explain_limit(connection->host, *length, message, sizeof message);
        (void)epptok_i_connection_answer(connection, epptok_i_frame_call_id(header), EPPTOK_INVALID_REQUEST, message);
        return refuse(connection);
    }
    return true;
}

static void begin_frame(epptok_i_connection *connection, size_t available)
{
    size_t here = EPPTOK_I_HEADER_BYTES + available;
    bool whole = here >= connection->length;
    size_t capacity = here > FIRST_CAPACITY ? here : FIRST_CAPACITY;
    reserve(connection, whole || capacity > connection->length ? connection->length : capacity, whole);
    if (!connection->discards) {
        memcpy(connection->frame, connection->header, EPPTOK_I_HEADER_BYTES);
    }
}

static bool greet(epptok_i_connection *connection, uint8_t *frame, size_t length)
{
    epptok_i_incoming hello;
    bool sound = epptok_i_frame_decode(frame, length, &hello) == NULL;
    free(frame);
    if (!sound) {
        return refuse(connection);
    }
    if (hello.words[EPPTOK_I_HELLO_ABI] != EPPTOK_ABI_VERSION) {
        char message[160];
        snprintf(message, sizeof message, "the library has ABI version %" PRIu32 ", this runtime has %u",
                 hello.words[EPPTOK_I_HELLO_ABI], EPPTOK_ABI_VERSION);
        return refuse_hello(connection, message);
    }
    connection->greeted = true;
    epptok_i_answer answer;
    epptok_i_answer_hello(&answer, EPPTOK_OK, "");
    return epptok_i_connection_send_answer(connection, &answer) == 1;
}

static bool end_frame(epptok_i_connection *connection)
{
    epptok_i_host *host = connection->host;
    uint8_t *frame = connection->frame;
    bool discarded = connection->discards;
    connection->frame = NULL;
    connection->discards = false;
    connection->received = connection->capacity = 0;
    host->io->partial_bytes -= connection->reserved;
    connection->reserved = 0;
    epptok_i_connection_clear_timer(connection);
    if (!discarded) {
        if (!connection->greeted) {
            return greet(connection, frame, connection->length);
        }
        return epptok_i_connection_call(connection, frame, connection->length, connection->first_byte_ns, false);
    }
    char message[160];
    snprintf(message, sizeof message,
             "%" PRIu64 " bytes of other calls are coming in and this call has %zu, the limit is %" PRIu64,
             host->io->partial_bytes, connection->length, host->max_queue_bytes);
    pthread_mutex_lock(&host->lock);
    host->counters.refused_backpressure++;
    pthread_mutex_unlock(&host->lock);
    return epptok_i_connection_answer(connection, epptok_i_frame_call_id(connection->header), EPPTOK_BACKPRESSURE,
                                      message) == 1;
}

static bool breaks_in(epptok_i_connection *connection)
{
    if (__atomic_load_n(&connection->output_waits, __ATOMIC_ACQUIRE)) {
        return true;
    }
    pthread_mutex_lock(&connection->host->lock);
    bool busy = connection->job != NULL;
    pthread_mutex_unlock(&connection->host->lock);
    return busy;
}

static void limit_time(epptok_i_connection *connection)
{
    int64_t ms = HEADER_MS;
    if (connection->received >= EPPTOK_I_HEADER_BYTES && connection->greeted) {
        ms = (int64_t)epptok_i_frame_ms_left(connection->header) + GRACE_MS;
    }
    if (connection->greeted) {
        epptok_i_connection_set_timer(connection, connection->first_byte_ns + ms * EPPTOK_I_NS_PER_MS);
    }
}

/* A whole call, and nothing but that, stands in the landing. */
static bool land(epptok_i_connection *connection, size_t length)
{
    connection->received = 0;
    epptok_i_connection_clear_timer(connection);
    return epptok_i_connection_call(connection, connection->host->io->landing.bytes, length, connection->first_byte_ns,
                                    true);
}

/* Bytes in the landing. false: close. */
static bool consume(epptok_i_connection *connection, const uint8_t *bytes, size_t count)
{
    bool from_the_start = connection->received == 0;
    size_t whole = count;
    if (from_the_start) {
        if (breaks_in(connection)) {
            return refuse(connection);
        }
        connection->first_byte_ns = epptok_i_now_ns();
    }
    if (connection->received < EPPTOK_I_HEADER_BYTES) {
        size_t missing = EPPTOK_I_HEADER_BYTES - connection->received;
        size_t taken = count < missing ? count : missing;
        memcpy(connection->header + connection->received, bytes, taken);
        connection->received += taken;
        bytes += taken;
        count -= taken;
        if (taken < missing) {
            if (from_the_start) {
                limit_time(connection);
            }
            return true;
        }
        uint64_t length = 0;
        if (!check_header(connection, &length)) {
            return false;
        }
        connection->length = (size_t)length;
        if (from_the_start && whole == connection->length && connection->greeted) {
            return land(connection, whole);
        }
        begin_frame(connection, count);
        if (connection->received + count < connection->length) {
            limit_time(connection);
        }
    }
    if (count > connection->length - connection->received) {
        return refuse(connection);
    }
    if (!connection->discards && count != 0) {
        memcpy(connection->frame + connection->received, bytes, count);
    }
    connection->received += count;
    return connection->received < connection->length || end_frame(connection);
}

/* Reads once; *full if there is likely more. false: close. */
static bool read_once(epptok_i_connection *connection, bool *full)
{
    const epptok_i_landing *landing = &connection->host->io->landing;
    uint8_t *to = landing->bytes;
    size_t room = landing->capacity;
    if (connection->received >= EPPTOK_I_HEADER_BYTES) {
        if (!connection->discards && connection->received == connection->capacity) {
            size_t left = connection->length / GROWTH;
            reserve(connection, connection->capacity > left ? connection->length : connection->capacity * GROWTH,
                    false);
        }
        if (!connection->discards) {
            to = connection->frame + connection->received;
            room = connection->capacity - connection->received;
        } else if (room > connection->length - connection->received) {
            room = connection->length - connection->received;
        }
    }
    ssize_t got = recv(connection->fd, to, room, MSG_DONTWAIT);
    *full = got > 0 && (size_t)got == room;
    if (got < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    }
    if (got == 0) {
        return false;
    }
    if (connection->received < EPPTOK_I_HEADER_BYTES) {
        return consume(connection, to, (size_t)got);
    }
    connection->received += (size_t)got;
    return connection->received < connection->length || end_frame(connection);
}

void epptok_i_connection_readable(epptok_i_connection *connection)
{
    bool full = true;
    for (int i = 0; full && i < READS_IN_A_ROW; i++) {
        if (!read_once(connection, &full)) {
            epptok_i_connection_close(connection);
            return;
        }
    }
}
