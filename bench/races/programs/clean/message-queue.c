#include <pthread.h>
#include <stdlib.h>

struct message {
    struct message *next;
    int number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct message *queue;

static void *send_all(void *nothing) {
    for (int i = 1; i <= 10; i++) {
        struct message *message = malloc(sizeof *message);
        message->number = i;
        pthread_mutex_lock(&lock);
        message->next = queue;
        queue = message;
        pthread_cond_signal(&arrived);
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static int receive(void) {
    pthread_mutex_lock(&lock);
    while (!queue)
        pthread_cond_wait(&arrived, &lock);
    struct message *message = queue;
    queue = message->next;
    pthread_mutex_unlock(&lock);
    int number = message->number;
    free(message);
    return number;
}

int main(void) {
    pthread_t sender;
    int sum = 0;
    pthread_create(&sender, NULL, send_all, NULL);
    for (int i = 0; i < 10; i++)
        sum += receive();
    pthread_join(sender, NULL);
    return sum != 55;
}
