#include <pthread.h>
#include <stdio.h>

static int result;

static void *work(void *nothing) {
    result = 42; /* RACE */
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    printf("%d\n", result); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
