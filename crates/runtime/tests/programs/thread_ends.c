/* Every way a thread can end; key destructors touch shared data late; joins of every kind. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_key_t key;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int waiting, late;
static void destroy(void *rounds) {
    pthread_mutex_lock(&mutex);
    late++;
    pthread_mutex_unlock(&mutex);
    if ((long)rounds > 1) pthread_setspecific(key, (void *)((long)rounds - 1));
}
static void deep(int levels) {
    if (levels == 0) pthread_exit((void *)11L);
    deep(levels - 1);
    late--; /* never */
}
static void *exits(void *unused) {
    pthread_setspecific(key, (void *)3L);
    deep(20);
    return unused;
}
static void unlock(void *unused) {
    (void)unused;
    waiting = 2;
    pthread_mutex_unlock(&mutex);
}
static void *is_cancelled(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    waiting = 1;
    while (1) pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return unused;
}
static void *returns(void *argument) { return argument; }
static void *sleeps(void *argument) { usleep(20000); return argument; }
int main(void) {
    pthread_t thread;
    void *answer;
    struct timespec soon;
    pthread_key_create(&key, destroy);

    pthread_create(&thread, NULL, exits, NULL);
    pthread_join(thread, &answer);
    printf("exit %ld %d\n", (long)answer, late);

    pthread_create(&thread, NULL, is_cancelled, NULL);
    for (int done = 0; !done;) {
        pthread_mutex_lock(&mutex);
        done = waiting == 1;
        pthread_mutex_unlock(&mutex);
    }
    pthread_cancel(thread);
    pthread_join(thread, &answer);
    printf("cancelled %d, mutex %d\n", answer == PTHREAD_CANCELED, pthread_mutex_trylock(&mutex));
    pthread_mutex_unlock(&mutex);

    pthread_create(&thread, NULL, sleeps, &late);
    printf("try %d\n", pthread_tryjoin_np(thread, &answer) == EBUSY);
    soon.tv_sec = 1, soon.tv_nsec = 0;
    printf("timed %d\n", pthread_timedjoin_np(thread, &answer, &soon) == ETIMEDOUT);
    clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_sec += 30;
    printf("clock %d\n", pthread_clockjoin_np(thread, &answer, CLOCK_MONOTONIC, &soon));

    pthread_create(&thread, NULL, returns, NULL);
    printf("detach %d\n", pthread_detach(thread));
    usleep(20000);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1UL << 46);
    printf("impossible %d\n", pthread_create(&thread, &attributes, returns, NULL));
    pthread_exit(NULL);
}
