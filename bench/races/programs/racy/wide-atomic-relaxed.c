#include <pthread.h>
#include <stdio.h>

struct node {
    int value;
};

/* A pointer and a version in 16 bytes, exchanged at once. */
typedef unsigned __int128 versioned;

static versioned head;
static struct node node;

static void *push(void *nothing) {
    node.value = 42; /* RACE */
    versioned old = 0, new = (versioned)1 << 64 | (unsigned long)&node;
    __atomic_compare_exchange_n(&head, &old, new, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, push, NULL);
    versioned seen;
    while ((seen = __atomic_load_n(&head, __ATOMIC_RELAXED)) == 0)
        ;
    const struct node *top = (const struct node *)(unsigned long)seen;
    printf("%d\n", top->value); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
