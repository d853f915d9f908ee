// Has no hooks and no runtime; loads `plugin.c` and lets two threads use it, one after the other.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int (*add)(int);

static void *work(void *unused) {
    add(1);
    return unused;
}

int main(int count, char **arguments) {
    void *plugin = dlopen(arguments[count - 1], RTLD_NOW);
    if (!plugin || !(add = (int (*)(int))dlsym(plugin, "add"))) return 3;
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, 0);
        pthread_join(thread, 0);
    }
    printf("%d\n", add(0));
    return 0;
}
