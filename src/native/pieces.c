#include "pieces.h"

#include <string.h>

size_t epptok_i_pieces_length(const epptok_i_bytes *pieces, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        length += pieces[i].length;
    }
    return length;
}

size_t epptok_i_pieces_after(const epptok_i_bytes *pieces, size_t count, size_t done, struct iovec *vector)
{
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        if (done >= pieces[i].length) {
            done -= pieces[i].length;
            continue;
        }
        vector[filled].iov_base = (void *)((uintptr_t)pieces[i].data + done);
        vector[filled++].iov_len = pieces[i].length - done;
        done = 0;
    }
    return filled;
}

void epptok_i_pieces_write(const epptok_i_bytes *pieces, size_t count, size_t done, uint8_t *to)
{
    for (size_t i = 0; i < count; i++) {
        size_t skipped = done < pieces[i].length ? done : pieces[i].length;
        done -= skipped;
        if (pieces[i].length > skipped) {
            memcpy(to, (const uint8_t *)pieces[i].data + skipped, pieces[i].length - skipped);
            to += pieces[i].length - skipped;
        }
    }
}
