#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int entry, made;

static int look_up(void) {
    pthread_rwlock_rdlock(&lock);
    int found = entry;
    pthread_rwlock_unlock(&lock);
    if (found)
        return found;
    pthread_rwlock_wrlock(&lock);
    if (!entry) {
        entry = 42;
        made++;
    }
    found = entry;
    pthread_rwlock_unlock(&lock);
    return found;
}

static void *work(void *nothing) { return look_up() == 42 ? nothing : &lock; }

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return made != 1;
}
