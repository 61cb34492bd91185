#define _GNU_SOURCE
#include "scripted_peer.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../src/native/frame.h"
#include "check.h"
#include "service.h"

typedef struct served_connection {
    peer *owner;
    int descriptor;
} served_connection;

static bool read_all(int descriptor, uint8_t *to, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = read(descriptor, to + done, length - done);
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

static bool send_all(int descriptor, const uint8_t *from, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t sent = send(descriptor, from + done, length - done, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        done += (size_t)sent;
    }
    return true;
}

static uint8_t *read_request(int descriptor, size_t *length)
{
    uint8_t header[64];
    uint64_t announced;
    if (!read_all(descriptor, header, 64) || epptok_i_frame_announced(header, 1u << 28, &announced) != NULL) {
        return NULL;
    }
    uint8_t *frame = malloc((size_t)announced);
    CHECK(frame != NULL);
    memcpy(frame, header, 64);
    *length = (size_t)announced;
    if (!read_all(descriptor, frame + 64, *length - 64)) {
        free(frame);
        return NULL;
    }
    return frame;
}

static bool send_frame(int descriptor, epptok_i_frame_type type, epptok_status status, uint32_t abi, uint64_t call_id,
                       const char *message)
{
    uint32_t words[EPPTOK_I_WORDS] = {(uint32_t)status, abi};
    epptok_i_section section = {EPPTOK_I_MESSAGE, message, strlen(message)};
    epptok_i_outgoing frame;
    uint8_t bytes[512];
    CHECK(epptok_i_frame_encode(&frame, type, call_id, words, &section, 1) && frame.length <= sizeof bytes);
    epptok_i_frame_write(&frame, bytes);
    return send_all(descriptor, bytes, frame.length);
}

static behaviour does(const peer *self) { return __atomic_load_n(&self->behaves, __ATOMIC_SEQ_CST); }

unsigned peer_accepted(const peer *self) { return __atomic_load_n(&self->accepted, __ATOMIC_SEQ_CST); }
unsigned peer_calls(const peer *self) { return __atomic_load_n(&self->calls, __ATOMIC_SEQ_CST); }

void peer_disturb(peer *self)
{
    unsigned answers = __atomic_add_fetch(&self->answers_read, 1, __ATOMIC_SEQ_CST);
    CHECK_SOON(__atomic_load_n(&self->disturbed, __ATOMIC_SEQ_CST) == answers);
}

/* One call at a time: as many answers were read as calls were. */
static bool answer_was_read(peer *self)
{
    while (__atomic_load_n(&self->answers_read, __ATOMIC_SEQ_CST) < peer_calls(self)) {
        if (__atomic_load_n(&self->stopping, __ATOMIC_SEQ_CST)) {
            return false;
        }
        check_sleep_ms(1);
    }
    return true;
}

static bool welcome(const peer *self, int descriptor)
{
    size_t length;
    uint8_t *hello = read_request(descriptor, &length);
    bool greeted = hello != NULL && hello[6] == EPPTOK_I_HELLO;
    free(hello);
    switch (does(self)) {
    case NO_WELCOME:
        return false;
    case REFUSE_ABI:
        (void)send_frame(descriptor, EPPTOK_I_WELCOME, EPPTOK_ABI_MISMATCH, 9, 0, "this runtime is of ABI 9");
        return false;
    case REFUSE_WITH_MESSAGE:
        (void)send_frame(descriptor, EPPTOK_I_WELCOME, EPPTOK_SHUTTING_DOWN, 1, 0, "no more today");
        return false;
    default:
        return greeted &&
               send_frame(descriptor, EPPTOK_I_WELCOME, EPPTOK_OK, does(self) == OTHER_ABI ? 9 : 1, 0, "");
    }
}

/* At least as long as a header. */
static const char HTTP_ANSWER[] = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nno\r\n";

/* False: the connection is to be closed. */
static bool answer(peer *self, int descriptor, const uint8_t *request, size_t request_length)
{
    size_t length = 0;
    uint8_t *bytes = service_answer(request, request_length, 1, &length);
    bool going_on = true;
    if (request[6] == EPPTOK_I_READY) {
        going_on = send_all(descriptor, bytes, length);
        free(bytes);
        return going_on;
    }
    (void)__atomic_add_fetch(&self->calls, 1, __ATOMIC_SEQ_CST);
    switch (does(self)) {
    case NEVER_ANSWER:
        break;
    case HANG_UP_ON_CALL:
        going_on = false;
        break;
    case HANG_UP_AFTER_ANSWER:
        going_on = send_all(descriptor, bytes, length) && answer_was_read(self) && shutdown(descriptor, SHUT_RDWR) < 0;
        (void)__atomic_add_fetch(&self->disturbed, 1, __ATOMIC_SEQ_CST);
        break;
    case HANG_UP_IN_ANSWER:
        (void)send_all(descriptor, bytes, length / 2);
        going_on = false;
        break;
    case TRICKLE:
        for (size_t i = 0; i < length && going_on; i++) {
            going_on = send_all(descriptor, bytes + i, 1);
            check_sleep_ms(20);
        }
        break;
    case NO_FRAME:
        going_on = send_all(descriptor, (const uint8_t *)HTTP_ANSWER, sizeof HTTP_ANSWER - 1);
        break;
    case HUGE_FRAME: {
        uint64_t huge = UINT64_MAX - 7;
        memcpy(bytes + 8, &huge, sizeof huge);
        going_on = send_all(descriptor, bytes, length);
        break;
    }
    case STRAY_ANSWER:
        bytes[16] ^= 1;
        going_on = send_all(descriptor, bytes, length);
        break;
    case TWO_ANSWERS: {
        uint8_t *twice = malloc(2 * length);
        CHECK(twice != NULL);
        memcpy(twice, bytes, length);
        memcpy(twice + length, bytes, length);
        going_on = send_all(descriptor, twice, 2 * length);
        free(twice);
        break;
    }
    case SPEAK_WHILE_IDLE:
        going_on = send_all(descriptor, bytes, length) && answer_was_read(self) && send_all(descriptor, bytes, length);
        (void)__atomic_add_fetch(&self->disturbed, 1, __ATOMIC_SEQ_CST);
        break;
    default:
        going_on = send_all(descriptor, bytes, length);
    }
    free(bytes);
    return going_on;
}

static void *serve_connection(void *argument)
{
    served_connection *given = argument;
    peer *self = given->owner;
    int descriptor = given->descriptor;
    free(given);
    bool going_on = welcome(self, descriptor);
    while (going_on) {
        uint8_t header[64];
        if (does(self) == NEVER_READ || does(self) == REFUSE_BY_SIZE) {
            /* Reads the questions of open, and no more than the header of a call. */
            ssize_t got = recv(descriptor, header, 64, MSG_PEEK | MSG_WAITALL);
            if (got == 64 && header[6] != EPPTOK_I_READY) {
                if (does(self) == REFUSE_BY_SIZE) {
                    (void)send_frame(descriptor, EPPTOK_I_RESPONSE, EPPTOK_INVALID_REQUEST, 0, 0, "longer than 64 MiB");
                    break;
                }
                while (!__atomic_load_n(&self->stopping, __ATOMIC_SEQ_CST)) {
                    check_sleep_ms(5);
                }
                break;
            }
        }
        size_t length;
        uint8_t *request = read_request(descriptor, &length);
        if (request == NULL) {
            break;
        }
        going_on = answer(self, descriptor, request, length);
        free(request);
    }
    (void)shutdown(descriptor, SHUT_RDWR);
    return NULL;
}

static void *accept_all(void *argument)
{
    peer *self = argument;
    for (;;) {
        int descriptor = accept(self->listener, NULL, NULL);
        if (descriptor < 0) {
            return NULL;
        }
        served_connection *given = malloc(sizeof *given);
        CHECK(given != NULL && self->accepted < 64);
        given->owner = self;
        given->descriptor = descriptor;
        /* Counted before it is served: who has been answered finds it counted. */
        unsigned index = __atomic_fetch_add(&self->accepted, 1, __ATOMIC_SEQ_CST);
        self->descriptors[index] = descriptor;
        CHECK(pthread_create(&self->threads[index], NULL, serve_connection, given) == 0);
    }
}

void peer_behave(peer *self, behaviour behaves) { __atomic_store_n(&self->behaves, behaves, __ATOMIC_SEQ_CST); }

void peer_start(peer *self, const char *path, behaviour behaves)
{
    struct sockaddr_un address;
    memset(self, 0, sizeof *self);
    memset(&address, 0, sizeof address);
    self->behaves = behaves;
    address.sun_family = AF_UNIX;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    (void)unlink(path);
    self->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(self->listener >= 0);
    CHECK(bind(self->listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(self->listener, 64) == 0);
    CHECK(pthread_create(&self->acceptor, NULL, accept_all, self) == 0);
}

void peer_stop(peer *self, const char *path)
{
    __atomic_store_n(&self->stopping, true, __ATOMIC_SEQ_CST);
    (void)shutdown(self->listener, SHUT_RDWR);
    (void)pthread_join(self->acceptor, NULL);
    (void)close(self->listener);
    for (unsigned i = 0; i < self->accepted; i++) {
        (void)shutdown(self->descriptors[i], SHUT_RDWR);
        (void)pthread_join(self->threads[i], NULL);
        (void)close(self->descriptors[i]);
    }
    (void)unlink(path);
}
