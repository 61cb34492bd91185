/* The caller's structs, read as far as the caller knows them, and checked. */
#ifndef EPPTOK_ARGUMENTS_H
#define EPPTOK_ARGUMENTS_H

#include "reason.h"

epptok_status epptok_i_read_options(const epptok_options *given, epptok_options *options, epptok_i_reason *reason);
epptok_status epptok_i_read_request(const epptok_request *given, epptok_request *request, epptok_i_reason *reason);
/* The body's half of a request, and the ids' half. */
epptok_status epptok_i_check_body(const epptok_request *request, epptok_i_reason *reason);
epptok_status epptok_i_check_ids(const epptok_request *request, epptok_i_reason *reason);

#endif
