/*
 * From a C program to token ids.
 *
 *     quickstart --model DIR       a private runtime, as a child of this process
 *     quickstart --socket PATH     a running `epptok serve --socket PATH`
 *
 * The calls themselves are in plugin.c: they are the same whatever kind of handle they are given.
 */
#include <stdio.h>
#include <string.h>

#include "plugin.h"

int main(int argc, char **argv)
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    const char *door = NULL;
    if (argc == 3 && strcmp(argv[1], "--model") == 0) {
        options.model = argv[2];
        door = "C program, private runtime";
    } else if (argc == 3 && strcmp(argv[1], "--socket") == 0) {
        options.socket_path = argv[2];
        door = "C program, sidecar";
    } else {
        fprintf(stderr, "usage: %s --model DIR | --socket PATH\n", argv[0]);
        return 2;
    }

    epptok *handle = NULL;
    char message[256];
    epptok_status status = epptok_open(&options, &handle, message, sizeof message);
    if (status != EPPTOK_OK) {
        fprintf(stderr, "%s: cannot open: %s: %s\n", door, epptok_status_name(status), message);
        return 1;
    }
    int32_t ran = plugin_run(handle, door);
    epptok_close(handle);
    return ran == EPPTOK_OK ? 0 : 1;
}
