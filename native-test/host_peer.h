/* A caller of the native host made of bare frames and sockets, for its tests. */
#ifndef HOST_PEER_H
#define HOST_PEER_H

#include "../include/epptok.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames, malloc'ed. */
uint8_t *host_peer_tokenize(uint64_t call_id, size_t body, uint32_t ms, size_t *length);
uint8_t *host_peer_call(unsigned type, uint64_t call_id, uint32_t ms, size_t *length);
uint8_t *host_peer_response(uint64_t call_id, uint32_t status, const uint32_t *ids, size_t count, size_t *length);
uint8_t *host_peer_hello_frame(uint32_t abi, size_t *length);

/* Of a RESPONSE or WELCOME. */
uint32_t host_peer_status(const uint8_t *frame);
uint64_t host_peer_call_id(const uint8_t *frame);
/* Its MESSAGE, NUL-terminated in a static buffer of the thread. */
const char *host_peer_message(const uint8_t *frame);

int host_peer_connect(const char *path);
/* With a descriptor that was made before; -1 on failure. */
int host_peer_connect_with(int fd, const char *path);
bool host_peer_write(int fd, const void *bytes, size_t length);
/* The length of the frame read; 0 at the end, or after 10 s. */
size_t host_peer_read_frame(int fd, uint8_t *frame, size_t capacity);
/* Says HELLO and returns the status of the WELCOME; 999 if there was none. */
uint32_t host_peer_hello(int fd);
/* true if the peer closes within ms milliseconds; what it still sends is dropped. */
bool host_peer_is_closed(int fd, int ms);

#endif
