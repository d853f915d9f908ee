// 64 accesses that are never made, for breakpoints that are never reached.
static volatile int cells[64];

#define ONE(at) cells[at] = at;
#define FOUR(at) ONE(at) ONE(at + 1) ONE(at + 2) ONE(at + 3)
#define SIXTEEN(at) FOUR(at) FOUR(at + 4) FOUR(at + 8) FOUR(at + 12)

#ifdef __cplusplus
extern "C"
#endif
__attribute__((used, noinline)) void unpick_bench_never_called(void) {
    SIXTEEN(0) SIXTEEN(16) SIXTEEN(32) SIXTEEN(48)
}
