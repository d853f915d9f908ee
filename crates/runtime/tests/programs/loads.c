#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
int main(int count, char **arguments) {
    (void)count;
    printf("none %d\n", dlopen("/does/not/exist.so", RTLD_NOW) == NULL);
    dlerror();
    void *object = dlopen(arguments[1], RTLD_NOW);
    if (!object) { printf("%s\n", dlerror()); return 1; }
    void *(*add)(void *) = (void *(*)(void *))dlsym(object, "loaded_add");
    pthread_t thread;
    add(NULL);
    pthread_create(&thread, NULL, add, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", *(int *)dlsym(object, "loaded_value"));
    printf("%d %d\n", dlclose(object), dlerror() == NULL);
    return 0;
}
