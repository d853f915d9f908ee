/* Six-step fast Fourier transform, forth and back: every transposition is an all-to-all exchange between threads.
 *
 * SIZE is the base-2 logarithm of the side of the square into which the points are folded. Verified by transforming back.
 */
#include "workload.h"

#include <complex.h>
#include <math.h>

/* glibc offers CMPLX to gcc only; this is what stands behind it, and clang has it too. */
static double complex complex_of(double real, double imaginary)
{
    return __builtin_complex(real, imaginary);
}

struct transform {
    long side;
    double complex *points;
    double complex *scratch;
    double complex *roots; /* of unity, side * side of them */
    pthread_barrier_t phase;
};

/* The k-th power of the principal root of unity, conjugated for the way back. */
static double complex root(struct transform *fft, long power, int inverse)
{
    double complex value = fft->roots[power];
    return inverse ? conj(value) : value;
}

/* Written out because C's complex product branches on NaN through a library call that differs between compilers. */
static double complex product(double complex a, double complex b)
{
    return complex_of(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}

static void transpose_rows(const double complex *from, double complex *to, long side, long first, long end)
{
    for (long row = first; row < end; row++)
        for (long column = 0; column < side; column++)
            to[row * side + column] = from[column * side + row];
}

static void reverse_bits(double complex *row, long side)
{
    for (long i = 1, j = 0; i < side; i++) {
        long bit = side >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            double complex kept = row[i];
            row[i] = row[j];
            row[j] = kept;
        }
    }
}

static void transform_row(struct transform *fft, double complex *row, int inverse)
{
    long side = fft->side;
    reverse_bits(row, side);
    for (long width = 2; width <= side; width *= 2) {
        long stride = side * side / width;
        for (long start = 0; start < side; start += width)
            for (long k = 0; k < width / 2; k++) {
                double complex odd = product(root(fft, k * stride, inverse), row[start + k + width / 2]);
                double complex even = row[start + k];
                row[start + k] = even + odd;
                row[start + k + width / 2] = even - odd;
            }
    }
}

static void twiddle_row(struct transform *fft, double complex *row, long index, int inverse)
{
    for (long column = 0; column < fft->side; column++)
        row[column] = product(row[column], root(fft, index * column, inverse));
}

static void six_steps(struct transform *fft, long first, long end, int inverse)
{
    long side = fft->side;
    transpose_rows(fft->points, fft->scratch, side, first, end);
    for (long row = first; row < end; row++) {
        transform_row(fft, fft->scratch + row * side, inverse);
        twiddle_row(fft, fft->scratch + row * side, row, inverse);
    }
    pthread_barrier_wait(&fft->phase);
    transpose_rows(fft->scratch, fft->points, side, first, end);
    for (long row = first; row < end; row++)
        transform_row(fft, fft->points + row * side, inverse);
    pthread_barrier_wait(&fft->phase);
    transpose_rows(fft->points, fft->scratch, side, first, end);
    pthread_barrier_wait(&fft->phase);
    memcpy(fft->points + first * side, fft->scratch + first * side, sizeof(double complex) * side * (end - first));
    pthread_barrier_wait(&fft->phase);
}

static void forth(int index, int threads, void *shared)
{
    struct transform *fft = shared;
    six_steps(fft, share_start(fft->side, index, threads), share_start(fft->side, index + 1, threads), 0);
}

static void back(int index, int threads, void *shared)
{
    struct transform *fft = shared;
    six_steps(fft, share_start(fft->side, index, threads), share_start(fft->side, index + 1, threads), 1);
}

static double complex sample(long index)
{
    return complex_of(unit_random(2 * index), unit_random(2 * index + 1));
}

static void fill(struct transform *fft, long count)
{
    for (long index = 0; index < count; index++) {
        double angle = -2 * M_PI * index / count;
        fft->roots[index] = complex_of(cos(angle), sin(angle));
        fft->points[index] = sample(index);
    }
}

static void verify(struct transform *fft, long count)
{
    for (long index = 0; index < count; index++) {
        double complex error = fft->points[index] / count - sample(index);
        require(fabs(creal(error)) < 1e-9 && fabs(cimag(error)) < 1e-9, "transforming back does not give the samples");
    }
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    struct transform fft = {.side = 1L << given.size};
    long count = fft.side * fft.side;
    fft.points = allocate(sizeof(double complex) * count);
    fft.scratch = allocate(sizeof(double complex) * count);
    fft.roots = allocate(sizeof(double complex) * count);
    pthread_barrier_init(&fft.phase, NULL, given.threads);
    fill(&fft, count);

    run_on_threads(given.threads, forth, &fft);
    uint64_t checksum = 0;
    for (long index = 0; index < count; index++)
        checksum = mix_into(checksum, bits_of(creal(fft.points[index])) + bits_of(cimag(fft.points[index])));
    run_on_threads(given.threads, back, &fft);

    verify(&fft, count);
    return print_checksum(checksum);
}
