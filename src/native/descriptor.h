/* Unix sockets that no other child of the process inherits and that never raise SIGPIPE. */
#ifndef EPPTOK_DESCRIPTOR_H
#define EPPTOK_DESCRIPTOR_H

#include <stdbool.h>

/*
 * In a program that has closed its standard descriptors a new one may have a number below 3: what it prints would go into a
 * frame, and a private child would be given it as its standard error. Returns the descriptor, or instead of it (then closed) a
 * copy above 2 that no child inherits; -1 with errno, also for -1.
 */
int epptok_i_above_standard(int descriptor);
/* 0 or an errno. */
int epptok_i_socket_pair(int pair[2]);
/* Connects without waiting. EAGAIN: the listener's backlog is full, try again. */
int epptok_i_socket_connect(const char *path, int *descriptor);
/* The user whose process listens at the other end; false if the system cannot tell. */
bool epptok_i_socket_user(int descriptor, unsigned long *user);
/* Sends `passed` with one byte of payload, without waiting. 0 or an errno. */
int epptok_i_socket_pass(int control, char payload, int passed);
void epptok_i_descriptor_close(int *descriptor);

#endif
