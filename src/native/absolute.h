/* Paths of options, made once: a host may call chdir() between the open that names them and a restart that needs them. */
#ifndef EPPTOK_ABSOLUTE_H
#define EPPTOK_ABSOLUTE_H

#include "reason.h"

/*
 * The path, behind the current directory if it is relative, malloc'ed. It need not exist, and links stay what they are.
 * INVALID_ARGUMENT, naming `what`, where the current directory cannot be told (it was removed, say).
 */
epptok_status epptok_i_absolute(const char *what, const char *path, char **absolute, epptok_i_reason *reason);
/* options.socket_path, which a socket address has to hold: INVALID_ARGUMENT, naming it, where it does not fit or is empty. */
epptok_status epptok_i_absolute_socket(const char *path, char **absolute, epptok_i_reason *reason);

#endif
