#include <pthread.h>
#include <stddef.h>

static int counter;

static void *count(void *nothing) {
    counter++; /* RACE */
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter == 0;
}
