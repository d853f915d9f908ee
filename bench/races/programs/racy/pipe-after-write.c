#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int ends[2];
static int data;

static void *send(void *nothing) {
    char token = 1;
    if (write(ends[1], &token, 1) != 1)
        return nothing;
    data = 42; /* RACE */
    return nothing;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, NULL, send, NULL);
    char token;
    if (read(ends[0], &token, 1) == 1)
        printf("%d\n", data); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
