#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void add_up(void *value) {
    pthread_mutex_lock(&lock);
    total += *(int *)value;
    pthread_mutex_unlock(&lock);
    free(value);
}

static void *work(void *nothing) {
    int *own = malloc(sizeof *own);
    *own = 21;
    pthread_setspecific(key, own);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_key_create(&key, add_up);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_key_delete(key);
    return total != 42;
}
