#include "status.h"

#include "../../include/epptok.h"

/* The table repeats the header's numbers; a difference is an array of negative size. */
#define CHECK_NUMBER(name, number, text) typedef char epptok_i_number_of_##name[EPPTOK_##name == (number) ? 1 : -1];
EPPTOK_I_STATUS_MAP(CHECK_NUMBER)

const char *epptok_status_name(epptok_status status)
{
    switch ((int)status) {
#define NAME(name, number, text)                                                                                       \
    case number:                                                                                                       \
        return #name;
        EPPTOK_I_STATUS_MAP(NAME)
    default:
        return "UNKNOWN_STATUS";
    }
}

const char *epptok_status_text(epptok_status status)
{
    switch ((int)status) {
#define TEXT(name, number, text)                                                                                       \
    case number:                                                                                                       \
        return text;
        EPPTOK_I_STATUS_MAP(TEXT)
    default:
        return "a status that this version of the library does not know";
    }
}
