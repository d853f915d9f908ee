/* The end of blocks' lives, met by another thread or not. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_barrier_t barrier;
static volatile int *known, *unknown, *untouched;
static volatile long *first_life, *second_life;
static void meet(void) { pthread_barrier_wait(&barrier); }
static void *other(void *unused) {
    void *volatile any = malloc(1); /* and glibc's own block for the thread */
    free(any);
    int sum = known[1]; // reads_known
    meet();
    meet();
    sum += known[1] != 0; // reads_freed
    sum += unknown[1] != 0; // reads_unknown
    sum += untouched[1] != 0; // reads_untouched
    second_life = malloc(3000); // second_malloc
    second_life[5] = 2; // second_write
    return unused;
}
int main(void) {
    pthread_t thread;
    mallopt(M_ARENA_MAX, 1);
    pthread_barrier_init(&barrier, NULL, 2);
    known = malloc(64); // allocates_known
    known[1] = 5; // writes_known
    unknown = malloc(64); // allocates_unknown
    unknown[1] = 6; // writes_unknown
    untouched = calloc(1, 64); // allocates_untouched
    first_life = malloc(3000); // first_malloc
    first_life[5] = 1; // first_write
    void *wall = malloc(3000);
    pthread_create(&thread, NULL, other, NULL);
    meet();
    free((void *)known); // frees_known
    free((void *)unknown); // frees_unknown
    free((void *)untouched); // frees_untouched
    long *old = (long *)first_life;
    free((void *)first_life); // frees_first
    meet();
    pthread_join(thread, NULL);
    printf("reused %d\n", old == second_life);
    free(wall);
    return 0;
}
