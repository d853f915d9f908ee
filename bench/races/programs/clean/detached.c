#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t done;
static int result;

static void *work(void *nothing) {
    result = 42;
    sem_post(&done);
    return nothing;
}

int main(void) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    sem_init(&done, 0, 0);
    pthread_create(&thread, &detached, work, NULL);
    sem_wait(&done);
    return result != 42;
}
