#include "unpick.h"
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static int get(void) {
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

static void set(int to) {
    pthread_mutex_lock(&lock);
    balance = to;
    pthread_mutex_unlock(&lock);
}

static void *deposit_ten(void *unused) {
    int before = get();
    UNPICK_TRIGGER(atomicity("lost-deposit", &balance), gap());
    set(before + 10);
    return unused;
}

static void *deposit_five(void *unused) {
    UNPICK_STEP(atomicity("lost-deposit", &balance), intruder());
    set(get() + 5);
    UNPICK_DONE("lost-deposit");
    return unused;
}

int main(void) {
    pthread_t ten, five;
    pthread_create(&ten, NULL, deposit_ten, NULL);
    pthread_create(&five, NULL, deposit_five, NULL);
    pthread_join(ten, NULL);
    pthread_join(five, NULL);
    printf("100 + 10 + 5 = %d\n", get());
    return 0;
}
