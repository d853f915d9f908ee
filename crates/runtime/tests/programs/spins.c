/* A thread looks at a flag so often that nobody could keep a record of it, as one does that waits in a loop. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { LOOKS = 100000 };

static atomic_int flag;

static void *look(void *nothing) {
    int seen = 0;
    for (int i = 0; i < LOOKS; i++)
        seen += atomic_load_explicit(&flag, memory_order_acquire);
    return seen == LOOKS ? nothing : &flag;
}

int main(void) {
    pthread_t thread;
    atomic_store(&flag, 1);
    pthread_create(&thread, NULL, look, NULL);
    void *failed;
    pthread_join(thread, &failed);
    return failed != NULL;
}
