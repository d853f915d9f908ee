#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void *other(void *unused) {
    struct timespec past = {1, 0}, bad = {1, 1000000000};
    printf("write busy %d %d %d\n", pthread_rwlock_trywrlock(&lock), pthread_rwlock_timedwrlock(&lock, &past), pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &past));
    printf("read %d\n", pthread_rwlock_rdlock(&lock));
    printf("read %d\n", pthread_rwlock_tryrdlock(&lock));
    printf("unlock %d %d\n", pthread_rwlock_unlock(&lock), pthread_rwlock_unlock(&lock));
    printf("bad %d %d\n", pthread_rwlock_timedrdlock(&lock, &bad), pthread_rwlock_clockrdlock(&lock, 9999, &past));
    return unused;
}
int main(void) {
    pthread_t thread;
    struct timespec past = {1, 0};
    pthread_rwlock_rdlock(&lock);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
    printf("deadlock %d %d\n", pthread_rwlock_wrlock(&lock), pthread_rwlock_rdlock(&lock));
    pthread_rwlock_unlock(&lock);
    printf("timed %d %d\n", pthread_rwlock_timedrdlock(&lock, &past), pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &past));
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    printf("%d\n", pthread_rwlock_destroy(&lock));
    return 0;
}
