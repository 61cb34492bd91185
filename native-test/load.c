#define _GNU_SOURCE
#include "load.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VARIANTS 4u
/* Buckets of 1/16 octave from a microsecond on: a percentile is right to 5 %. */
#define BUCKETS_PER_OCTAVE 16u
#define BUCKETS (40u * BUCKETS_PER_OCTAVE)

typedef struct body {
    char *text;
    uint32_t length;
} body;

/* What a body has come to. Kept from run to run: a runtime that was restarted has to give the same ids. */
typedef struct known {
    uint32_t size, variant;
    uint64_t ids; /* a hash; 0: not seen yet */
} known;

static known seen[256];
static pthread_mutex_t seen_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct run {
    epptok *handle;
    const load_plan *plan;
    body bodies[LOAD_SIZES][VARIANTS];
    uint32_t sizes;
    uint64_t begun; /* atomic */
    uint64_t seed;  /* of fresh texts: another one in each process */
    double ends_us;
    pthread_mutex_t lock; /* the rest */
    load_report *report;
    uint64_t buckets[BUCKETS];
} run;

static double now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Words of nine letters. What encodes them has not seen them before, and will not see them again. */
static void write_fresh(char *text, uint32_t length, uint64_t random)
{
    for (uint32_t i = 0; i < length; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        text[i] = i % 10 == 9 ? ' ' : (char)('a' + (random >> 33) % 26);
    }
}

static char *prose(uint32_t size, uint32_t variant)
{
    static const char *const words[] = {"the ", "router ", "sends ", "each ", "prompt ", "to ", "a ", "worker, ", "once ",
                                        "It ", "holds ", "its ", "cache; ", "\n", "1984 ", "Z\xc3\xbcrich "};
    uint64_t random = (uint64_t)size * VARIANTS + variant;
    char *text = malloc((size_t)size + 1);
    uint32_t length = 0;
    while (text != NULL && length < size) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const char *word = words[random >> 60];
        uint32_t bytes = (uint32_t)strlen(word);
        if (bytes > size - length) {
            memset(text + length, '.', size - length);
            break;
        }
        memcpy(text + length, word, bytes);
        length += bytes;
    }
    return text;
}

static uint64_t hash_of(const epptok_result *result)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t count;
    const uint32_t *ids = epptok_result_ids(result, 0, &count);
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ ids[i]) * UINT64_C(1099511628211);
    }
    return hash | 1u;
}

static bool as_before(uint32_t size, uint32_t variant, uint64_t ids)
{
    bool same = false; /* nor where there is no place left to note it */
    (void)pthread_mutex_lock(&seen_lock);
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        if (seen[i].ids == 0) {
            seen[i] = (known){size, variant, ids};
            same = true;
            break;
        }
        if (seen[i].size == size && seen[i].variant == variant) {
            same = seen[i].ids == ids;
            break;
        }
    }
    (void)pthread_mutex_unlock(&seen_lock);
    return same;
}

static uint32_t bucket_of(double us)
{
    uint32_t octave = 0;
    while (us >= 2 && octave < BUCKETS / BUCKETS_PER_OCTAVE - 1) {
        us /= 2;
        octave++;
    }
    double part = us < 1 ? 0 : us >= 2 ? 0.999 : us - 1;
    return octave * BUCKETS_PER_OCTAVE + (uint32_t)(part * BUCKETS_PER_OCTAVE);
}

static double upper_edge(uint32_t bucket)
{
    double us = 1 + (double)(bucket % BUCKETS_PER_OCTAVE + 1) / BUCKETS_PER_OCTAVE;
    for (uint32_t octave = bucket / BUCKETS_PER_OCTAVE; octave > 0; octave--) {
        us *= 2;
    }
    return us;
}

