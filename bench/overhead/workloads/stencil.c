/* Five-point stencil with barriers: each thread owns a band of rows and reads one row of each neighbour per sweep.
 *
 * SIZE is the side of the grid; the number of sweeps is fixed. Verified: heat stays within the bounds of the edges.
 */
#include "workload.h"

enum { SWEEPS = 40 };

struct grid {
    long side;
    double *now;
    double *next;
    pthread_barrier_t sweep_done;
};

static void sweep_rows(const double *from, double *to, long side, long first, long end)
{
    for (long row = first; row < end; row++)
        for (long column = 1; column < side - 1; column++) {
            const double *cell = from + row * side + column;
            to[row * side + column] = 0.5 * cell[0] + 0.125 * (cell[-1] + cell[1] + cell[-side] + cell[side]);
        }
}

static void sweep_band(int index, int threads, void *shared)
{
    struct grid *grid = shared;
    long first = 1 + share_start(grid->side - 2, index, threads), end = 1 + share_start(grid->side - 2, index + 1, threads);
    double *from = grid->now, *to = grid->next;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        sweep_rows(from, to, grid->side, first, end);
        pthread_barrier_wait(&grid->sweep_done);
        double *newest = to;
        to = from;
        from = newest;
    }
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    struct grid grid = {.side = given.size + 2};
    long cells = grid.side * grid.side;
    grid.now = allocate(sizeof(double) * cells);
    grid.next = allocate(sizeof(double) * cells);
    pthread_barrier_init(&grid.sweep_done, NULL, given.threads);
    for (long cell = 0; cell < cells; cell++)
        grid.now[cell] = grid.next[cell] = unit_random(cell);

    run_on_threads(given.threads, sweep_band, &grid);

    uint64_t checksum = 0;
    for (long cell = 0; cell < cells; cell++) {
        require(grid.now[cell] >= 0 && grid.now[cell] < 1, "heat left the bounds of the edges");
        checksum = mix_into(checksum, bits_of(grid.now[cell]));
    }
    return print_checksum(checksum);
}
