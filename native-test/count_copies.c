/*
 * Counts bytes that are copied, for bench/cost: preloaded into a process, it adds up those of each memcpy, memmove, read and
 * write of 4 KiB and more in two words of a file that all processes and threads of a run share (EPPTOK_COPY_COUNTS):
 *
 *     [ by the program, 8 bytes | by the kernel, 8 bytes ]
 *
 * Code that copies in a loop of its own is not seen, such as V8's for shared memory: bench/cost/shared-copies.cjs makes up for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define LEAST 4096

typedef void *copying(void *, const void *, size_t);

static _Atomic uint64_t *counts;
static copying *real_memcpy, *real_memmove;

__attribute__((constructor)) static void open_counts(void)
{
    const char *path = getenv("EPPTOK_COPY_COUNTS");
    int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void *mapped = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    counts = mapped == MAP_FAILED ? NULL : mapped;
}

static void count(int by_kernel, size_t bytes)
{
    if (counts != NULL && bytes >= LEAST) {
        atomic_fetch_add_explicit(&counts[by_kernel], bytes, memory_order_relaxed);
    }
}

static ssize_t count_io(ssize_t done)
{
    count(1, done > 0 ? (size_t)done : 0);
    return done;
}

/* Looking up a function may itself copy: until it is found, bytes go one by one. volatile, or the loop becomes a memmove. */
static void *copy_slowly(void *to, const void *from, size_t length)
{
    volatile uint8_t *target = to;
    const volatile uint8_t *source = from;
    if ((uintptr_t)to <= (uintptr_t)from) {
        for (size_t i = 0; i < length; i++) {
            target[i] = source[i];
        }
    } else {
        for (size_t i = length; i > 0; i--) {
            target[i - 1] = source[i - 1];
        }
    }
    return to;
}

static void *copy(const char *name, copying **real, void *to, const void *from, size_t length)
{
    if (*real == NULL) {
        *real = copy_slowly;
        *real = (copying *)dlsym(RTLD_NEXT, name);
    }
    count(0, length);
    return (*real)(to, from, length);
}

void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
    return copy("memcpy", &real_memcpy, to, from, length);
}

void *memmove(void *to, const void *from, size_t length)
{
    return copy("memmove", &real_memmove, to, from, length);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int file, void *buffer, size_t length)
{
    return count_io(REAL(read)(file, buffer, length));
}

ssize_t recv(int file, void *buffer, size_t length, int flags)
{
    return count_io(REAL(recv)(file, buffer, length, flags));
}

ssize_t recvmsg(int file, struct msghdr *message, int flags)
{
    return count_io(REAL(recvmsg)(file, message, flags));
}

ssize_t write(int file, const void *buffer, size_t length)
{
    return count_io(REAL(write)(file, buffer, length));
}

ssize_t writev(int file, const struct iovec *parts, int count_of_parts)
{
    return count_io(REAL(writev)(file, parts, count_of_parts));
}

ssize_t send(int file, const void *buffer, size_t length, int flags)
{
    return count_io(REAL(send)(file, buffer, length, flags));
}

ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
    return count_io(REAL(sendmsg)(file, message, flags));
}
