#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;
/* What a thread is about to look into: nobody frees it meanwhile. */
static _Atomic(struct node *) hazards[2];

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load(&top);
    while (!atomic_compare_exchange_weak(&top, &node->next, node))
        ;
}

static struct node *protected_top(int own) {
    struct node *seen;
    do {
        seen = atomic_load(&top);
        atomic_store(&hazards[own], seen);
    } while (seen != atomic_load(&top));
    return seen;
}

static void free_when_unused(struct node *node, int other) {
    while (atomic_load(&hazards[other]) == node)
        sched_yield();
    free(node);
}

static int pop(int own) {
    struct node *node;
    do
        node = protected_top(own);
    while (node && !atomic_compare_exchange_strong(&top, &node, node->next));
    atomic_store(&hazards[own], NULL);
    if (!node)
        return 0;
    int value = node->value;
    free_when_unused(node, 1 - own);
    return value;
}

static void *work(void *number) {
    size_t sum = 0;
    for (int i = 0; i < 10; i++) {
        push(1);
        push(2);
        sum += pop((int)(size_t)number);
        sum += pop((int)(size_t)number);
    }
    return (void *)sum;
}

int main(void) {
    pthread_t threads[2];
    void *sums[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &sums[i]);
    return (size_t)sums[0] + (size_t)sums[1] != 60;
}
