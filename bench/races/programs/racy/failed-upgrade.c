#include <pthread.h>
#include <stdio.h>

#include "../schedule.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int entry;

static void *read_entry(void *nothing) {
    pthread_rwlock_rdlock(&lock);
    next_turn();
    await_turn(2);
    printf("%d\n", entry); /* RACE */
    pthread_rwlock_unlock(&lock);
    return nothing;
}

/* Who reads cannot become a writer while others read; the answer is not looked at. */
static void *update_entry(void *nothing) {
    await_turn(1);
    pthread_rwlock_rdlock(&lock);
    if (entry == 0) {
        pthread_rwlock_trywrlock(&lock);
        entry = 42; /* RACE */
    }
    next_turn();
    pthread_rwlock_unlock(&lock);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, read_entry, NULL);
    pthread_create(&threads[1], NULL, update_entry, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
