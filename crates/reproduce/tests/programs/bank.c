#include <pthread.h>

int balance, limit;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(void) {
    pthread_mutex_lock(&lock); // helper
}

__attribute__((noinline)) int look(void) {
    enter(); // enters
    int old = balance; // look
    pthread_mutex_unlock(&lock);
    return old;
}

static inline void store(int value) {
    balance = value; // store
}

__attribute__((noinline)) void put(int value) {
    pthread_mutex_lock(&lock); // gate
    store(value); // stores
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) int both(void) {
    return balance + limit; // both
}

int main(void) {
    put(look() + 1);
    return both() < 0;
}
