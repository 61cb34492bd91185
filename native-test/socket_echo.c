/*
 * The least that a call over a socket can cost: two processes of C, one request of so many bytes, one answer, nothing else. The
 * other side lets as much time go by as a real call takes, over memory of its own, so that what is copied lies in the caches as
 * after a real call; that time is taken off. Prints JSON: the median in microseconds.
 *
 *     socket_echo REQUEST_BYTES REPLY_BYTES WORK_US CALLS
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define WORKING_SET (3u << 20)
#define PATIENCE_MS 10000

static int64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool wait_for(int fd, short events)
{
    struct pollfd watched = {fd, events, 0};
    return poll(&watched, 1, PATIENCE_MS) > 0;
}

static bool pass(int fd, uint8_t *bytes, size_t length, bool sends)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = sends ? send(fd, bytes + done, length - done, MSG_DONTWAIT)
                          : recv(fd, bytes + done, length - done, MSG_DONTWAIT);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) ||
                   !wait_for(fd, sends ? POLLOUT : POLLIN)) {
            return false;
        }
    }
    return true;
}

/* How long it really took comes first in the answer. */
static int answer(int fd, size_t request, size_t reply, int64_t work_ns)
{
    uint8_t *in = malloc(request), *out = calloc(1, reply), *memory = calloc(1, WORKING_SET);
    size_t at = 0;
    while (in != NULL && out != NULL && memory != NULL && wait_for(fd, POLLIN) && pass(fd, in, request, false)) {
        int64_t start = now_ns(), spent = 0;
        while ((spent = now_ns() - start) < work_ns) {
            for (int i = 0; i < 256; i++) {
                memory[at]++;
                at = (at + 64) % WORKING_SET;
            }
        }
        memcpy(out, &spent, sizeof spent);
        if (!pass(fd, out, reply, true)) {
            break;
        }
    }
    free(in);
    free(out);
    free(memory);
    return 0;
}

static int ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static bool call(int fd, size_t request, size_t reply, uint8_t *body, uint8_t *into, int64_t *took)
{
    int64_t start = now_ns(), spent = 0;
    if (!pass(fd, body, request, true) || !pass(fd, into, reply, false)) {
        return false;
    }
    memcpy(&spent, into, sizeof spent);
    *took = now_ns() - start - spent;
    return true;
}

static int ask(int fd, size_t request, size_t reply, size_t calls)
{
    uint8_t *body = calloc(1, request), *into = malloc(reply);
    int64_t *took = calloc(calls, sizeof *took), unused = 0;
    bool passed = body != NULL && into != NULL && took != NULL;
    for (size_t i = 0; passed && i < calls / 10; i++) {
        passed = call(fd, request, reply, body, into, &unused);
    }
    for (size_t i = 0; passed && i < calls; i++) {
        passed = call(fd, request, reply, body, into, &took[i]);
    }
    if (passed) {
        qsort(took, calls, sizeof *took, ascending);
        printf("{\"calls\":%zu,\"p50\":%.1f}\n", calls, (double)took[calls / 2] / 1e3);
    } else {
        fprintf(stderr, "socket_echo: a call failed: %s\n", strerror(errno));
    }
    free(body);
    free(into);
    free(took);
    return passed ? 0 : 1;
}

int main(int argc, char **argv)
{
    size_t request = argc == 5 ? strtoul(argv[1], NULL, 10) : 0, reply = argc == 5 ? strtoul(argv[2], NULL, 10) : 0;
    size_t calls = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
    int pair[2];
    if (request == 0 || reply < sizeof(int64_t) || calls == 0) {
        fprintf(stderr, "socket_echo REQUEST_BYTES REPLY_BYTES WORK_US CALLS\n");
        return 2;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        perror("socket_echo");
        return 1;
    }
    pid_t other = fork();
    if (other == 0) {
        (void)close(pair[0]);
        return answer(pair[1], request, reply, strtol(argv[3], NULL, 10) * 1000);
    }
    (void)close(pair[1]);
    return other < 0 ? 1 : ask(pair[0], request, reply, calls);
}
