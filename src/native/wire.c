#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "clock.h"
#include "spin.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SO_NOSIGPIPE instead */
#endif

/* Answers up to this size, or that of the one before, cost one recv(). */
#define FIRST_READ_BYTES 8192u
#define MOST_FIRST_READ_BYTES (1u << 20)

static epptok_status failed(epptok_i_reason *reason, const char *what, int error)
{
    char text[128];
    return epptok_i_because(reason, EPPTOK_UNAVAILABLE, "%s the runtime failed: %s", what,
                            epptok_i_errno_text(error, text, sizeof text));
}

static epptok_status timed_out(epptok_i_reason *reason, const char *what)
{
    return epptok_i_because(reason, EPPTOK_TIMEOUT, "the deadline passed while %s", what);
}

/* The events that have come, or 0 at the deadline; -1 with errno. */
static int wait_for(int descriptor, short events, int64_t deadline_ns)
{
    for (;;) {
        struct pollfd watched = {descriptor, events, 0};
        int milliseconds = epptok_i_poll_ms(deadline_ns);
        int ready = poll(&watched, 1, milliseconds);
        if (ready > 0) {
            return watched.revents;
        }
        if (ready == 0 && epptok_i_now_ns() >= deadline_ns) {
            return 0;
        }
        if (ready < 0 && errno != EINTR && errno != EAGAIN) {
            return -1;
        }
    }
}

/*
 * OK with trip->whole false: the other end has answered, or hung up, before it took the whole request (a refusal by
 * size, say); what it had to say is still to be read.
 */
static epptok_status send_frame(int descriptor, const epptok_i_outgoing *frame, int64_t deadline_ns,
                                epptok_i_trip *trip, epptok_i_reason *reason)
{
    size_t done = 0;
    while (done < frame->length) {
        struct iovec pieces[sizeof frame->parts / sizeof frame->parts[0]];
        struct msghdr message;
        memset(&message, 0, sizeof message);
        message.msg_iov = pieces;
        message.msg_iovlen = epptok_i_pieces_after(frame->parts, frame->part_count, done, pieces);
        ssize_t sent = sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            done += (size_t)sent;
            trip->sent = true;
            continue;
        }
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
            if (trip->sent && (errno == EPIPE || errno == ECONNRESET)) {
                return EPPTOK_OK;
            }
            return failed(reason, "sending to", errno);
        }
        int events = wait_for(descriptor, POLLIN | POLLOUT, deadline_ns);
        if (events < 0) {
            return failed(reason, "waiting for", errno);
        }
        if (events == 0) {
            return timed_out(reason, "the request was being sent");
        }
        if ((events & POLLOUT) == 0) {
            return EPPTOK_OK;
        }
    }
    trip->whole = true;
    return EPPTOK_OK;
}

static epptok_status refused(epptok_i_reason *reason, const char *fault)
{
    return epptok_i_because(reason, EPPTOK_UNAVAILABLE, "the runtime sent a frame that is refused: %s", fault);
}

/* Looks for the first bytes of the answer for a moment, if that has paid of late. */
static void spin(int descriptor, bool *spinning, int64_t deadline_ns)
{
    static __thread epptok_i_spin learnt;
    int64_t until;
    if (!epptok_i_spin_begin(&learnt, spinning, &until)) {
        return;
    }
    if (until > deadline_ns) {
        until = deadline_ns;
    }
    bool found;
    while (!(found = !epptok_i_wire_is_quiet(descriptor)) && epptok_i_now_ns() < until) {
        epptok_i_spin_pause();
    }
    epptok_i_spin_end(&learnt, spinning, found);
}

static size_t first_read(const epptok_i_wire *wire)
{
    if (wire->reply_bytes < FIRST_READ_BYTES) {
        return FIRST_READ_BYTES;
    }
    return wire->reply_bytes < MOST_FIRST_READ_BYTES ? wire->reply_bytes : MOST_FIRST_READ_BYTES;
}

/* The result keeps what it was read into. */
static void shrink(epptok_i_reply *reply, size_t capacity)
{
    uint8_t *smaller = reply->length < capacity / 2 && capacity > FIRST_READ_BYTES ? realloc(reply->frame, reply->length) : NULL;
    if (smaller != NULL) {
        reply->frame = smaller;
    }
}

/* Reads into reply->frame, which is the caller's to free whatever is returned. */
static epptok_status receive_frame(epptok_i_wire *wire, int64_t deadline_ns, epptok_i_reply *reply, epptok_i_reason *reason)
{
    int descriptor = wire->descriptor;
    size_t capacity = first_read(wire);
    size_t received = 0;
    bool expect_wait = true;
    reply->length = 0; /* until the header has come */
    reply->frame = malloc(capacity);
    if (reply->frame == NULL) {
        return epptok_i_out_of_memory(reason);
    }
    for (;;) {
        if (expect_wait) {
            int events = wait_for(descriptor, POLLIN, deadline_ns);
            if (events < 0) {
                return failed(reason, "waiting for", errno);
            }
            if (events == 0) {
                return timed_out(reason, received == 0 ? "waiting for the answer" : "the answer was arriving");
            }
        }
        ssize_t got = recv(descriptor, reply->frame + received, capacity - received, MSG_DONTWAIT);
        expect_wait = got <= 0;
        if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) {
            continue;
        }
        if (got < 0) {
            return failed(reason, "receiving from", errno);
        }
        if (got == 0) {
            return epptok_i_because(reason, EPPTOK_UNAVAILABLE, "the runtime closed the connection %s",
                                    received == 0 ? "before it answered" : "in the middle of its answer");
        }
        received += (size_t)got;
        if (reply->length == 0 && received >= EPPTOK_I_HEADER_BYTES) {
            uint64_t announced = 0;
            const char *fault = epptok_i_frame_announced(reply->frame, EPPTOK_I_MAX_REPLY_BYTES, &announced);
            if (fault != NULL) {
                return refused(reason, fault);
            }
            reply->length = (size_t)announced;
            if (reply->length > capacity) {
                uint8_t *larger = realloc(reply->frame, reply->length);
                if (larger == NULL) {
                    return epptok_i_out_of_memory(reason);
                }
                reply->frame = larger;
                capacity = reply->length;
            }
        }
        if (reply->length > 0 && received >= reply->length) {
            wire->reply_bytes = received;
            shrink(reply, capacity);
            return received == reply->length ? EPPTOK_OK : refused(reason, "bytes follow its end");
        }
        if (!expect_wait && epptok_i_now_ns() >= deadline_ns) {
            return timed_out(reason, "the answer was arriving");
        }
    }
}

epptok_status epptok_i_wire_exchange(epptok_i_wire *wire, const epptok_i_outgoing *frame, int64_t deadline_ns,
                                     bool *spinning, epptok_i_reply *reply, epptok_i_trip *trip, epptok_i_reason *reason)
{
    trip->sent = false;
    trip->whole = false;
    reply->frame = NULL;
    epptok_status status = send_frame(wire->descriptor, frame, deadline_ns, trip, reason);
    if (status == EPPTOK_OK) {
        if (spinning != NULL) {
            spin(wire->descriptor, spinning, deadline_ns);
        }
        status = receive_frame(wire, deadline_ns, reply, reason);
    }
    if (status != EPPTOK_OK) {
        trip->whole = false;
        free(reply->frame);
        reply->frame = NULL;
    }
    return status;
}

bool epptok_i_wire_is_quiet(int descriptor)
{
    char byte;
    ssize_t got = recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}
