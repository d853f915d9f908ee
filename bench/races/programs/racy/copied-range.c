#include <pthread.h>
#include <string.h>

static char message[64];
static char copy[64];

static void *write_one(void *nothing) {
    message[40] = 'x'; /* RACE */
    return nothing;
}

static void *copy_all(void *length) {
    memcpy(copy, message, *(size_t *)length); /* RACE */
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    size_t length = sizeof message;
    pthread_create(&threads[0], NULL, write_one, NULL);
    pthread_create(&threads[1], NULL, copy_all, &length);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return copy[40] != 'x' && copy[40] != 0;
}
