/* The floor: every hook that gcc and clang emit for -fsanitize=thread, doing nothing; atomics are really performed.
 *
 * What a program costs with these hooks is the price of the calls alone, so no recorder behind the same hooks can be faster.
 * Compiled without -fsanitize=thread and with -O2 -mcx16. Clang's spelling of some hooks is included.
 */
#include <stddef.h>

#define EMPTY(name, ...) \
    void __tsan_##name(__VA_ARGS__) {}

EMPTY(init, void)
EMPTY(func_entry, void *caller)
EMPTY(func_exit, void)
EMPTY(vptr_update, void **place, void *value)
EMPTY(vptr_read, void **place)
EMPTY(read_range, void *address, size_t bytes)
EMPTY(write_range, void *address, size_t bytes)
EMPTY(ignore_thread_begin, void)
EMPTY(ignore_thread_end, void)
EMPTY(acquire, void *address)
EMPTY(release, void *address)

#define EMPTY_ACCESSES(bytes)                     \
    EMPTY(read##bytes, void *address)             \
    EMPTY(write##bytes, void *address)            \
    EMPTY(unaligned_read##bytes, void *address)   \
    EMPTY(unaligned_write##bytes, void *address)  \
    EMPTY(volatile_read##bytes, void *address)    \
    EMPTY(volatile_write##bytes, void *address)   \
    EMPTY(read_write##bytes, void *address)       \
    EMPTY(unaligned_read_write##bytes, void *address)

EMPTY_ACCESSES(1)
EMPTY_ACCESSES(2)
EMPTY_ACCESSES(4)
EMPTY_ACCESSES(8)
EMPTY_ACCESSES(16)

/* Hooks take the order as a number at run time; on x86 only a sequentially consistent store differs from the rest. */
#define PERFORMED_READ_MODIFY_WRITE(bits, type, operation)                           \
    type __tsan_atomic##bits##_fetch_##operation(volatile type *place, type value, int order) \
    {                                                                                \
        return __atomic_fetch_##operation(place, value, __ATOMIC_SEQ_CST);           \
    }

#define PERFORMED_COMPARE_EXCHANGE(bits, type, strength, weak)                                                \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type *place, type *expected, type desired, \
                                                          int order, int order_of_failure)                    \
    {                                                                                                         \
        return __atomic_compare_exchange_n(place, expected, desired, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }

#define PERFORMED_ATOMICS(bits, type)                                                                                   \
    type __tsan_atomic##bits##_load(const volatile type *place, int order)                                             \
    {                                                                                                                   \
        return __atomic_load_n(place, __ATOMIC_SEQ_CST);                                                                \
    }                                                                                                                   \
    void __tsan_atomic##bits##_store(volatile type *place, type value, int order)                                       \
    {                                                                                                                   \
        if (order == __ATOMIC_SEQ_CST)                                                                                  \
            __atomic_store_n(place, value, __ATOMIC_SEQ_CST);                                                           \
        else                                                                                                            \
            __atomic_store_n(place, value, __ATOMIC_RELEASE);                                                           \
    }                                                                                                                   \
    type __tsan_atomic##bits##_exchange(volatile type *place, type value, int order)                                    \
    {                                                                                                                   \
        return __atomic_exchange_n(place, value, __ATOMIC_SEQ_CST);                                                     \
    }                                                                                                                   \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *place, type expected, type desired, int order,       \
                                                    int order_of_failure)                                               \
    {                                                                                                                   \
        __atomic_compare_exchange_n(place, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                  \
        return expected;                                                                                                \
    }                                                                                                                   \
    PERFORMED_COMPARE_EXCHANGE(bits, type, strong, 0)                                                                   \
    PERFORMED_COMPARE_EXCHANGE(bits, type, weak, 1)                                                                     \
    PERFORMED_READ_MODIFY_WRITE(bits, type, add)                                                                        \
    PERFORMED_READ_MODIFY_WRITE(bits, type, sub)                                                                        \
    PERFORMED_READ_MODIFY_WRITE(bits, type, and)                                                                        \
    PERFORMED_READ_MODIFY_WRITE(bits, type, or)                                                                         \
    PERFORMED_READ_MODIFY_WRITE(bits, type, xor)                                                                        \
    PERFORMED_READ_MODIFY_WRITE(bits, type, nand)

PERFORMED_ATOMICS(8, unsigned char)
PERFORMED_ATOMICS(16, unsigned short)
PERFORMED_ATOMICS(32, unsigned int)
PERFORMED_ATOMICS(64, unsigned long)

void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* 128 bits only through compare-and-swap: gcc would call libatomic for the rest. */
typedef unsigned __int128 wide;

static wide wide_compare_and_swap(volatile wide *place, wide expected, wide desired)
{
    return __sync_val_compare_and_swap(place, expected, desired);
}

wide __tsan_atomic128_load(const volatile wide *place, int order)
{
    return wide_compare_and_swap((volatile wide *)place, 0, 0);
}

wide __tsan_atomic128_compare_exchange_val(volatile wide *place, wide expected, wide desired, int order, int order_of_failure)
{
    return wide_compare_and_swap(place, expected, desired);
}

int __tsan_atomic128_compare_exchange_strong(volatile wide *place, wide *expected, wide desired, int order, int order_of_failure)
{
    wide wanted = *expected;
    *expected = wide_compare_and_swap(place, wanted, desired);
    return *expected == wanted;
}

int __tsan_atomic128_compare_exchange_weak(volatile wide *place, wide *expected, wide desired, int order, int order_of_failure)
{
    return __tsan_atomic128_compare_exchange_strong(place, expected, desired, order, order_of_failure);
}

#define WIDE_READ_MODIFY_WRITE(name, result)                               \
    wide __tsan_atomic128_##name(volatile wide *place, wide value, int order) \
    {                                                                      \
        wide seen = 0, before;                                             \
        while ((before = wide_compare_and_swap(place, seen, (result))) != seen) \
            seen = before;                                                 \
        return before;                                                     \
    }

WIDE_READ_MODIFY_WRITE(exchange, value)
WIDE_READ_MODIFY_WRITE(fetch_add, seen + value)
WIDE_READ_MODIFY_WRITE(fetch_sub, seen - value)
WIDE_READ_MODIFY_WRITE(fetch_and, seen & value)
WIDE_READ_MODIFY_WRITE(fetch_or, seen | value)
WIDE_READ_MODIFY_WRITE(fetch_xor, seen ^ value)
WIDE_READ_MODIFY_WRITE(fetch_nand, ~(seen & value))

void __tsan_atomic128_store(volatile wide *place, wide value, int order)
{
    __tsan_atomic128_exchange(place, value, order);
}
