#include <pthread.h>
#include <stddef.h>

static pthread_once_t filled = PTHREAD_ONCE_INIT;
static int table[4];

static void fill(void) {
    for (int i = 0; i < 4; i++)
        table[i] = i * i;
}

static void *look_up(void *number) {
    pthread_once(&filled, fill);
    return (void *)(size_t)table[(size_t)number];
}

int main(void) {
    pthread_t threads[3];
    void *result;
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, look_up, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], &result);
    return (size_t)result != 4;
}
