/* Stands in for the runtime: prints every instrumented access, so that tests know real return addresses.
 *
 *   module <bias> <start> <length> <path>
 *   read|write <return address> <address> <length>
 *   note <address> <expression>
 *   alloc <address> <length> <return addresses, innermost first ...>
 */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *kind, void *pc, const volatile void *address, size_t length) {
    printf("%s %lx %lx %zu\n", kind, (unsigned long)pc, (unsigned long)address, length);
}

static int say_module(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD) continue;
        if (segment->p_vaddr < low) low = segment->p_vaddr;
        if (segment->p_vaddr + segment->p_memsz > high) high = segment->p_vaddr + segment->p_memsz;
    }
    char exe[4096] = "";
    const char *path = info->dlpi_name;
    if (!path[0] && readlink("/proc/self/exe", exe, sizeof exe - 1) > 0) path = exe;
    if (path[0] == '.' && realpath(path, exe)) path = exe;
    printf("module %lx %lx %lx %s\n", (unsigned long)info->dlpi_addr, (unsigned long)(info->dlpi_addr + low),
           (unsigned long)(high - low), path);
    return 0;
}

/* Called by the programs: this expression is at this address now. */
void note(const char *expression, const volatile void *address) {
    printf("note %lx %s\n", (unsigned long)address, expression);
}

void say_modules(void) { dl_iterate_phdr(say_module, NULL); }

/* Call stack, as the runtime keeps it: the return address of every instrumented function that is entered. */
static void *callers[1024];
static int depth;

void __tsan_func_entry(void *caller) {
    if (depth < 1024) callers[depth] = caller;
    depth++;
}
void __tsan_func_exit(void) { depth--; }

void __tsan_init(void) {
    static int done;
    if (done++) return;
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    say_modules();
}

#define PC __builtin_return_address(0)
#define SIZED(n)                                                                      \
    void __tsan_read##n(void *a) { say("read", PC, a, n); }                           \
    void __tsan_write##n(void *a) { say("write", PC, a, n); }                         \
    void __tsan_unaligned_read##n(void *a) { say("read", PC, a, n); }                 \
    void __tsan_unaligned_write##n(void *a) { say("write", PC, a, n); }               \
    void __tsan_volatile_read##n(void *a) { say("read", PC, a, n); }                  \
    void __tsan_volatile_write##n(void *a) { say("write", PC, a, n); }                \
    void __tsan_read_write##n(void *a) { say("read", PC, a, n), say("write", PC, a, n); } \
    void __tsan_unaligned_read_write##n(void *a) { say("read", PC, a, n), say("write", PC, a, n); }
SIZED(1) SIZED(2) SIZED(4) SIZED(8) SIZED(16)

void __tsan_read_range(void *a, size_t n) { say("read", PC, a, n); }
void __tsan_write_range(void *a, size_t n) { say("write", PC, a, n); }
void __tsan_vptr_update(void **a, void *v) { (void)v, say("write", PC, a, 8); }
void __tsan_vptr_read(void **a) { say("read", PC, a, 8); }
void *__tsan_memcpy(void *d, const void *s, size_t n) {
    say("read", PC, s, n), say("write", PC, d, n);
    return memcpy(d, s, n);
}
void *__tsan_memmove(void *d, const void *s, size_t n) {
    say("read", PC, s, n), say("write", PC, d, n);
    return memmove(d, s, n);
}
void *__tsan_memset(void *d, int c, size_t n) {
    say("write", PC, d, n);
    return memset(d, c, n);
}

#define ATOMIC(bits, type)                                                                         \
    type __tsan_atomic##bits##_load(const volatile type *a, int o) {                               \
        (void)o, say("read", PC, a, bits / 8);                                                     \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *a, type v, int o) {                            \
        (void)o, say("write", PC, a, bits / 8);                                                    \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type *a, type v, int o) {                         \
        (void)o, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);                      \
        return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    type __tsan_atomic##bits##_fetch_add(volatile type *a, type v, int o) {                        \
        (void)o, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);                      \
        return __atomic_fetch_add(a, v, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    type __tsan_atomic##bits##_fetch_sub(volatile type *a, type v, int o) {                        \
        (void)o, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);                      \
        return __atomic_fetch_sub(a, v, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    type __tsan_atomic##bits##_fetch_or(volatile type *a, type v, int o) {                         \
        (void)o, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);                      \
        return __atomic_fetch_or(a, v, __ATOMIC_SEQ_CST);                                          \
    }                                                                                              \
    type __tsan_atomic##bits##_fetch_and(volatile type *a, type v, int o) {                        \
        (void)o, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);                      \
        return __atomic_fetch_and(a, v, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *e, type v, int o, int f) { \
        (void)o, (void)f, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);             \
        return __atomic_compare_exchange_n(a, e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *e, type v, int o, int f) { \
        (void)o, (void)f, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);             \
        return __atomic_compare_exchange_n(a, e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type e, type v, int o, int f) { \
        (void)o, (void)f, say("read", PC, a, bits / 8), say("write", PC, a, bits / 8);             \
        __atomic_compare_exchange_n(a, &e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
        return e;                                                                                  \
    }
ATOMIC(8, uint8_t) ATOMIC(16, uint16_t) ATOMIC(32, uint32_t) ATOMIC(64, uint64_t)
void __tsan_atomic_thread_fence(int o) { (void)o; }
void __tsan_atomic_signal_fence(int o) { (void)o; }

/* Allocations: only the linker option --wrap makes these see anything. */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
static void say_allocation(void *pc, void *block, size_t size) {
    static int busy; /* stdio allocates its buffer */
    if (busy++ == 0) {
        printf("alloc %lx %zu %lx", (unsigned long)block, size, (unsigned long)pc);
        for (int i = depth; i > 0; i--) printf(" %lx", (unsigned long)callers[i - 1]);
        printf("\n");
    }
    busy--;
}
void *__real_malloc(size_t size) __attribute__((weak));
void *__wrap_malloc(size_t size) {
    void *block = __real_malloc(size);
    say_allocation(PC, block, size);
    return block;
}
void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__wrap_calloc(size_t count, size_t size) {
    void *block = __real_calloc(count, size);
    say_allocation(PC, block, count * size);
    return block;
}
/* operator new(unsigned long) */
void *__real__Znwm(size_t size) __attribute__((weak));
void *__wrap__Znwm(size_t size) {
    void *block = __real__Znwm(size);
    say_allocation(PC, block, size);
    return block;
}
void *__real__Znam(size_t size) __attribute__((weak));
void *__wrap__Znam(size_t size) {
    void *block = __real__Znam(size);
    say_allocation(PC, block, size);
    return block;
}
