/* Molecular dynamics: particles on a ring that pull and push each other. Each thread has every second particle; in each
 * step it computes their forces and counts the interactions, and then all move on together.
 *
 * Energies are summed up under a lock. The number of interactions is not: a thread reads it, brings its own figures up to
 * date, and writes back the sum. When both do that at a time, the interactions of one are lost. That can happen in each of
 * some hundred steps.
 */
#include "../../crates/breakpoint/include/unpick.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, MOST = 256, RING = 1 << 16, CUTOFF = RING / 4 };

struct particle {
    int at, velocity, force;
};

struct world {
    struct particle particles[MOST];
    long interactions;
    long counted_by[THREADS];
    int fastest[THREADS];
    long energy;
    pthread_mutex_t energy_lock;
    pthread_barrier_t step_done;
#ifdef FIXED
    pthread_mutex_t interactions_lock;
#endif
};

static struct world world = {
    .energy_lock = PTHREAD_MUTEX_INITIALIZER,
#ifdef FIXED
    .interactions_lock = PTHREAD_MUTEX_INITIALIZER,
#endif
};
static int particles = 16;
static int steps = 200;

/* Along the ring, the shorter way. */
static int distance(int from, int to) {
    int way = (to - from) & (RING - 1);
    return way < RING / 2 ? way : way - RING;
}

/* Takes longer the closer they are. */
static int potential(int way) {
    int strength = CUTOFF;
    for (int i = abs(way); i < CUTOFF; i += 64)
        strength = strength * 31 / 32 + i / 64;
    return way > 0 ? strength : -strength;
}

static long pull_from_neighbours(struct particle *on, long *energy) {
    long near = 0;
    on->force = 0;
    for (int i = 0; i < particles; i++) {
        int way = distance(on->at, world.particles[i].at);
        if (way == 0 || abs(way) >= CUTOFF)
            continue;
        on->force += potential(way);
        *energy += abs(way);
        near++;
    }
    return near;
}

static int fastest(int thread) {
    int speed = 0;
    for (int i = thread; i < particles; i += THREADS)
        if (abs(world.particles[i].velocity) > speed)
            speed = abs(world.particles[i].velocity);
    return speed;
}

static void count_interactions(int thread, long near) {
#ifdef FIXED
    pthread_mutex_lock(&world.interactions_lock);
#endif
    int intrudes = UNPICK_STEP(atomicity("lost-sum", &world.interactions), intruder(), pause_ms(0)) > 0;
    long so_far = world.interactions; /* BUG: 1 */
    world.counted_by[thread] += near;
    world.fastest[thread] = fastest(thread);
    (void)intrudes; /* where breakpoints are compiled out */
    UNPICK_TRIGGER(atomicity("lost-sum", &world.interactions), gap(), when(!intrudes), bound(10));
    world.interactions = so_far + near; /* BUG: 2, 3 */
    UNPICK_DONE("lost-sum");
#ifdef FIXED
    pthread_mutex_unlock(&world.interactions_lock);
#endif
}

static void add_energy(long energy) {
    pthread_mutex_lock(&world.energy_lock);
    world.energy += energy;
    pthread_mutex_unlock(&world.energy_lock);
}

static void compute_forces(int thread) {
    long energy = 0, near = 0;
    for (int i = thread; i < particles; i += THREADS)
        near += pull_from_neighbours(&world.particles[i], &energy);
    count_interactions(thread, near);
    add_energy(energy);
}

static void move_particles(int thread) {
    for (int i = thread; i < particles; i += THREADS) {
        struct particle *particle = &world.particles[i];
        particle->velocity += particle->force / 4096;
        particle->at = (particle->at + particle->velocity) & (RING - 1);
    }
}

static void *simulate(void *argument) {
    int thread = *(int *)argument;
    for (int step = 0; step < steps; step++) {
        compute_forces(thread);
        pthread_barrier_wait(&world.step_done);
        move_particles(thread);
        pthread_barrier_wait(&world.step_done);
    }
    return NULL;
}

static void place_particles(void) {
    unsigned random = 12345;
    for (int i = 0; i < particles; i++) {
        random = random * 1103515245u + 12345u;
        world.particles[i] = (struct particle){.at = (int)(random >> 16)};
    }
}

static long counted_by_all(void) {
    long counted = 0;
    for (int thread = 0; thread < THREADS; thread++)
        counted += world.counted_by[thread];
    return counted;
}

int main(int count, char **arguments) {
    if (count > 1)
        steps = atoi(arguments[1]);
    if (count > 2)
        particles = atoi(arguments[2]);
    if (particles < 1 || particles > MOST)
        return 2;
    place_particles();
    pthread_barrier_init(&world.step_done, NULL, THREADS);
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, simulate, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d steps, %ld interactions, energy %ld\n", steps, world.interactions, world.energy);
    if (world.interactions != counted_by_all()) {
        fprintf(stderr, "FAILED: interactions were lost\n");
        return 1;
    }
    return 0;
}
