/*
 * Where the time of calls goes, by what each result says of itself. Opens a handle, tokenizes every body once, and prints a
 * hash of the ids of each; then, for each line "THREADS MILLISECONDS" on standard input, calls from that many threads for
 * that long once each has made a call, the bodies taken in turn, and prints one line of JSON. Times in microseconds; bridge is what the round trip has
 * beside the runtime's total.
 *
 *     timings_client (--socket PATH | --model DIR) --bodies FILE [--kind chat] [--runtime-threads 0]
 *
 * FILE: a body on each line.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <epptok.h>

#define MOST_THREADS 256u
#define MOST_BODIES 4096u

static const char *const KINDS[] = {"auto", "chat", "completion", "embedding", "text"};

enum { QUEUE, PARSE, TEMPLATE, ENCODE, TOTAL, ROUND_TRIP, BRIDGE, STAGES };
static const char *const STAGE_NAMES[STAGES] = {"queue", "parse", "template", "encode", "total", "roundTrip", "bridge"};

typedef struct body {
    const char *text;
    size_t length, ids; /* ids: how many it has */
} body;

typedef struct load {
    epptok *handle;
    uint32_t kind;
    body bodies[MOST_BODIES];
    size_t count;
    size_t begun;             /* atomic */
    uint32_t threads, warm;   /* warm, atomic: threads that have made their first call */
    uint64_t starts_us, ends_us; /* atomic; 0: not yet */
    uint32_t milliseconds;
} load;

typedef struct caller {
    load *shared;
    pthread_t thread;
    uint32_t (*samples)[STAGES];
    size_t calls, capacity;
    uint64_t tokens;
    const char *failed; /* why, or NULL */
} caller;

static uint64_t now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static epptok_status tokenize(const load *self, const body *sent, epptok_result **result)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = self->kind;
    request.body = sent->text;
    request.length = sent->length;
    return epptok_tokenize(self->handle, &request, result);
}

static bool make_room(caller *self)
{
    if (self->calls < self->capacity) {
        return true;
    }
    size_t capacity = self->capacity == 0 ? 1024 : self->capacity * 2;
    void *more = realloc(self->samples, capacity * sizeof *self->samples);
    if (more != NULL) {
        self->samples = more;
        self->capacity = capacity;
    }
    return more != NULL;
}

static void keep(caller *self, const epptok_timings *took, size_t count)
{
    uint32_t *sample = self->samples[self->calls++];
    sample[QUEUE] = took->queue_us;
    sample[PARSE] = took->parse_us;
    sample[TEMPLATE] = took->template_us;
    sample[ENCODE] = took->encode_us;
    sample[TOTAL] = took->total_us;
    sample[ROUND_TRIP] = took->round_trip_us;
    sample[BRIDGE] = took->round_trip_us > took->total_us ? took->round_trip_us - took->total_us : 0;
    self->tokens += count;
}

/* The time that is measured starts when every thread has made one call: before, the queue is still filling. */
static void be_warm(load *shared)
{
    if (__atomic_add_fetch(&shared->warm, 1, __ATOMIC_ACQ_REL) == shared->threads) {
        uint64_t now = now_us();
        __atomic_store_n(&shared->ends_us, now + (uint64_t)shared->milliseconds * 1000u, __ATOMIC_RELEASE);
        __atomic_store_n(&shared->starts_us, now, __ATOMIC_RELEASE);
    }
}

/* A call that ends when the time is up is not counted: the queue is emptying. */
static void *call_until_the_end(void *argument)
{
    caller *self = argument;
    load *shared = self->shared;
    for (bool first = true;; first = false) {
        const body *sent = &shared->bodies[__atomic_fetch_add(&shared->begun, 1, __ATOMIC_RELAXED) % shared->count];
        epptok_result *result = NULL;
        epptok_status status = tokenize(shared, sent, &result);
        epptok_timings took = epptok_result_timings(result);
        size_t count = 0;
        (void)epptok_result_ids(result, 0, &count);
        epptok_result_free(&result);
        if (status != EPPTOK_OK || count != sent->ids) {
            self->failed = status != EPPTOK_OK ? epptok_status_name(status) : "another number of ids than before";
        } else if (!make_room(self)) {
            self->failed = "out of memory";
        }
        if (first) {
            be_warm(shared);
        }
        uint64_t ends = __atomic_load_n(&shared->ends_us, __ATOMIC_ACQUIRE);
        if (self->failed != NULL || (ends > 0 && now_us() >= ends)) {
            return NULL;
        }
        if (!first && __atomic_load_n(&shared->starts_us, __ATOMIC_ACQUIRE) > 0) {
            keep(self, &took, count);
        }
    }
}

