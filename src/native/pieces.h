/* Bytes that follow each other and lie in several places: what is sent is never copied to be in one. */
#ifndef EPPTOK_PIECES_H
#define EPPTOK_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

typedef struct epptok_i_bytes {
    const void *data;
    size_t length;
} epptok_i_bytes;

size_t epptok_i_pieces_length(const epptok_i_bytes *pieces, size_t count);
/* What follows the first `done` bytes, for writev(). Returns how many of `vector`, which has room for `count`, are filled. */
size_t epptok_i_pieces_after(const epptok_i_bytes *pieces, size_t count, size_t done, struct iovec *vector);
/* What follows the first `done` bytes, in one piece. */
void epptok_i_pieces_write(const epptok_i_bytes *pieces, size_t count, size_t done, uint8_t *to);

#endif
