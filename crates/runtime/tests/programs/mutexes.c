/* Every kind of mutex and every answer its functions can give; one thread holds, the main thread tries. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t of_kind(int kind, int robust) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    return mutex;
}

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER, recursive, checking, robust;

static struct timespec soon(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) { time.tv_sec++; time.tv_nsec -= 1000000000; }
    return time;
}

static void *hold_and_die(void *unused) {
    pthread_mutex_lock(&robust);
    return unused;
}

static void *try_them(void *unused) {
    struct timespec real = soon(CLOCK_REALTIME), monotonic = soon(CLOCK_MONOTONIC), bad = {0, -1};
    errno = 77;
    printf("busy %d %d\n", pthread_mutex_trylock(&normal), pthread_mutex_trylock(&recursive));
    printf("timed %d %d\n", pthread_mutex_timedlock(&normal, &real), pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &monotonic));
    printf("bad time %d, bad clock %d\n", pthread_mutex_timedlock(&normal, &bad), pthread_mutex_clocklock(&normal, 12345, &real));
    printf("foreign unlock %d %d, errno %d\n", pthread_mutex_unlock(&checking), pthread_mutex_unlock(&recursive), errno);
    return unused;
}

int main(void) {
    pthread_t thread;
    recursive = of_kind(PTHREAD_MUTEX_RECURSIVE, 0);
    checking = of_kind(PTHREAD_MUTEX_ERRORCHECK, 0);
    robust = of_kind(PTHREAD_MUTEX_NORMAL, 1);

    printf("normal %d\n", pthread_mutex_lock(&normal));
    printf("recursive %d %d %d\n", pthread_mutex_lock(&recursive), pthread_mutex_lock(&recursive), pthread_mutex_trylock(&recursive));
    printf("checking %d %d %d\n", pthread_mutex_lock(&checking), pthread_mutex_lock(&checking), pthread_mutex_trylock(&checking));
    pthread_create(&thread, NULL, try_them, NULL);
    pthread_join(thread, NULL);
    printf("unlock %d %d %d %d %d\n", pthread_mutex_unlock(&normal), pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive),
           pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive));
    printf("checking %d %d\n", pthread_mutex_unlock(&checking), pthread_mutex_unlock(&checking));

    pthread_create(&thread, NULL, hold_and_die, NULL);
    pthread_join(thread, NULL);
    printf("owner died %d\n", pthread_mutex_lock(&robust) == EOWNERDEAD);
    printf("unlock without consistent %d\n", pthread_mutex_unlock(&robust));
    printf("not recoverable %d\n", pthread_mutex_lock(&robust) == ENOTRECOVERABLE);
    printf("destroy %d %d\n", pthread_mutex_destroy(&normal), pthread_mutex_destroy(&recursive));
    return 0;
}
