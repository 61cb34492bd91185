/* Where the library looks for its runtime when nobody says: from the folder in which it lies, not the current one. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loaded.h"

static char root[64], folder[128], library_path[160];

static void copy_file(const char *from, const char *to)
{
    char block[65536];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
    CHECK(in >= 0 && out >= 0);
    for (ssize_t got; (got = read(in, block, sizeof block)) > 0;) {
        CHECK(write(out, block, (size_t)got) == got);
    }
    (void)close(in);
    (void)close(out);
}

/* lib/x/y/libepptok.so: two folders above it are of this test too. */
static void lay_out(void)
{
    (void)snprintf(root, sizeof root, "%s/epptok-place-test-XXXXXX", P_tmpdir);
    CHECK(mkdtemp(root) != NULL);
    (void)snprintf(folder, sizeof folder, "%s/x", root);
    CHECK(mkdir(folder, 0700) == 0);
    (void)snprintf(folder, sizeof folder, "%s/x/y", root);
    CHECK(mkdir(folder, 0700) == 0);
    (void)snprintf(library_path, sizeof library_path, "%s/libepptok.so", folder);
    copy_file(LIBRARY, library_path);
}

static epptok_status try_to_open(char message[512])
{
    loaded library = loaded_from(library_path);
    epptok_options options = EPPTOK_OPTIONS_INIT;
    options.model = "ok";
    options.node_path = RUNTIME_SERVICE;
    epptok *handle = NULL;
    epptok_status status = library.open(&options, &handle, message, 512);
    if (status == EPPTOK_OK) {
        CHECK(library.close(handle) == EPPTOK_OK);
    }
    CHECK(dlclose(library.image) == 0);
    return status;
}

static void without_a_runtime_the_message_says_where_it_looked_and_what_to_set(void)
{
    char message[512];
    CHECK(try_to_open(message) == EPPTOK_INIT_FAILED);
    CHECK_NAMES(message, folder);
    CHECK_NAMES(message, "EPPTOK_RUNTIME");
}

static void each_place_of_a_package_a_checkout_and_an_installed_tree_is_looked_at(void)
{
    static const char *const places[][2] = {{"", "/serve-process.js"},
                                            {"/dist", "/dist/serve-process.js"},
                                            {"/x/y/epptok", "/x/y/epptok/serve-process.js"},
                                            {"/x/share", "/x/share/epptok/serve-process.js"},
                                            {"/share", "/share/epptok/serve-process.js"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char made[160], inner[176], file[192], message[512];
        (void)snprintf(made, sizeof made, "%s%s", root, places[i][0]);
        (void)snprintf(inner, sizeof inner, "%s/epptok", made);
        (void)snprintf(file, sizeof file, "%s%s", root, places[i][1]);
        (void)mkdir(made, 0700);
        (void)mkdir(inner, 0700);
        int fd = open(file, O_CREAT | O_WRONLY, 0600);
        CHECK(fd >= 0);
        (void)close(fd);
        if (try_to_open(message) != EPPTOK_OK) {
            FAIL_AT("%s: %s", file, message);
        }
        CHECK(unlink(file) == 0);
        (void)rmdir(inner);
        (void)rmdir(made);
    }
}

int main(void)
{
    CHECK(unsetenv("EPPTOK_RUNTIME") == 0);
    lay_out();
    RUN(without_a_runtime_the_message_says_where_it_looked_and_what_to_set);
    RUN(each_place_of_a_package_a_checkout_and_an_installed_tree_is_looked_at);
    CHECK(unlink(library_path) == 0 && rmdir(folder) == 0);
    (void)snprintf(folder, sizeof folder, "%s/x", root);
    CHECK(rmdir(folder) == 0 && rmdir(root) == 0);
    return 0;
}
