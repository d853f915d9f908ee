#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int shared;

static void *work(void *own) {
    pthread_mutex_lock(own);
    shared++; /* RACE */
    pthread_mutex_unlock(own);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &locks[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return shared == 0;
}
