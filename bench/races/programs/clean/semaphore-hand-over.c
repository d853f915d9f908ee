#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t is_full, is_empty;
static int slot;

static void *produce(void *nothing) {
    for (int i = 1; i <= 10; i++) {
        sem_wait(&is_empty);
        slot = i;
        sem_post(&is_full);
    }
    return nothing;
}

int main(void) {
    pthread_t producer;
    int sum = 0;
    sem_init(&is_full, 0, 0);
    sem_init(&is_empty, 0, 1);
    pthread_create(&producer, NULL, produce, NULL);
    for (int i = 0; i < 10; i++) {
        sem_wait(&is_full);
        sum += slot;
        sem_post(&is_empty);
    }
    pthread_join(producer, NULL);
    return sum != 55;
}
