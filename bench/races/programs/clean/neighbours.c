#include <pthread.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>

/* Memory of its own for each of two threads, without a gap: bytes, bit-fields in words of their own, an unaligned number. */
static struct {
    char first, second;
    unsigned is_open : 1;
    unsigned : 0;
    unsigned is_dirty : 1;
    struct {
        char kind[3];
        uint64_t length;
        char last;
    } __attribute__((packed)) record;
    char text[64];
} all;

static const char words[] = "thirty-two bytes for one of them";

static void *use_one_half(void *nothing) {
    all.first = 1;
    all.is_open = 1;
    all.record.length = 42;
    memcpy(all.text, words, 32);
    return nothing;
}

static void *use_other_half(void *nothing) {
    all.second = 1;
    all.is_dirty = 1;
    all.record.kind[2] = all.record.last = 1;
    memset(all.text + 32, 'x', 32);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, use_one_half, NULL);
    pthread_create(&threads[1], NULL, use_other_half, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return all.first != all.second;
}