static int ascending(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void print_stage(const caller *callers, uint32_t threads, size_t calls, unsigned stage, uint32_t *sorted)
{
    size_t count = 0;
    double sum = 0;
    for (uint32_t i = 0; i < threads; i++) {
        for (size_t j = 0; j < callers[i].calls; j++) {
            sorted[count] = callers[i].samples[j][stage];
            sum += sorted[count++];
        }
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    printf(",\"%s\":{\"mean\":%.1f,\"p50\":%u,\"p99\":%u}", STAGE_NAMES[stage], calls == 0 ? 0 : sum / (double)calls,
           calls == 0 ? 0 : sorted[calls / 2], calls == 0 ? 0 : sorted[calls * 99 / 100]);
}

static bool run(load *shared, uint32_t threads, uint32_t milliseconds)
{
    caller *callers = calloc(threads, sizeof *callers);
    size_t calls = 0;
    uint64_t tokens = 0;
    uint32_t started = 0;
    const char *failed = callers == NULL ? "out of memory" : NULL;
    shared->threads = threads;
    shared->milliseconds = milliseconds;
    shared->warm = 0;
    shared->starts_us = shared->ends_us = 0;
    while (failed == NULL && started < threads) {
        callers[started].shared = shared;
        if (pthread_create(&callers[started].thread, NULL, call_until_the_end, &callers[started]) != 0) {
            failed = "a thread cannot be started";
            __atomic_store_n(&shared->ends_us, 1, __ATOMIC_RELEASE);
        } else {
            started++;
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(callers[i].thread, NULL);
        calls += callers[i].calls;
        tokens += callers[i].tokens;
        failed = failed != NULL ? failed : callers[i].failed;
    }
    uint32_t *sorted = malloc((calls + 1) * sizeof *sorted);
    if (failed == NULL && sorted != NULL) {
        printf("{\"threads\":%u,\"seconds\":%.3f,\"calls\":%zu,\"tokens\":%llu", threads, milliseconds / 1e3, calls,
               (unsigned long long)tokens);
        for (unsigned stage = 0; stage < STAGES; stage++) {
            print_stage(callers, threads, calls, stage, sorted);
        }
        printf("}\n");
        (void)fflush(stdout);
    } else {
        fprintf(stderr, "timings_client: %s\n", failed == NULL ? "out of memory" : failed);
    }
    for (uint32_t i = 0; i < started; i++) {
        free(callers[i].samples);
    }
    bool ok = failed == NULL && sorted != NULL;
    free(sorted);
    free(callers);
    return ok;
}

/* FNV-1a of 32 bits over whole ids. */
static bool print_hashes(load *self)
{
    printf("{\"hashes\":[");
    for (size_t i = 0; i < self->count; i++) {
        epptok_result *result = NULL;
        epptok_status status = tokenize(self, &self->bodies[i], &result);
        if (status != EPPTOK_OK) {
            fprintf(stderr, "timings_client: body %zu: %s\n", i, epptok_result_message(result));
            epptok_result_free(&result);
            return false;
        }
        const uint32_t *ids = epptok_result_ids(result, 0, &self->bodies[i].ids);
        uint32_t hash = 0x811c9dc5u;
        for (size_t j = 0; j < self->bodies[i].ids; j++) {
            hash = (hash ^ ids[j]) * 0x01000193u;
        }
        epptok_result_free(&result);
        printf("%s%lu", i == 0 ? "" : ",", (unsigned long)hash);
    }
    printf("]}\n");
    (void)fflush(stdout);
    return true;
}

static char *read_bodies(const char *path, load *self)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long end = -1;
    size_t length = 0;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0) {
        text = malloc((size_t)end);
    }
    if (text != NULL) {
        length = fread(text, 1, (size_t)end, file);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    for (size_t start = 0; start < length && self->count < MOST_BODIES;) {
        const char *line_end = memchr(text + start, '\n', length - start);
        size_t stop = line_end == NULL ? length : (size_t)(line_end - text);
        self->bodies[self->count++] = (body){text + start, stop - start, 0};
        start = stop + 1;
    }
    return text;
}

int main(int argc, char **argv)
{
    static load self;
    epptok_options options = EPPTOK_OPTIONS_INIT;
    const char *bodies = "";
    char message[256], line[64];
    self.kind = EPPTOK_KIND_CHAT;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--socket") == 0) {
            options.socket_path = value;
        } else if (strcmp(argv[i], "--model") == 0) {
            options.model = value;
        } else if (strcmp(argv[i], "--bodies") == 0) {
            bodies = value;
        } else if (strcmp(argv[i], "--runtime-threads") == 0) {
            options.threads = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--kind") == 0) {
            for (self.kind = 0; self.kind < 5 && strcmp(value, KINDS[self.kind]) != 0; self.kind++) {
            }
        } else {
            fprintf(stderr, "timings_client: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    char *text = read_bodies(bodies, &self);
    if (self.count == 0 || self.kind > EPPTOK_KIND_TEXT) {
        fprintf(stderr, "usage: timings_client (--socket PATH | --model DIR) --bodies FILE [--kind chat]\n");
        return 2;
    }
    if (epptok_open(&options, &self.handle, message, sizeof message) != EPPTOK_OK) {
        fprintf(stderr, "timings_client: %s\n", message);
        return 1;
    }
    bool ok = print_hashes(&self);
    while (ok && fgets(line, sizeof line, stdin) != NULL) {
        char *rest = NULL;
        unsigned long threads = strtoul(line, &rest, 10);
        unsigned long milliseconds = strtoul(rest, NULL, 10);
        if (threads == 0 || threads > MOST_THREADS || milliseconds == 0) {
            fprintf(stderr, "timings_client: not THREADS MILLISECONDS: %s", line);
            ok = false;
        } else {
            ok = run(&self, (uint32_t)threads, (uint32_t)milliseconds);
        }
    }
    (void)epptok_close(self.handle);
    free(text);
    return ok ? 0 : 1;
}
