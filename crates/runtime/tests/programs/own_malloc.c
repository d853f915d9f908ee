/* A program with an allocator of its own, and with functions of its own that have names of the C library. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static char pool[1 << 20] __attribute__((aligned(16)));
static size_t used;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int given;
void *malloc(size_t bytes) {
    pthread_mutex_lock(&mutex);
    void *block = pool + used;
    used += (bytes + 31) & ~(size_t)15;
    given++;
    pthread_mutex_unlock(&mutex);
    return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes) { return memset(malloc(count * bytes), 0, count * bytes); }
void *realloc(void *block, size_t bytes) { return block ? memcpy(malloc(bytes), block, bytes) : malloc(bytes); }
int send(int number) { return number + 1; }
static void *other(void *block) {
    *(int *)block = 4;
    free(block);
    return NULL;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, other, malloc(16));
    pthread_join(thread, NULL);
    char *text = strdup("own");
    puts(text);
    free(text);
    printf("%d %d\n", given >= 2, send(3));
    return 0;
}
