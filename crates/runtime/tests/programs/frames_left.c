/* Threads are given variables of frames. Some frames are left before the thread has used its variable; others when it is joined, or not at all. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
static sem_t left, used;
static long read_late(long *given) {
    long value = *(volatile long *)given;
    return value;
}
static void *late(void *given) {
    sem_wait(&left);
    long value = read_late(given);
    sem_post(&used);
    return (void *)(value & 0);
}
static void *soon(void *given) { return (void *)(read_late(given) & 0); }
__attribute__((noinline)) static void leave_early(void) {
    volatile long variable = 1;
    pthread_t thread;
    pthread_create(&thread, NULL, late, (void *)&variable);
    pthread_detach(thread);
}
static void *end_early(void *unused) {
    leave_early();
    volatile long variable = 5;
    pthread_t thread;
    pthread_create(&thread, NULL, late, (void *)&variable);
    pthread_detach(thread);
    return unused;
}
__attribute__((noinline)) static void join_first(void) {
    volatile long variable = 2;
    pthread_t thread;
    pthread_create(&thread, NULL, soon, (void *)&variable);
    pthread_join(thread, NULL);
}
__attribute__((noinline)) static void start(pthread_t *thread, long *given) {
    volatile long variable = 3;
    pthread_create(thread, NULL, late, given);
    *given += variable;
}
int main(int count, char **unused) {
    sem_init(&left, 0, 0);
    sem_init(&used, 0, 0);
    if (count > 2) {
        /* Two frames, one of them a thread's first. */
        pthread_t thread;
        pthread_create(&thread, NULL, end_early, NULL);
        pthread_join(thread, NULL);
        sem_post(&left);
        sem_post(&left);
        sem_wait(&used);
        sem_wait(&used);
        return 0;
    }
    if (count > 1) {
        leave_early();
        sem_post(&left);
        sem_wait(&used);
        return 0;
    }
    join_first();
    /* Of variable length: below the frame of main as it was entered. */
    long variables[count + 2];
    pthread_t thread;
    variables[1] = 4;
    start(&thread, &variables[1]);
    sem_post(&left);
    pthread_join(thread, NULL);
    printf("%d %p\n", count, (void *)(unused == NULL ? unused : NULL));
    return 0;
}
