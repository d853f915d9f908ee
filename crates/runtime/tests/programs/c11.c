#include <stdio.h>
#include <threads.h>
#include <time.h>
static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int ready, once_count, destroyed;
static void initialise(void) { once_count++; }
static void destroy(void *value) { destroyed += *(int *)value; }
static int other(void *argument) {
    static int seven = 7;
    tss_set(key, &seven);
    call_once(&flag, initialise);
    mtx_lock(&mutex);
    ready = 1;
    cnd_signal(&condition);
    mtx_unlock(&mutex);
    return *(int *)argument;
}
static int leaving(void *argument) { thrd_exit(*(int *)argument); }
int main(void) {
    thrd_t thread;
    int argument = 42, answer = 0;
    struct timespec past = {1, 0};
    mtx_init(&mutex, mtx_timed);
    cnd_init(&condition);
    tss_create(&key, destroy);
    mtx_lock(&mutex);
    thrd_create(&thread, other, &argument);
    while (!ready) cnd_wait(&condition, &mutex);
    call_once(&flag, initialise);
    printf("%d\n", cnd_timedwait(&condition, &mutex, &past) == thrd_timedout);
    mtx_unlock(&mutex);
    thrd_join(thread, &answer);
    printf("%d %d %d\n", answer, once_count, destroyed);
    printf("%d %d\n", mtx_trylock(&mutex) == thrd_success, mtx_trylock(&mutex) == thrd_busy);
    printf("%d\n", mtx_timedlock(&mutex, &past) == thrd_timedout);
    mtx_unlock(&mutex);
    mtx_destroy(&mutex);
    cnd_destroy(&condition);
    argument = 5;
    thrd_create(&thread, leaving, &argument);
    thrd_join(thread, &answer);
    printf("%d\n", answer);
    thrd_create(&thread, leaving, &argument);
    thrd_detach(thread);
    thrd_sleep(&(struct timespec){0, 50000000}, NULL);
    return 0;
}
