/* The other end of a socket, made of bare frames, that behaves well or badly as it is told. */
#ifndef SCRIPTED_PEER_H
#define SCRIPTED_PEER_H

#include <pthread.h>
#include <stdbool.h>

typedef enum behaviour {
    HONEST,
    NO_WELCOME,
    REFUSE_ABI,
    OTHER_ABI,
    REFUSE_WITH_MESSAGE,
    NEVER_ANSWER,
    NEVER_READ,
    HANG_UP_ON_CALL,
    HANG_UP_AFTER_ANSWER,
    HANG_UP_IN_ANSWER,
    TRICKLE,
    NO_FRAME,
    HUGE_FRAME,
    STRAY_ANSWER,
    TWO_ANSWERS,
    SPEAK_WHILE_IDLE,
    REFUSE_BY_SIZE
} behaviour;

typedef struct peer {
    int listener;
    behaviour behaves;
    pthread_t acceptor;
    pthread_t threads[64];
    int descriptors[64];
    unsigned accepted;
    unsigned calls;
    unsigned answers_read, disturbed;
    bool stopping;
} peer;

/* Listens at `path`, which it replaces. `behaves` may be changed, atomically, while it runs. */
void peer_start(peer *self, const char *path, behaviour behaves);
void peer_stop(peer *self, const char *path);
void peer_behave(peer *self, behaviour behaves);
unsigned peer_accepted(const peer *self);
/* TOKENIZE calls it has read. */
unsigned peer_calls(const peer *self);
/*
 * HANG_UP_AFTER_ANSWER, SPEAK_WHILE_IDLE: the caller has its answer, and it is the peer's turn to do what it does then. Returns
 * when it has.
 */
void peer_disturb(peer *self);

#endif
