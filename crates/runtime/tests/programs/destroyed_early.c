/* A mutex that another thread holds is destroyed, in vain; another one that it holds is overwritten. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
static pthread_mutex_t held, gone;
static sem_t locked, destroyed;
static void *second(void *unused) {
    pthread_mutex_lock(&held);
    pthread_mutex_lock(&gone);
    sem_post(&locked);
    sem_wait(&destroyed);
    pthread_mutex_unlock(&held);
    printf("unlock %d\n", pthread_mutex_unlock(&gone));
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_mutexattr_t checking;
    pthread_mutexattr_init(&checking);
    pthread_mutexattr_settype(&checking, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&held, NULL);
    pthread_mutex_init(&gone, &checking);
    sem_init(&locked, 0, 0);
    sem_init(&destroyed, 0, 0);
    pthread_create(&thread, NULL, second, NULL);
    sem_wait(&locked);
    int answer = pthread_mutex_destroy(&held);
    gone.__data.__owner = 0;
    gone.__data.__lock = 0;
    sem_post(&destroyed);
    pthread_join(thread, NULL);
    printf("destroy %d\n", answer);
    return 0;
}
