#include "ordered.h"

void put(int *at) { *at = 1; }

int look(int *at) { return *at; }

void add(int *at) {
    int old = *at;
    __asm__ volatile("" ::: "memory");
    *at = old + 1;
}
