/* Two threads take two mutexes in opposite orders and wait for each other until they are killed. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *other(void *unused) {
    pthread_mutex_lock(&two);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&one);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    pthread_mutex_lock(&one);
    pthread_barrier_wait(&both);
    alarm(1);
    pthread_mutex_lock(&two);
    return 0;
}
