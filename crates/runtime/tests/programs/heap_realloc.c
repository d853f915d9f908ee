/* A block that another thread has written grows and moves. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int *block;
static void *other(void *unused) {
    block[0] = 3; // fills
    return unused;
}
static void *reader(void *moved) {
    printf("%d\n", *(int *)moved); // reads_moved
    return NULL;
}
int main(void) {
    pthread_t thread;
    block = malloc(16); // allocates
    void *wall = malloc(16);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    int *moved = realloc(block, 5000); // resizes
    printf("%d\n", moved != block);
    pthread_create(&thread, NULL, reader, moved);
    pthread_join(thread, NULL);
    free(moved);
    free(wall);
    return 0;
}
