/* The header alone, first, under several standards; compiled, not run. */
#include <epptok.h>

int use_header(void);

int use_header(void)
{
    epptok_options options = EPPTOK_OPTIONS_INIT;
    epptok_request request = EPPTOK_REQUEST_INIT;
    return (int)options.abi_version + (int)request.kind + (int)EPPTOK_VERSION_MAJOR;
}
