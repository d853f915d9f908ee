/* An order of execution that is no order of happens-before: relaxed atomics make threads take turns, so that a
 * program comes the same way every time, but they promise nothing about any other memory.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <sched.h>

static int schedule_turn;

/* Goes on when turn `turn` has come. */
static inline void await_turn(int turn) {
    while (__atomic_load_n(&schedule_turn, __ATOMIC_RELAXED) < turn)
        sched_yield();
}

static inline void next_turn(void) { __atomic_fetch_add(&schedule_turn, 1, __ATOMIC_RELAXED); }

#endif