static void call_once(run *self, uint64_t number)
{
    uint32_t which = (uint32_t)(number % self->sizes);
    uint32_t variant = (uint32_t)(number / self->sizes % VARIANTS);
    const body *sent = &self->bodies[which][variant];
    bool fresh = self->plan->fresh != 0 && sent->length <= LOAD_FRESH;
    char text[LOAD_FRESH];
    if (fresh) {
        write_fresh(text, sent->length, self->seed + number);
    }
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = fresh ? text : sent->text;
    request.length = sent->length;
    request.timeout_ms = self->plan->timeout_ms;
    epptok_result *result = NULL;
    double start = now_us();
    epptok_status status = epptok_tokenize(self->handle, &request, &result);
    double took = now_us() - start;
    bool wrong = status == EPPTOK_OK && !fresh && !as_before(sent->length, variant, hash_of(result));
    epptok_transport transport = epptok_result_transport(result);
    epptok_result_free(&result);
    (void)pthread_mutex_lock(&self->lock);
    self->report->calls++;
    self->report->wrong += wrong;
    self->report->statuses[(unsigned)status < LOAD_STATUSES ? (unsigned)status : LOAD_STATUSES - 1]++;
    self->report->transports[(unsigned)transport & 3u]++;
    self->buckets[bucket_of(took)]++;
    if (took > self->report->longest_us) {
        self->report->longest_us = took;
    }
    (void)pthread_mutex_unlock(&self->lock);
}

static void sleep_until(double us)
{
    double left = us - now_us();
    if (left > 0) {
        struct timespec span = {(time_t)(left / 1e6), (long)((left - (double)(time_t)(left / 1e6) * 1e6) * 1e3)};
        (void)nanosleep(&span, NULL);
    }
}

static void *call_repeatedly(void *argument)
{
    run *self = argument;
    double next_us = now_us();
    for (;;) {
        if (self->plan->per_second > 0) {
            sleep_until(next_us);
            /* A call that took longer than the interval delays those after it. */
            next_us = (next_us > now_us() ? next_us : now_us()) + 1e6 / self->plan->per_second;
        }
        uint64_t number = __atomic_fetch_add(&self->begun, 1, __ATOMIC_RELAXED);
        if ((self->plan->calls > 0 && number >= self->plan->calls) || (self->ends_us > 0 && now_us() >= self->ends_us)) {
            return NULL;
        }
        call_once(self, number);
    }
}

static double percentile(const run *self, double part)
{
    uint64_t rank = (uint64_t)(part * (double)self->report->calls), before = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        before += self->buckets[i];
        if (before > rank) {
            double edge = upper_edge(i);
            return edge < self->report->longest_us ? edge : self->report->longest_us;
        }
    }
    return self->report->longest_us;
}

void load_run(epptok *handle, const load_plan *plan, load_report *report)
{
    run self;
    pthread_t threads[256];
    uint32_t started = 0;
    memset(&self, 0, sizeof self);
    memset(report, 0, sizeof *report);
    self.handle = handle;
    self.plan = plan;
    self.report = report;
    self.seed = (uint64_t)now_us() << 20;
    (void)pthread_mutex_init(&self.lock, NULL);
    while (self.sizes < LOAD_SIZES && plan->sizes[self.sizes] > 0) {
        for (uint32_t i = 0; i < VARIANTS; i++) {
            body *made = &self.bodies[self.sizes][i];
            made->text = prose(plan->sizes[self.sizes], i);
            made->length = made->text == NULL ? 0 : plan->sizes[self.sizes];
            if (plan->fresh != 0) {
                write_fresh(made->text, made->length, i);
            }
        }
        self.sizes++;
    }
    self.ends_us = plan->seconds > 0 ? now_us() + plan->seconds * 1e6 : 0;
    if (self.sizes > 0 && plan->threads == 0) {
        (void)call_repeatedly(&self);
    }
    while (self.sizes > 0 && started < plan->threads && started < 256 &&
           pthread_create(&threads[started], NULL, call_repeatedly, &self) == 0) {
        started++;
    }
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    report->p50_us = percentile(&self, 0.5);
    report->p99_us = percentile(&self, 0.99);
    for (uint32_t i = 0; i < self.sizes * VARIANTS; i++) {
        free(self.bodies[i / VARIANTS][i % VARIANTS].text);
    }
    (void)pthread_mutex_destroy(&self.lock);
}
