/* Blocked LU factorisation without pivoting: dense arithmetic, blocks owned by threads, three barriers per step.
 *
 * SIZE is the number of 16x16 blocks per side. Communication: the diagonal block goes to the owners of its row and column,
 * and those blocks go to the owners of the interior. Verified by comparing A*1 with L*(U*1).
 */
#include "workload.h"

#include <math.h>

enum { SIDE = 16 };

struct matrix {
    long blocks;
    double *cells; /* block after block, each SIDE x SIDE, so that a block is contiguous */
    pthread_barrier_t step;
};

static double *block_at(struct matrix *matrix, long row, long column)
{
    return matrix->cells + (row * matrix->blocks + column) * SIDE * SIDE;
}

static double *cell_at(struct matrix *matrix, long row, long column)
{
    return block_at(matrix, row / SIDE, column / SIDE) + (row % SIDE) * SIDE + column % SIDE;
}

static int owner_of(struct matrix *matrix, long row, long column, int threads)
{
    return (int)((row * matrix->blocks + column + row) % threads);
}

static void factor_diagonal(double *block)
{
    for (int k = 0; k < SIDE; k++)
        for (int i = k + 1; i < SIDE; i++) {
            block[i * SIDE + k] /= block[k * SIDE + k];
            for (int j = k + 1; j < SIDE; j++)
                block[i * SIDE + j] -= block[i * SIDE + k] * block[k * SIDE + j];
        }
}

/* block := L(diagonal)^-1 * block */
static void solve_row_block(const double *diagonal, double *block)
{
    for (int k = 0; k < SIDE; k++)
        for (int i = k + 1; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                block[i * SIDE + j] -= diagonal[i * SIDE + k] * block[k * SIDE + j];
}

/* block := block * U(diagonal)^-1 */
static void solve_column_block(const double *diagonal, double *block)
{
    for (int k = 0; k < SIDE; k++)
        for (int i = 0; i < SIDE; i++) {
            block[i * SIDE + k] /= diagonal[k * SIDE + k];
            for (int j = k + 1; j < SIDE; j++)
                block[i * SIDE + j] -= block[i * SIDE + k] * diagonal[k * SIDE + j];
        }
}

static void subtract_product(double *block, const double *left, const double *right)
{
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++) {
            double factor = left[i * SIDE + k];
            for (int j = 0; j < SIDE; j++)
                block[i * SIDE + j] -= factor * right[k * SIDE + j];
        }
}

static void solve_own_borders(struct matrix *matrix, long step, int index, int threads)
{
    for (long other = step + 1; other < matrix->blocks; other++) {
        if (owner_of(matrix, step, other, threads) == index)
            solve_row_block(block_at(matrix, step, step), block_at(matrix, step, other));
        if (owner_of(matrix, other, step, threads) == index)
            solve_column_block(block_at(matrix, step, step), block_at(matrix, other, step));
    }
}

static void update_own_interior(struct matrix *matrix, long step, int index, int threads)
{
    for (long row = step + 1; row < matrix->blocks; row++)
        for (long column = step + 1; column < matrix->blocks; column++)
            if (owner_of(matrix, row, column, threads) == index)
                subtract_product(block_at(matrix, row, column), block_at(matrix, row, step), block_at(matrix, step, column));
}

static void factor(int index, int threads, void *shared)
{
    struct matrix *matrix = shared;
    for (long step = 0; step < matrix->blocks; step++) {
        if (owner_of(matrix, step, step, threads) == index)
            factor_diagonal(block_at(matrix, step, step));
        pthread_barrier_wait(&matrix->step);
        solve_own_borders(matrix, step, index, threads);
        pthread_barrier_wait(&matrix->step);
        update_own_interior(matrix, step, index, threads);
        pthread_barrier_wait(&matrix->step);
    }
}

static void fill(struct matrix *matrix, long side)
{
    for (long row = 0; row < side; row++)
        for (long column = 0; column < side; column++)
            *cell_at(matrix, row, column) = unit_random(row * side + column) + (row == column ? side : 0);
}

static void row_sums(struct matrix *matrix, long side, double *sums)
{
    for (long row = 0; row < side; row++)
        for (long column = 0; column < side; column++)
            sums[row] += *cell_at(matrix, row, column);
}

/* Compares L*(U*1) with the row sums of the matrix before it was factored. */
static void verify(struct matrix *matrix, long side, const double *expected)
{
    double *upper = allocate(sizeof(double) * side);
    for (long row = 0; row < side; row++)
        for (long column = row; column < side; column++)
            upper[row] += *cell_at(matrix, row, column);
    for (long row = 0; row < side; row++) {
        double product = upper[row];
        for (long column = 0; column < row; column++)
            product += *cell_at(matrix, row, column) * upper[column];
        require(fabs(product - expected[row]) < 1e-6 * side, "L*U differs from A");
    }
    free(upper);
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    struct matrix matrix = {.blocks = given.size};
    long side = given.size * SIDE;
    matrix.cells = allocate(sizeof(double) * side * side);
    double *expected = allocate(sizeof(double) * side);
    pthread_barrier_init(&matrix.step, NULL, given.threads);
    fill(&matrix, side);
    row_sums(&matrix, side, expected);

    run_on_threads(given.threads, factor, &matrix);

    verify(&matrix, side, expected);
    uint64_t checksum = 0;
    for (long cell = 0; cell < side * side; cell++)
        checksum = mix_into(checksum, bits_of(matrix.cells[cell]));
    return print_checksum(checksum);
}
