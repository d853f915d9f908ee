#include <pthread.h>
#include <stddef.h>

static pthread_key_t key;
static int ended;

static void note_end(void *value) {
    (void)value;
    ended++; /* RACE */
}

static void *work(void *nothing) {
    pthread_setspecific(key, &key);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_key_create(&key, note_end);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_key_delete(key);
    return ended == 0;
}
