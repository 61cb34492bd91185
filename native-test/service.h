/*
 * A runtime without Node, for tests: the native host of the library, served by C threads. A body is answered by one id per
 * byte, unless it is a command:
 *
 *     sleep:MS     answers after that long           status:N     fails with that status, and a message
 *     silence      never answers                     garbage      answers with bytes that are no frame
 *     stray        answers with another call's id    batch        three sequences: 1 2 | | 3
 *     die          its process is killed
 */
#ifndef SERVICE_H
#define SERVICE_H

#include <epptok.h>

typedef struct service service;

/* socket_path NULL: none. control_fd -1: none. ready false: until service_ready(). */
service *service_start(const char *socket_path, int control_fd, uint32_t threads, int ready);
uint32_t service_host(const service *self);
void service_ready(service *self, epptok_status status, const char *message);
/* Waits until the host ends by itself, at the end of file of its control socket. */
void service_join(service *self);
void service_stop(service *self);

/* An answer to the request frame, malloc'ed; NULL for silence. */
uint8_t *service_answer(const uint8_t *frame, size_t length, uint32_t worker, size_t *answer_length);

/* How many jobs were served so far, in all services of this process. */
uint64_t service_served(void);

#endif
