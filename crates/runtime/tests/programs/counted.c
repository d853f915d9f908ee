// One thread after the other, so there is one interleaving; how often each does what is in the text.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define AGAIN __asm__ volatile("" ::: "memory")

static int number;
static char flag, neighbour;
static long table[64];
static char text[24];
char copy[24];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    int sum = 0;
    for (int i = 0; i < 1000; i++, sum += number) AGAIN;
    for (int i = 0; i < 500; i++) { number = i; AGAIN; }
    for (int i = 0; i < 70; i++, sum += flag) AGAIN;
    for (int i = 0; i < 30; i++) { flag = i; AGAIN; }
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < 64; i++) { sum += table[i]; AGAIN; }
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < 64; i++) { table[i] = sum; AGAIN; }
    for (int i = 0; i < 7; i++) { memcpy(copy, text, sizeof text); AGAIN; }
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&mutex);
        neighbour++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *look(void *unused) {
    int sum = 0;
    for (int i = 0; i < 300; i++, sum += number) AGAIN;
    for (int i = 0; i < 64; i++) { sum += table[63 - i]; AGAIN; }
    return (char *)unused + sum;
}

static void run(void *(*function)(void *)) {
    pthread_t thread;
    pthread_create(&thread, 0, function, 0);
    pthread_join(thread, 0);
}

int main(void) {
    number = flag = neighbour = 1;
    for (int i = 0; i < 64; i++) { table[i] = i; AGAIN; }
    for (int i = 0; i < 24; i++) { text[i] = 'x'; AGAIN; }
    run(work);
    run(look);
    // Where things are is told by whoever looks: addresses differ from run to run.
    fprintf(stderr, "%p %p %p %p %p\n", (void *)&number, (void *)&flag, (void *)&neighbour, (void *)table, (void *)text);
    return 0;
}
