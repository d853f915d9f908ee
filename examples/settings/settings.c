/* A server that reads its settings while it starts: the thread that serves comes a moment later, and relies on them.
 *
 * Nothing but that moment puts one thread before the other. The counter of visits has no lock either, and nobody minds.
 *
 *   unpick cc -g -O1 -pthread settings.c -o settings
 *   unpick races -- ./settings
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static const char *greeting;
int last_visit;

static void *start(void *none) {
    greeting = "hello";
    last_visit = 1;
    return none;
}

static void *serve(void *none) {
    usleep(20 * 1000);
    last_visit = 2;
    if (!greeting) _exit(1);
    return none;
}

int main(void) {
    pthread_t starter, server;
    pthread_create(&starter, NULL, start, NULL);
    pthread_create(&server, NULL, serve, NULL);
    pthread_join(starter, NULL);
    pthread_join(server, NULL);
    puts(greeting);
    return 0;
}
