#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock;
static int balance;

static void add(int amount) {
    pthread_mutex_lock(&lock);
    balance += amount;
    pthread_mutex_unlock(&lock);
}

static void *transfer(void *nothing) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        add(10);
        balance -= 9;
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

int main(void) {
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, transfer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return balance != 20;
}
