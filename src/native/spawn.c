#define _GNU_SOURCE
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "descriptor.h"

#if defined(__APPLE__)
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

#define CONTROL_IN_CHILD 3

#if defined(__APPLE__)
#define CAN_CHANGE_DIRECTORY
#elif defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 29)
#define CAN_CHANGE_DIRECTORY
#endif
#endif

/* ---- starting ---- */

/*
 * The environment without what a Node parent tells its own children: our descriptor 3 would be taken for the IPC channel
 * that NODE_CHANNEL_FD names. The strings stay the process's.
 */
static char **environment_for_child(void)
{
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL) {
        count++;
    }
    char **copy = malloc((count + 1) * sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "NODE_CHANNEL_", strlen("NODE_CHANNEL_")) != 0) {
            copy[kept++] = environ[i];
        }
    }
    copy[kept] = NULL;
    return copy;
}

/* node, the runtime, `--control-fd=3 --parent=<pid>`, the rest. The strings stay the launch's, and `parent`. */
static char **command_line(const epptok_i_launch *launch, char *parent)
{
    static char control[] = "--control-fd=3";
    size_t count = 0;
    while (launch->arguments[count] != NULL) {
        count++;
    }
    char **line = malloc((count + 5) * sizeof *line);
    if (line != NULL) {
        line[0] = launch->node;
        line[1] = launch->runtime;
        line[2] = control;
        line[3] = parent;
        memcpy(line + 4, launch->arguments, (count + 1) * sizeof *line);
    }
    return line;
}

static int set_attributes(posix_spawnattr_t *attributes)
{
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
#if defined(POSIX_SPAWN_CLOEXEC_DEFAULT)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGKILL);
    (void)sigdelset(&all, SIGSTOP);
    int error = posix_spawnattr_setflags(attributes, flags);
    if (error == 0) {
        error = posix_spawnattr_setsigmask(attributes, &none);
    }
    if (error == 0) {
        error = posix_spawnattr_setsigdefault(attributes, &all);
    }
    /* A group of its own: Ctrl-C is the host's to handle, and may come while it still has calls to make. */
    if (error == 0) {
        error = posix_spawnattr_setpgroup(attributes, 0);
    }
    return error;
}

/* `control` is above 3, so that no action overwrites what a later one needs. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int control)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    }
    /* Node, for one, marks its own to be closed in children; without it the runtime could not say why it fails. */
    if (error == 0 && fcntl(STDERR_FILENO, F_GETFD) >= 0) {
#if defined(POSIX_SPAWN_CLOEXEC_DEFAULT)
        error = posix_spawn_file_actions_addinherit_np(actions, STDERR_FILENO);
#else
        error = posix_spawn_file_actions_adddup2(actions, STDERR_FILENO, STDERR_FILENO);
#endif
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(actions, control, CONTROL_IN_CHILD);
    }
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
    if (error == 0) {
        error = posix_spawn_file_actions_addclosefrom_np(actions, CONTROL_IN_CHILD + 1);
    }
#endif
#endif
    return error;
}

/* Node does not start in a directory that was removed; the paths it is given are absolute. */
static int set_directory(posix_spawn_file_actions_t *actions)
{
#ifdef CAN_CHANGE_DIRECTORY
    return posix_spawn_file_actions_addchdir_np(actions, "/");
#else
    (void)actions;
    return 0;
#endif
}

static int spawn(const epptok_i_launch *launch, int control, char **line, char **environment, pid_t *pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        return error;
    }
    error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = set_attributes(&attributes);
        if (error == 0) {
            error = set_descriptors(&actions, control);
        }
        if (error == 0) {
            error = set_directory(&actions);
        }
        if (error == 0) {
            error = posix_spawnp(pid, launch->node, &actions, &attributes, line, environment);
        }
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)posix_spawnattr_destroy(&attributes);
    return error;
}

epptok_i_child *epptok_i_child_start(const epptok_i_launch *launch, epptok_status *status, epptok_i_reason *reason)
{
    char parent[40];
    (void)snprintf(parent, sizeof parent, "--parent=%ld", (long)getpid());
    epptok_i_child *child = calloc(1, sizeof *child);
    char **line = command_line(launch, parent);
    char **environment = environment_for_child();
    int pair[2] = {-1, -1};
    int high = -1;
    int error = 0;
    if (child == NULL || line == NULL || environment == NULL || pthread_mutex_init(&child->lock, NULL) != 0) {
        free(child);
        child = NULL;
        error = ENOMEM;
    }
    if (error == 0) {
        error = epptok_i_socket_pair(pair);
    }
    if (error == 0) {
        high = fcntl(pair[1], F_DUPFD_CLOEXEC, CONTROL_IN_CHILD + 7);
        error = high < 0 ? errno : spawn(launch, high, line, environment, &child->pid);
    }
    epptok_i_descriptor_close(&high);
    epptok_i_descriptor_close(&pair[1]);
    free(line);
    free(environment);
    if (error == 0) {
        child->control = pair[0];
        child->watched = epptok_i_child_watch(child);
        *status = EPPTOK_OK;
        return child;
    }
    epptok_i_descriptor_close(&pair[0]);
    if (child != NULL) {
        (void)pthread_mutex_destroy(&child->lock);
    }
    free(child);
    char text[128];
    *status = error == ENOMEM
                  ? epptok_i_out_of_memory(reason)
                  : epptok_i_because(reason, EPPTOK_INIT_FAILED, "cannot start node as \"%s\": %s%s", launch->node,
                                     epptok_i_errno_text(error, text, sizeof text),
                                     error == ENOENT ? " (set options.node_path or EPPTOK_NODE)" : "");
    return NULL;
}

int epptok_i_child_connect(epptok_i_child *child, int *descriptor)
{
    int pair[2];
    int error = epptok_i_socket_pair(pair);
    if (error != 0) {
        return error;
    }
    error = child->control < 0 ? EPIPE : epptok_i_socket_pass(child->control, 'C', pair[1]);
    epptok_i_descriptor_close(&pair[1]);
    if (error == 0) {
        *descriptor = pair[0];
        return 0;
    }
    epptok_i_descriptor_close(&pair[0]);
    switch (error) {
    case ENOBUFS:
    case ETOOMANYREFS: /* too many descriptors under way */
    case EWOULDBLOCK:
        return EAGAIN;
    case ECONNRESET:
    case ENOTCONN:
        return EPIPE;
    default:
        return error;
    }
}
