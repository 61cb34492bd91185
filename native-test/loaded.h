/* The library as a plugin host gets it: loaded from a path, used, unloaded. */
#ifndef LOADED_H
#define LOADED_H

#include <dlfcn.h>

#include <epptok.h>

#include "check.h"

typedef struct loaded {
    void *image;
    epptok_status (*open)(const epptok_options *, epptok **, char *, size_t);
    epptok_status (*tokenize_into)(epptok *, const epptok_request *, uint32_t *, size_t, size_t *, char *, size_t);
    epptok_status (*close)(epptok *);
} loaded;

static inline void *loaded_symbol(void *image, const char *symbol)
{
    void *found = dlsym(image, symbol);
    CHECK(found != NULL);
    return found;
}

static inline loaded loaded_from(const char *path)
{
    loaded library;
    library.image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library.image == NULL) {
        FAIL_AT("%s", dlerror());
    }
    /* As POSIX has it: a data pointer is turned into a function's by way of memory. */
    *(void **)&library.open = loaded_symbol(library.image, "epptok_open");
    *(void **)&library.tokenize_into = loaded_symbol(library.image, "epptok_tokenize_into");
    *(void **)&library.close = loaded_symbol(library.image, "epptok_close");
    return library;
}

#endif
