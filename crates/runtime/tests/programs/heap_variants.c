/* Every way to get a block, each handed to another thread, which frees it. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int *blocks[12];
static int count;
static void keep(void *block, size_t alignment) {
    printf("%d\n", block != NULL && (uintptr_t)block % alignment == 0);
    blocks[count] = block;
    blocks[count++][0] = count;
}
static void *other(void *unused) {
    for (int i = 0; i < count; i++) {
        printf("%d\n", blocks[i][0]);
        free(blocks[i]);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    void *block = NULL;
    keep(malloc(24), 16); // malloc
    keep(calloc(3, 8), 16); // calloc
    keep(realloc(NULL, 40), 16); // realloc
    keep(reallocarray(NULL, 5, 8), 16); // reallocarray
    keep(memalign(1 << 16, 48), 1 << 16); // memalign
    keep(aligned_alloc(64, 128), 64); // aligned_alloc
    printf("%d\n", posix_memalign(&block, 4096, 56)); // posix_memalign
    keep(block, 4096);
    keep(valloc(60), 4096); // valloc
    keep(strdup("a text of thirty-one characters"), 1); // strdup
    int *grown = realloc(malloc(16), 100000); // grown
    keep(grown, 16);
    int *shrunk = realloc(malloc(4000), 16); // shrunk
    keep(shrunk, 16);
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);

    volatile size_t huge = SIZE_MAX / 2;
    errno = 0;
    printf("%p %d\n", malloc(huge), errno == ENOMEM);
    errno = 0;
    printf("%p %d\n", calloc(huge, 4), errno == ENOMEM);
    errno = 0;
    printf("%p %d\n", reallocarray(NULL, huge, 4), errno == ENOMEM);
    printf("%d %d\n", posix_memalign(&block, 3, 8) == EINVAL, posix_memalign(&block, 64, huge) == ENOMEM);
    int *kept = malloc(8);
    *kept = 7;
    printf("%p %d\n", realloc(kept, huge), *kept);
    printf("%p\n", realloc(kept, 0));
    free(NULL);
    return 0;
}
