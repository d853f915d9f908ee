#include "config.h"
#include <pthread.h>
#include <stdio.h>

#if !defined HAVE_PTHREAD_H || defined HAVE_NO_SUCH_HEADER_H
#error "a header probe gave a wrong answer"
#endif
#if !defined HAVE_CLOCK_GETTIME || defined HAVE_NO_SUCH_FUNCTION
#error "a function probe gave a wrong answer"
#endif
#if SIZEOF_LONG != 8 || defined WORDS_BIGENDIAN
#error "a machine probe gave a wrong answer"
#endif

int deposit(int amount);

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&guard);
        deposit(1);
        pthread_mutex_unlock(&guard);
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("balance %d\n", deposit(0));
    return 0;
}
