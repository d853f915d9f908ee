#include <pthread.h>
#include <stddef.h>

struct task {
    int input, output;
};

static void *twice(void *given) {
    struct task *task = given;
    task->output = task->input * 2;
    return task;
}

int main(void) {
    struct task task = {21, 0};
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        task.input += i;
        pthread_create(&thread, NULL, twice, &task);
        pthread_join(thread, NULL);
    }
    return task.output != 48;
}
