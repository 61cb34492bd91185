/*
 * The token ids of one request body, read from standard input.
 *
 *     tokenize DIRECTORY           a private runtime, as a child of this process
 *     tokenize --socket PATH       a running `epptok serve --socket PATH`
 */
#include <epptok.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char body[1 << 20];

int main(int argc, char **argv)
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    if (argc == 3 && strcmp(argv[1], "--socket") == 0) {
        options.socket_path = argv[2];
    } else if (argc == 2) {
        options.model = argv[1];
    } else {
        fprintf(stderr, "usage: %s DIRECTORY | --socket PATH\n", argv[0]);
        return 2;
    }
    size_t length = fread(body, 1, sizeof body, stdin);
    if (length == sizeof body) {
        fprintf(stderr, "a body of 1 MiB or more does not fit this example\n");
        return 2;
    }

    epptok *handle = NULL;
    char message[256];
    epptok_status status = epptok_open(&options, &handle, message, sizeof message);
    if (status != EPPTOK_OK) {
        fprintf(stderr, "open: %s: %s\n", epptok_status_name(status), message);
        return 1;
    }

    epptok_request request = EPPTOK_REQUEST_INIT;
    request.body = body; /* the bytes as they arrived: parsed and serialised anew they may give other tokens */
    request.length = length;
    request.timeout_ms = 2000;
    epptok_result *result = NULL;
    status = epptok_tokenize(handle, &request, &result);
    if (status == EPPTOK_OK) {
        for (size_t i = 0; i < epptok_result_sequence_count(result); i++) {
            size_t count;
            const uint32_t *ids = epptok_result_ids(result, i, &count);
            printf("%zu ids:", count);
            for (size_t k = 0; k < count && k < 8; k++) {
                printf(" %" PRIu32, ids[k]);
            }
            printf("%s\n", count > 8 ? " ..." : "");
        }
    } else {
        fprintf(stderr, "tokenize: %s: %s\n", epptok_status_name(status), epptok_result_message(result));
    }
    epptok_result_free(&result);
    epptok_close(handle);
    return status == EPPTOK_OK ? 0 : 1;
}
