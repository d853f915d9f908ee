#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];

static void *send(void *nothing) {
    int *message = malloc(sizeof *message);
    *message = 42;
    if (write(ends[1], &message, sizeof message) != sizeof message)
        return &ends;
    return nothing;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, send, NULL);
    int *message, seen = 0;
    if (read(ends[0], &message, sizeof message) == sizeof message) {
        seen = *message;
        free(message);
    }
    pthread_join(thread, NULL);
    return seen != 42;
}
