/*
 * Times calls of one body and prints JSON, in microseconds:
 *
 *     bench_client (--socket PATH | --model DIR) --body FILE [--kind chat] [--count 1000] [--warmup 100] [--threads 2]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

static const char *const KINDS[] = {"auto", "chat", "completion", "embedding", "text"};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_client: %s: %s\n", what, why);
    return 1;
}

static uint8_t *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long end = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        bytes = malloc((size_t)end + 1);
    }
    if (bytes != NULL) {
        *length = fread(bytes, 1, (size_t)end, file);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return bytes;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double percentile(const double *sorted, uint32_t count, double p)
{
    uint32_t index = (uint32_t)(p * (double)(count - 1) + 0.5);
    return sorted[index];
}

int main(int argc, char **argv)
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    const char *body_path = NULL;
    uint32_t kind = EPPTOK_KIND_AUTO, count = 1000, warmup = 100;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--socket") == 0) {
            options.socket_path = value;
        } else if (strcmp(argv[i], "--model") == 0) {
            options.model = value;
        } else if (strcmp(argv[i], "--body") == 0) {
            body_path = value;
        } else if (strcmp(argv[i], "--count") == 0) {
            count = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--warmup") == 0) {
            warmup = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--threads") == 0) {
            options.threads = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--kind") == 0) {
            for (kind = 0; kind < 5 && strcmp(value, KINDS[kind]) != 0; kind++) {
            }
        } else {
            return fail(argv[i], "unknown option");
        }
    }
    if (body_path == NULL || count == 0 || kind > EPPTOK_KIND_TEXT) {
        return fail("usage", "(--socket PATH | --model DIR) --body FILE [--kind K] [--count N] [--warmup N] [--threads N]");
    }
    size_t length = 0;
    uint8_t *body = read_file(body_path, &length);
    double *latencies = calloc(count, sizeof *latencies);
    if (body == NULL || latencies == NULL) {
        return fail(body_path, "cannot be read");
    }
    epptok *handle = NULL;
    char message[256];
    if (epptok_open(&options, &handle, message, sizeof message) != EPPTOK_OK) {
        return fail("open", message);
    }
    int32_t status = plugin_bench(handle, 0, kind, body, length, warmup, count, latencies);
    (void)epptok_close(handle);
    if (status != EPPTOK_OK) {
        return fail("tokenize", epptok_status_name((epptok_status)status));
    }
    qsort(latencies, count, sizeof *latencies, ascending);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += latencies[i];
    }
    printf("{\"bytes\":%zu,\"count\":%u,\"p50\":%.2f,\"p90\":%.2f,\"p99\":%.2f,\"max\":%.2f,\"mean\":%.2f}\n", length, count,
           percentile(latencies, count, 0.50), percentile(latencies, count, 0.90), percentile(latencies, count, 0.99),
           latencies[count - 1], sum / (double)count);
    free(latencies);
    free(body);
    return 0;
}
