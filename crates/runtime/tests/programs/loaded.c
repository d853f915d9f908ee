/* A shared object that is loaded later. */
#include <pthread.h>
int loaded_value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *loaded_add(void *unused) {
    pthread_mutex_lock(&mutex);
    loaded_value++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
