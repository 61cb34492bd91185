#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_peer.h"

#include "../src/native/clock.h"
#include "../src/native/frame.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static uint8_t *make(epptok_i_frame_type type, uint64_t call_id, const uint32_t *words,
                     const epptok_i_section *sections, size_t count, size_t *length)
{
    epptok_i_outgoing frame;
    if (!epptok_i_frame_encode(&frame, type, call_id, words, sections, count)) {
        abort();
    }
    uint8_t *bytes = malloc(frame.length);
    epptok_i_frame_write(&frame, bytes);
    *length = frame.length;
    return bytes;
}

uint8_t *host_peer_tokenize(uint64_t call_id, size_t body, uint32_t ms, size_t *length)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_REQUEST_MS] = ms;
    uint8_t *text = malloc(body + 1);
    for (size_t i = 0; i < body; i++) {
        text[i] = (uint8_t)('a' + i % 23);
    }
    epptok_i_section section = {EPPTOK_I_BODY, text, body};
    uint8_t *frame = make(EPPTOK_I_TOKENIZE, call_id, words, &section, 1, length);
    free(text);
    return frame;
}

uint8_t *host_peer_call(unsigned type, uint64_t call_id, uint32_t ms, size_t *length)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_REQUEST_MS] = ms;
    return make((epptok_i_frame_type)type, call_id, words, NULL, 0, length);
}

uint8_t *host_peer_response(uint64_t call_id, uint32_t status, const uint32_t *ids, size_t count, size_t *length)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_RESPONSE_STATUS] = status;
    uint32_t counts[1] = {(uint32_t)count};
    epptok_i_section sections[] = {{EPPTOK_I_IDS, ids, count * 4}, {EPPTOK_I_COUNTS, counts, sizeof counts}};
    return make(EPPTOK_I_RESPONSE, call_id, words, sections, 2, length);
}

uint8_t *host_peer_hello_frame(uint32_t abi, size_t *length)
{
    uint32_t words[EPPTOK_I_WORDS] = {0};
    words[EPPTOK_I_HELLO_ABI] = abi;
    return make(EPPTOK_I_HELLO, 0, words, NULL, 0, length);
}

uint32_t host_peer_status(const uint8_t *frame)
{
    uint32_t status;
    memcpy(&status, frame + 28, sizeof status);
    return status;
}

uint64_t host_peer_call_id(const uint8_t *frame)
{
    uint64_t call_id;
    memcpy(&call_id, frame + 16, sizeof call_id);
    return call_id;
}

const char *host_peer_message(const uint8_t *frame)
{
    static __thread char text[1024];
    uint64_t length;
    epptok_i_incoming decoded;
    memcpy(&length, frame + 8, sizeof length);
    text[0] = '\0';
    if (epptok_i_frame_decode(frame, (size_t)length, &decoded) != NULL) {
        return "a broken frame";
    }
    epptok_i_bytes message = decoded.sections[EPPTOK_I_MESSAGE];
    if (message.data != NULL) {
        snprintf(text, sizeof text, "%.*s", (int)message.length, (const char *)message.data);
    }
    return text;
}

int host_peer_connect_with(int fd, const char *path)
{
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? fd : -1;
}

int host_peer_connect(const char *path)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && host_peer_connect_with(fd, path) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool host_peer_write(int fd, const void *bytes, size_t length)
{
    size_t written = 0;
    while (written < length) {
        ssize_t n = send(fd, (const uint8_t *)bytes + written, length - written, MSG_NOSIGNAL);
        if (n > 0) {
            written += (size_t)n;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static bool wait_readable(int fd, int64_t deadline_ns)
{
    struct pollfd polled = {fd, POLLIN, 0};
    return poll(&polled, 1, epptok_i_poll_ms(deadline_ns)) > 0;
}

size_t host_peer_read_frame(int fd, uint8_t *frame, size_t capacity)
{
    struct timeval patience = {10, 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    size_t received = 0;
    uint64_t length = EPPTOK_I_HEADER_BYTES;
    while (received < length) {
        size_t room = received < EPPTOK_I_HEADER_BYTES ? capacity : (size_t)length;
        ssize_t n = recv(fd, frame + received, room - received, 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return 0;
        }
        received += (size_t)n;
        if (received < EPPTOK_I_HEADER_BYTES) {
            continue;
        }
        memcpy(&length, frame + 8, sizeof length);
        if (length > capacity) {
            return 0;
        }
    }
    return (size_t)length;
}

uint32_t host_peer_hello(int fd)
{
    size_t length;
    uint8_t *hello = host_peer_hello_frame(EPPTOK_ABI_VERSION, &length);
    uint8_t welcome[1024];
    bool done = host_peer_write(fd, hello, length) && host_peer_read_frame(fd, welcome, sizeof welcome) != 0;
    free(hello);
    return done ? host_peer_status(welcome) : 999u;
}

bool host_peer_is_closed(int fd, int ms)
{
    int64_t deadline_ns = epptok_i_deadline_in_ms((uint32_t)ms);
    uint8_t bytes[4096];
    while (wait_readable(fd, deadline_ns)) {
        ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno == ECONNRESET)) {
            return true;
        }
    }
    return false;
}
