#include "transport.h"

#include <stdlib.h>
#include <string.h>

bool epptok_i_transport_forced(uint32_t option, epptok_transport *forced, epptok_i_reason *reason)
{
    static const struct {
        const char *text;
        epptok_transport transport;
    } names[] = {{"auto", EPPTOK_TRANSPORT_AUTO},
                 {"callback", EPPTOK_TRANSPORT_CALLBACK},
                 {"direct", EPPTOK_TRANSPORT_DIRECT},
                 {"socket", EPPTOK_TRANSPORT_SOCKET}};
    const char *text = getenv("EPPTOK_TRANSPORT");
    if (text != NULL && text[0] != '\0') {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (strcmp(text, names[i].text) == 0) {
                *forced = names[i].transport;
                return true;
            }
        }
        (void)epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                               "EPPTOK_TRANSPORT is \"%s\": it can be auto, callback, direct or socket", text);
        return false;
    }
    if (option > EPPTOK_TRANSPORT_SOCKET) {
        (void)epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT, "options.transport is %u, which is no transport", option);
        return false;
    }
    *forced = (epptok_transport)option;
    return true;
}

const epptok_i_transport *epptok_i_transport_choose(const epptok_i_handle *handle, epptok_i_frame_type type,
                                                    epptok_i_reason *reason)
{
    if (handle->peer != NULL) {
        return &epptok_i_transport_socket;
    }
    bool owner = handle->owner_thread == epptok_i_thread_number();
    if (handle->transport == EPPTOK_TRANSPORT_CALLBACK && !owner) {
        (void)epptok_i_because(reason, EPPTOK_INVALID_ARGUMENT,
                               "transport callback was forced, but this thread is not the one that owns the handle");
        return NULL;
    }
    if (handle->transport == EPPTOK_TRANSPORT_CALLBACK) {
        return &epptok_i_transport_callback;
    }
    /* The counters are the queue's to tell, whoever asks. */
    bool queued = type == EPPTOK_I_STATS && handle->host != 0;
    if (handle->transport == EPPTOK_TRANSPORT_DIRECT || !owner || handle->callback == NULL || queued) {
        return &epptok_i_transport_direct;
    }
    return &epptok_i_transport_callback;
}
