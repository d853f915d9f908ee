#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *count(void *nothing) {
    counter++;
    return nothing;
}

static void in_a_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, count, NULL);
    pthread_join(thread, NULL);
}

/* Parent and child go on with a counter of their own each. */
int main(void) {
    in_a_thread();
    pid_t child = fork();
    if (child == 0) {
        counter++;
        _exit(counter != 2);
    }
    counter++;
    int status;
    waitpid(child, &status, 0);
    return counter != 2 || status != 0;
}
