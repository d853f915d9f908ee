#include <pthread.h>
#include <stdint.h>
#include <stddef.h>

/* A packed record of a file: eight bytes at 3, one byte at 10. */
struct record {
    char kind[3];
    uint64_t length;
} __attribute__((packed));

static struct record record;

static void *set_length(void *nothing) {
    record.length = 42; /* RACE */
    return nothing;
}

static void *set_last_byte(void *nothing) {
    ((volatile char *)&record)[10] = 1; /* RACE */
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, set_length, NULL);
    pthread_create(&threads[1], NULL, set_last_byte, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return record.length == 0;
}
