#include <pthread.h>
#include <stdio.h>

struct settings {
    int verbose, depth;
};

static void *work(void *given) {
    const struct settings *settings = given;
    printf("%d\n", settings->depth); /* RACE */
    return NULL;
}

int main(void) {
    struct settings settings = {1, 2};
    pthread_t thread;
    pthread_create(&thread, NULL, work, &settings);
    settings.depth = 3; /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
