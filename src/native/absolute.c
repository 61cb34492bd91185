#define _GNU_SOURCE
#include "absolute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

epptok_status epptok_i_absolute(const char *what, const char *path, char **absolute, epptok_i_reason *reason)
{
    if (path[0] == '/') {
        *absolute = strdup(path);
        return *absolute == NULL ? epptok_i_out_of_memory(reason) : EPPTOK_OK;
    }
    char *current = getcwd(NULL, 0);
    if (current == NULL) {
        char text[128];
        return errno == ENOMEM ? epptok_i_out_of_memory(reason)
                               : epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                                  "%s \"%s\" is relative, and the current directory cannot be told: %s", what,
                                                  path, epptok_i_errno_text(errno, text, sizeof text));
    }
    size_t length = strlen(current) + 1 + strlen(path) + 1;
    *absolute = malloc(length);
    if (*absolute != NULL) {
        (void)snprintf(*absolute, length, "%s/%s", strcmp(current, "/") == 0 ? "" : current, path);
    }
    free(current);
    return *absolute == NULL ? epptok_i_out_of_memory(reason) : EPPTOK_OK;
}

epptok_status epptok_i_absolute_socket(const char *given, char **path, epptok_i_reason *reason)
{
    const size_t most = sizeof((struct sockaddr_un *)NULL)->sun_path - 1;
    if (given[0] == '\0') {
        return epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "options.socket_path is empty");
    }
    epptok_status status = epptok_i_absolute("options.socket_path", given, path, reason);
    if (status == EPPTOK_OK && strlen(*path) > most) {
        status = epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                                  "options.socket_path is %zu bytes long%s, at most %zu fit: %s", strlen(*path),
                                  given[0] == '/' ? "" : " with the current directory in front", most, *path);
    }
    return status;
}
