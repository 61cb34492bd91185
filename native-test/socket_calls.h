/* The library's side of the socket tests: a socket path of the test's own, handles onto it, and calls with what came of them. */
#ifndef SOCKET_CALLS_H
#define SOCKET_CALLS_H

#include <epptok.h>

extern char socket_folder[];
extern char socket_path[];

/* Makes the folder, and ends the program with 13 should SIGPIPE ever be raised. */
void socket_calls_begin(void);
void socket_calls_end(void);

epptok_status open_at(const char *path, uint32_t flags, epptok **handle, char message[256]);
epptok *opened(void);

typedef struct call {
    epptok *handle;
    const char *body;
    size_t length;
    uint64_t call_id;
    uint32_t timeout_ms;
    epptok_status status;
    char message[256];
    size_t count;
    int64_t took_ms;
} call;

/* Of a pthread, too. */
void *make_call(void *call);
call called(epptok *handle, const char *body, uint64_t call_id, uint32_t timeout_ms);

#endif
