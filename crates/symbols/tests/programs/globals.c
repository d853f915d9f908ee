#include <stdatomic.h>

void note(const char *expression, const volatile void *address);
#define NOTE(x) note(#x, (const volatile void *)&(x))

struct Limit { int min; int max; };
typedef struct { char name[8]; const volatile struct Limit limits[4]; } Section;
struct Tree { struct Tree *left, *right; union { long whole; struct { short low, high; }; } key; long values[]; };
struct Config {
    int mode;
    Section sections[2][3];
    struct { int depth; union { int number; float fraction; } value; } inner;
    struct { long first; long second; };
    void (*handler)(int);
    atomic_int hits;
};

struct Config config;
static int counter;
const struct Limit fixed = {1, 2};
int grid[3][4];
struct Tree tree;
_Thread_local int mine;

static void next(void) {
    static struct Limit calls;
    NOTE(calls.max);
    calls.max++; // static
}

int main(int argc, char **argv) {
    (void)argv;
    config.sections[1][2].name[3] = (char)argc;
    counter += argc;
    NOTE(config.mode);
    NOTE(config.sections[1][2].name[3]);
    NOTE(config.sections[0][1].limits[3].max);
    NOTE(config.inner.depth);
    NOTE(config.first);
    NOTE(config.second);
    NOTE(config.handler);
    NOTE(config.hits);
    NOTE(counter);
    NOTE(fixed.max);
    NOTE(grid[2][3]);
    NOTE(grid[0][0]);
    NOTE(tree.right);
    next();
    note("thread-local", &mine);
    note("union", &config.inner.value);
    config.inner.value.fraction = (float)argc; // fraction
    return 0;
}
