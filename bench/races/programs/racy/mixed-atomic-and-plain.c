#include <pthread.h>
#include <stdio.h>

static int state;

static void *work(void *nothing) {
    __atomic_store_n(&state, 1, __ATOMIC_SEQ_CST); /* RACE */
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    printf("%d\n", state); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
