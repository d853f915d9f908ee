/* Annotations and fibers; without ThreadSanitizer's runtime or ours there are none, so these stand in. */
#include <stdio.h>
#pragma weak __tsan_acquire
#pragma weak __tsan_release
#pragma weak __tsan_mutex_create
#pragma weak __tsan_mutex_pre_lock
#pragma weak __tsan_mutex_post_lock
#pragma weak __tsan_mutex_pre_unlock
#pragma weak __tsan_mutex_post_unlock
#pragma weak __tsan_get_current_fiber
#pragma weak __tsan_create_fiber
#pragma weak __tsan_switch_to_fiber
#pragma weak __tsan_destroy_fiber
#pragma weak AnnotateHappensBefore
void __tsan_acquire(void *), __tsan_release(void *);
void __tsan_mutex_create(void *, unsigned), __tsan_mutex_pre_lock(void *, unsigned), __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
void *__tsan_get_current_fiber(void), *__tsan_create_fiber(unsigned);
void __tsan_switch_to_fiber(void *, unsigned), __tsan_destroy_fiber(void *);
void AnnotateHappensBefore(const char *, int, void *);
static int object, mutex;
int main(void) {
    if (__tsan_acquire) {
        __tsan_release(&object);
        __tsan_acquire(&object);
        __tsan_mutex_create(&mutex, 0);
        __tsan_mutex_pre_lock(&mutex, 0);
        mutex = 1;
        __tsan_mutex_post_lock(&mutex, 0, 0);
        __tsan_mutex_pre_unlock(&mutex, 0);
        mutex = 0;
        __tsan_mutex_post_unlock(&mutex, 0);
        AnnotateHappensBefore(__FILE__, __LINE__, &object);
        void *home = __tsan_get_current_fiber();
        void *fiber = __tsan_create_fiber(0);
        object = 1;
        __tsan_switch_to_fiber(fiber, 0);
        object = 2;
        __tsan_switch_to_fiber(home, 0);
        __tsan_destroy_fiber(fiber);
    }
    printf("done\n");
    return 0;
}
