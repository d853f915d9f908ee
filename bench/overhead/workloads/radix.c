/* Parallel radix sort: per-thread histograms, a shared prefix sum, then scattered writes into the other threads' shares.
 *
 * SIZE is the number of keys. Verified: ascending order and an unchanged sum.
 */
#include "workload.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, PASSES = 32 / DIGIT_BITS };

struct sort {
    long count;
    uint32_t *keys;
    uint32_t *spare;
    long (*histograms)[DIGITS]; /* one per thread; after the prefix sum: where that thread puts its next key of a digit */
    pthread_barrier_t phase;
};

static unsigned digit_of(uint32_t key, int pass)
{
    return key >> (pass * DIGIT_BITS) & (DIGITS - 1);
}

static void count_digits(const uint32_t *keys, long first, long end, int pass, long *histogram)
{
    memset(histogram, 0, sizeof(long) * DIGITS);
    for (long at = first; at < end; at++)
        histogram[digit_of(keys[at], pass)]++;
}

static void turn_counts_into_places(struct sort *sort, int threads)
{
    long place = 0;
    for (int digit = 0; digit < DIGITS; digit++)
        for (int thread = 0; thread < threads; thread++) {
            long count = sort->histograms[thread][digit];
            sort->histograms[thread][digit] = place;
            place += count;
        }
}

static void scatter(const uint32_t *from, uint32_t *to, long first, long end, int pass, long *places)
{
    for (long at = first; at < end; at++)
        to[places[digit_of(from[at], pass)]++] = from[at];
}

static void sort_share(int index, int threads, void *shared)
{
    struct sort *sort = shared;
    long first = share_start(sort->count, index, threads), end = share_start(sort->count, index + 1, threads);
    uint32_t *from = sort->keys, *to = sort->spare;
    for (int pass = 0; pass < PASSES; pass++) {
        count_digits(from, first, end, pass, sort->histograms[index]);
        pthread_barrier_wait(&sort->phase);
        if (index == 0)
            turn_counts_into_places(sort, threads);
        pthread_barrier_wait(&sort->phase);
        scatter(from, to, first, end, pass, sort->histograms[index]);
        pthread_barrier_wait(&sort->phase);
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    struct sort sort = {.count = given.size};
    sort.keys = allocate(sizeof(uint32_t) * sort.count);
    sort.spare = allocate(sizeof(uint32_t) * sort.count);
    sort.histograms = allocate(sizeof(long[DIGITS]) * given.threads);
    pthread_barrier_init(&sort.phase, NULL, given.threads);
    uint64_t sum_before = 0, sum_after = 0, checksum = 0;
    for (long at = 0; at < sort.count; at++)
        sum_before += sort.keys[at] = (uint32_t)scramble(at);

    run_on_threads(given.threads, sort_share, &sort);

    for (long at = 0; at < sort.count; at++) {
        require(at == 0 || sort.keys[at - 1] <= sort.keys[at], "keys are not ascending");
        sum_after += sort.keys[at];
        checksum = mix_into(checksum, sort.keys[at]);
    }
    require(sum_before == sum_after, "keys were lost");
    return print_checksum(checksum);
}
