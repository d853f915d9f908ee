// What breakpoints are put into: each function makes one access, or two, of what it is given.
#pragma once
#define PLACE __attribute__((noipa))
PLACE void put(int *at);
PLACE int look(int *at);
PLACE void add(int *at);
