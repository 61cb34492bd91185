/* A plugin that is given a handle and does not know how it was obtained. Link it with -lepptok. */
#include <epptok.h>
#include <string.h>

int64_t count_tokens(epptok *handle, const char *text)
{
    epptok_request request = EPPTOK_REQUEST_INIT;
    request.kind = EPPTOK_KIND_TEXT;
    request.body = text;
    request.length = strlen(text);
    size_t count = 0;
    epptok_status status = epptok_tokenize_into(handle, &request, NULL, 0, &count, NULL, 0);
    return status == EPPTOK_OK || status == EPPTOK_BUFFER_TOO_SMALL ? (int64_t)count : -(int64_t)status;
}
