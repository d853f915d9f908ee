#include <pthread.h>
#include <stddef.h>

#include "../schedule.h"

static pthread_mutex_t lock;
static int balance;

static void withdraw(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    /* One release too many for the caller: the lock is free from here on. */
    pthread_mutex_unlock(&lock);
}

static void *transfer(void *nothing) {
    pthread_mutex_lock(&lock);
    withdraw();
    balance -= 10; /* RACE */
    next_turn();
    return nothing;
}

static void *deposit(void *nothing) {
    await_turn(1);
    pthread_mutex_lock(&lock);
    balance += 10; /* RACE */
    pthread_mutex_unlock(&lock);
    return nothing;
}

int main(void) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, transfer, NULL);
    pthread_create(&threads[1], NULL, deposit, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
