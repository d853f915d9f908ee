/* The second thread surely waits for the first one's mutex. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int inside;
static void *second(void *unused) {
    pthread_mutex_lock(&mutex);
    inside++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, second, NULL);
    usleep(100000);
    inside++;
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    printf("%d\n", inside);
    return 0;
}
