/*
 * load.c from a process of its own. Prints "opened 0" once its handle is open, then one JSON object per round:
 *
 *     load_client (--socket PATH | --model DIR) [--rounds 1] [--threads 4] [--calls N] [--seconds S]
 *                 [--sizes 1000,20000] [--timeout-ms 30000] [--runtime-threads 0] [--fork 1]
 *                 [--per-second N] [--fresh 1]
 *
 * --rounds 0: until standard input has ended.
 * --fork 1: a forked process that sleeps for 30 s lives beside it, as the children of some hosts do: "opened <its id>".
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

static uint64_t entries(const char *folder)
{
    uint64_t count = 0;
    DIR *opened = opendir(folder);
    for (struct dirent *entry = opened == NULL ? NULL : readdir(opened); entry != NULL; entry = readdir(opened)) {
        count += entry->d_name[0] != '.';
    }
    if (opened != NULL) {
        (void)closedir(opened);
    }
    return count;
}

static uint64_t resident_kib(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%lu %lu", &size, &resident) != 2) {
            resident = 0;
        }
        (void)fclose(file);
    }
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static bool input_has_ended(void)
{
    struct pollfd input = {STDIN_FILENO, POLLIN, 0};
    char byte;
    return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) == 0;
}

static void print_report(const load_report *report)
{
    printf("{\"calls\":%llu,\"wrong\":%llu,\"p50_us\":%.1f,\"p99_us\":%.1f,\"longest_us\":%.1f,\"statuses\":{",
           (unsigned long long)report->calls, (unsigned long long)report->wrong, report->p50_us, report->p99_us,
           report->longest_us);
    const char *separator = "";
    for (unsigned i = 0; i < LOAD_STATUSES; i++) {
        if (report->statuses[i] > 0) {
            printf("%s\"%s\":%llu", separator, epptok_status_name((epptok_status)i),
                   (unsigned long long)report->statuses[i]);
            separator = ",";
        }
    }
    printf("},\"rss\":%llu,\"descriptors\":%llu,\"threads\":%llu}\n", (unsigned long long)resident_kib(),
           (unsigned long long)entries("/proc/self/fd"), (unsigned long long)entries("/proc/self/task"));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    load_plan plan = {4, 30000, 0, 0, {1000, 0, 0, 0}, 0, 0};
    unsigned long rounds = 1, forks = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];
        if (strcmp(argv[i], "--socket") == 0) {
            options.socket_path = value;
        } else if (strcmp(argv[i], "--model") == 0) {
            options.model = value;
        } else if (strcmp(argv[i], "--rounds") == 0) {
            rounds = strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--threads") == 0) {
            plan.threads = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--calls") == 0) {
            plan.calls = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            plan.seconds = strtod(value, NULL);
        } else if (strcmp(argv[i], "--per-second") == 0) {
            plan.per_second = strtod(value, NULL);
        } else if (strcmp(argv[i], "--fresh") == 0) {
            plan.fresh = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--timeout-ms") == 0) {
            plan.timeout_ms = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--runtime-threads") == 0) {
            options.threads = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--fork") == 0) {
            forks = strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--sizes") == 0) {
            char *rest = argv[i + 1];
            for (unsigned j = 0; j < LOAD_SIZES; j++) {
                plan.sizes[j] = (uint32_t)strtoul(rest, &rest, 10);
                rest += *rest == ',';
            }
        } else {
            fprintf(stderr, "load_client: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    epptok *handle = NULL;
    char message[512];
    if (epptok_open(&options, &handle, message, sizeof message) != EPPTOK_OK) {
        fprintf(stderr, "load_client: %s\n", message);
        return 1;
    }
    pid_t beside = forks > 0 ? fork() : 0;
    if (forks > 0 && beside == 0) {
        (void)sleep(30);
        _exit(0);
    }
    printf("opened %ld\n", (long)beside);
    (void)fflush(stdout);
    bool endless = rounds == 0;
    while (plan.calls > 0 || plan.seconds > 0) {
        load_report report;
        load_run(handle, &plan, &report);
        print_report(&report);
        if (endless ? input_has_ended() : --rounds == 0) {
            break;
        }
    }
    return epptok_close(handle) == EPPTOK_OK ? 0 : 1;
}
