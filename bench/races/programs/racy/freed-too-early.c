#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../schedule.h"

struct session {
    int user;
};

static void *serve(void *given) {
    const struct session *session = given;
    printf("%d\n", session->user); /* RACE */
    next_turn();
    return NULL;
}

int main(void) {
    struct session *session = malloc(sizeof *session);
    session->user = 7;
    pthread_t thread;
    pthread_create(&thread, NULL, serve, session);
    await_turn(1);
    free(session); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
