/* How a private child ends, and how that is noticed. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "clock.h"
#include "descriptor.h"
#include "spawn.h"

#define MS_TO_END_BY_ITSELF 2000
#define MS_TO_DIE_WHEN_KILLED 1000

bool epptok_i_child_hung_up(const epptok_i_child *child)
{
    struct pollfd watched = {child->control, POLLIN, 0};
    return child->control < 0 || (poll(&watched, 1, 0) > 0 && (watched.revents & (POLLHUP | POLLERR)) != 0);
}

/* child->lock is held. */
static bool take_note(epptok_i_child *child)
{
    while (!child->gone) {
        int status = 0;
        pid_t waited = waitpid(child->pid, &status, WNOHANG);
        if (waited == child->pid) {
            child->gone = true;
            child->status_known = true;
            child->wait_status = status;
        } else if (waited == 0) {
            return false;
        } else if (errno != EINTR) {
            child->gone = true; /* ECHILD: the host ignores SIGCHLD, or waits for every child itself */
        }
    }
    return true;
}

bool epptok_i_child_reap(epptok_i_child *child)
{
    pthread_mutex_lock(&child->lock);
    bool gone = take_note(child);
    pthread_mutex_unlock(&child->lock);
    return gone;
}

void epptok_i_child_describe(epptok_i_child *child, char *text, size_t capacity)
{
    long pid = (long)child->pid;
    pthread_mutex_lock(&child->lock);
    bool known = child->status_known, gone = child->gone;
    int status = child->wait_status;
    pthread_mutex_unlock(&child->lock);
    if (known && WIFSIGNALED(status)) {
        (void)snprintf(text, capacity, "runtime process %ld was killed by signal %d", pid, WTERMSIG(status));
    } else if (known && WIFEXITED(status)) {
        (void)snprintf(text, capacity, "runtime process %ld exited with code %d", pid, WEXITSTATUS(status));
    } else if (gone || epptok_i_child_hung_up(child)) {
        (void)snprintf(text, capacity, "runtime process %ld ended", pid);
    } else {
        (void)snprintf(text, capacity, "runtime process %ld closed the connection", pid);
    }
}

void epptok_i_child_kill(epptok_i_child *child)
{
    epptok_i_descriptor_close(&child->control);
    pthread_mutex_lock(&child->lock);
    if (!take_note(child)) {
        (void)kill(child->pid, SIGKILL);
    }
    pthread_mutex_unlock(&child->lock);
}

static bool wait_for_end(epptok_i_child *child, uint32_t milliseconds)
{
    int64_t deadline = epptok_i_deadline_in_ms(milliseconds);
    long pause_ns = 500000;
    while (!epptok_i_child_reap(child)) {
        if (epptok_i_now_ns() >= deadline) {
            return false;
        }
        struct timespec pause = {0, pause_ns};
        (void)nanosleep(&pause, NULL);
        pause_ns = pause_ns < 8000000 ? pause_ns * 2 : pause_ns;
    }
    return true;
}

void epptok_i_child_end_at_once(epptok_i_child *child)
{
    epptok_i_child_kill(child);
    (void)wait_for_end(child, MS_TO_DIE_WHEN_KILLED);
}

void epptok_i_child_end(epptok_i_child *child)
{
    epptok_i_descriptor_close(&child->control);
    if (!wait_for_end(child, MS_TO_END_BY_ITSELF)) {
        epptok_i_child_end_at_once(child);
    }
}

void epptok_i_child_free(epptok_i_child *child)
{
    if (child->watched) {
        if (!epptok_i_child_reap(child)) {
            /* Not even killed does it end (a system call that hangs): its watcher goes on, and keeps what it looks at. */
            (void)pthread_detach(child->watcher);
            return;
        }
        (void)pthread_join(child->watcher, NULL);
    }
    (void)pthread_mutex_destroy(&child->lock);
    free(child);
}

static void *watch(void *argument)
{
    epptok_i_child *child = argument;
    siginfo_t ended;
    /* Without taking it: until then the number is not another process's. */
    while (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    (void)epptok_i_child_reap(child);
    return NULL;
}

/* Handlers of the program that we are in shall not run on it. */
bool epptok_i_child_watch(epptok_i_child *child)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&child->watcher, NULL, watch, child) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
