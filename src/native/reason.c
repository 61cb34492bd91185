#define _GNU_SOURCE
#include "reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

epptok_status epptok_i_because(epptok_i_reason *reason, epptok_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason->text, sizeof reason->text, format, arguments);
    va_end(arguments);
    return status;
}

epptok_status epptok_i_out_of_memory(epptok_i_reason *reason)
{
    return epptok_i_because(reason, EPPTOK_OUT_OF_MEMORY, "memory ran out in the library");
}

const char *epptok_i_errno_text(int error, char *buffer, size_t capacity)
{
#if defined(__GLIBC__)
    return strerror_r(error, buffer, capacity);
#else
    if (strerror_r(error, buffer, capacity) != 0) {
        (void)snprintf(buffer, capacity, "error %d", error);
    }
    return buffer;
#endif
}

void epptok_i_hand_out_message(const char *text, char *message, size_t capacity)
{
    if (message == NULL || capacity == 0) {
        return;
    }
    size_t length = strlen(text);
    if (length >= capacity) {
        length = capacity - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xC0u) == 0x80u) {
            length--;
        }
    }
    memcpy(message, text, length);
    message[length] = '\0';
}
