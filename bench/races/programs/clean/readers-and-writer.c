#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int width = 1, height = 1;

static void *read_area(void *nothing) {
    for (int i = 0; i < 10; i++) {
        pthread_rwlock_rdlock(&lock);
        int area = width * height;
        pthread_rwlock_unlock(&lock);
        if (area % 2 == 0)
            return &lock;
    }
    return nothing;
}

static void *resize(void *nothing) {
    for (int i = 0; i < 10; i++) {
        pthread_rwlock_wrlock(&lock);
        width += 2;
        height += 2;
        pthread_rwlock_unlock(&lock);
    }
    return nothing;
}

int main(void) {
    pthread_t threads[3];
    void *failed[3];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_area, NULL);
    pthread_create(&threads[2], NULL, resize, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], &failed[i]);
    return failed[0] || failed[1];
}
