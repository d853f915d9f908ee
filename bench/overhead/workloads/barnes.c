/* Barnes-Hut n-body simulation: threads sort bodies into regions under locks, build subtrees, then all read the whole tree.
 *
 * SIZE is the number of bodies; the number of time steps is fixed. The tree is the same in every run because it depends on
 * where bodies are, not on who inserts them. Verified: momentum is nearly conserved.
 */
#include "workload.h"

#include <math.h>
#include <stdatomic.h>

enum { STEPS = 3, CHILDREN = 8, REGIONS = CHILDREN * CHILDREN, DEEPEST = 60 };

static const double OPENING_ANGLE = 0.6, SOFTENING = 1e-4, TIME_STEP = 1e-4;

struct vector {
    double axis[3];
};

struct body {
    struct vector position, velocity, force;
    struct body *next_in_region;
};

/* A cell of the tree: an inner one has children, a leaf holds one body. */
struct cell {
    struct vector center_of_mass;
    double mass;
    double width;
    struct cell *child[CHILDREN];
    const struct body *body;
};

struct region {
    pthread_mutex_t lock;
    struct body *bodies;
    struct cell *tree;
    struct cell *pool; /* cells of this region's tree, reused in every step */
    long pool_used, pool_size;
};

struct world {
    long count;
    struct body *bodies;
    struct region regions[REGIONS];
    struct cell root, middle[CHILDREN];
    atomic_int next_region;
    pthread_barrier_t phase;
};

/* Which eighth of the cube around `center` holds `position`. */
static int octant(struct vector position, struct vector center)
{
    int index = 0;
    for (int axis = 0; axis < 3; axis++)
        index |= (position.axis[axis] >= center.axis[axis]) << axis;
    return index;
}

static struct vector octant_center(struct vector center, double width, int index)
{
    for (int axis = 0; axis < 3; axis++)
        center.axis[axis] += (index >> axis & 1 ? 0.25 : -0.25) * width;
    return center;
}

static const struct vector MIDDLE = {{0.5, 0.5, 0.5}};

static int region_of(struct vector position)
{
    int outer = octant(position, MIDDLE);
    return outer * CHILDREN + octant(position, octant_center(MIDDLE, 1, outer));
}

static void sort_into_regions(struct world *world, long first, long end)
{
    for (long at = first; at < end; at++) {
        struct body *body = &world->bodies[at];
        struct region *region = &world->regions[region_of(body->position)];
        pthread_mutex_lock(&region->lock);
        body->next_in_region = region->bodies;
        region->bodies = body;
        pthread_mutex_unlock(&region->lock);
    }
}

static struct cell *new_cell(struct region *region, double width)
{
    require(region->pool_used < region->pool_size, "a region ran out of cells");
    struct cell *cell = &region->pool[region->pool_used++];
    memset(cell, 0, sizeof *cell);
    cell->width = width;
    return cell;
}

static struct cell *new_leaf(struct region *region, double width, const struct body *body)
{
    struct cell *leaf = new_cell(region, width);
    leaf->body = body;
    return leaf;
}

/* Puts `body` below `*slot`, splitting leaves until every leaf holds one body. */
static void insert(struct region *region, struct cell **slot, struct vector center, double width, const struct body *body)
{
    for (int depth = 0; depth < DEEPEST; depth++) {
        if (*slot == NULL) {
            *slot = new_leaf(region, width, body);
            return;
        }
        if ((*slot)->body != NULL) {
            const struct body *resident = (*slot)->body;
            (*slot)->body = NULL;
            int seat = octant(resident->position, center);
            (*slot)->child[seat] = new_leaf(region, width / 2, resident);
        }
        int seat = octant(body->position, center);
        slot = &(*slot)->child[seat];
        center = octant_center(center, width, seat);
        width /= 2;
    }
    fail("two bodies are in the same place");
}

static void add_mass(struct cell *cell, struct vector place, double mass)
{
    for (int axis = 0; axis < 3; axis++)
        cell->center_of_mass.axis[axis] += place.axis[axis] * mass;
    cell->mass += mass;
}

static void finish_mass(struct cell *cell)
{
    for (int axis = 0; axis < 3; axis++)
        cell->center_of_mass.axis[axis] /= cell->mass;
}

static void sum_children(struct cell *cell)
{
    for (int seat = 0; seat < CHILDREN; seat++)
        if (cell->child[seat] != NULL)
            add_mass(cell, cell->child[seat]->center_of_mass, cell->child[seat]->mass);
    if (cell->mass > 0)
        finish_mass(cell);
}

static void sum_tree(struct cell *cell)
{
    if (cell->body != NULL) {
        cell->center_of_mass = cell->body->position;
        cell->mass = 1;
        return;
    }
    for (int seat = 0; seat < CHILDREN; seat++)
        if (cell->child[seat] != NULL)
            sum_tree(cell->child[seat]);
    sum_children(cell);
}

static void build_region(struct region *region, int index)
{
    struct vector outer = octant_center(MIDDLE, 1, index / CHILDREN);
    struct vector center = octant_center(outer, 0.5, index % CHILDREN);
    region->tree = NULL;
    region->pool_used = 0;
    for (struct body *body = region->bodies; body != NULL; body = body->next_in_region)
        insert(region, &region->tree, center, 0.25, body);
    region->bodies = NULL;
    if (region->tree != NULL)
        sum_tree(region->tree);
}

static void build_free_regions(struct world *world)
{
    for (;;) {
        int index = atomic_fetch_add(&world->next_region, 1);
        if (index >= REGIONS)
            return;
        build_region(&world->regions[index], index);
    }
}

static void join_regions(struct world *world)
{
    memset(&world->root, 0, sizeof world->root);
    world->root.width = 1;
    for (int outer = 0; outer < CHILDREN; outer++) {
        struct cell *middle = &world->middle[outer];
        memset(middle, 0, sizeof *middle);
        middle->width = 0.5;
        for (int inner = 0; inner < CHILDREN; inner++)
            middle->child[inner] = world->regions[outer * CHILDREN + inner].tree;
        sum_children(middle);
        world->root.child[outer] = middle->mass > 0 ? middle : NULL;
    }
    sum_children(&world->root);
    atomic_store(&world->next_region, 0);
}

static void attract(struct body *body, const struct cell *cell)
{
    double distance_squared = SOFTENING;
    struct vector away;
    for (int axis = 0; axis < 3; axis++) {
        away.axis[axis] = cell->center_of_mass.axis[axis] - body->position.axis[axis];
        distance_squared += away.axis[axis] * away.axis[axis];
    }
    int is_far = cell->width * cell->width < OPENING_ANGLE * OPENING_ANGLE * distance_squared;
    if (cell->body == NULL && !is_far) {
        for (int seat = 0; seat < CHILDREN; seat++)
            if (cell->child[seat] != NULL)
                attract(body, cell->child[seat]);
        return;
    }
    double pull = cell->mass / (distance_squared * sqrt(distance_squared));
    for (int axis = 0; axis < 3; axis++)
        body->force.axis[axis] += pull * away.axis[axis];
}

static double wrap_into_cube(double place)
{
    return place - floor(place);
}

static void move(struct body *body, long count)
{
    for (int axis = 0; axis < 3; axis++) {
        body->velocity.axis[axis] += body->force.axis[axis] / count * TIME_STEP;
        body->position.axis[axis] = wrap_into_cube(body->position.axis[axis] + body->velocity.axis[axis] * TIME_STEP);
        body->force.axis[axis] = 0;
    }
}

static void simulate(int index, int threads, void *shared)
{
    struct world *world = shared;
    long first = share_start(world->count, index, threads), end = share_start(world->count, index + 1, threads);
    for (int step = 0; step < STEPS; step++) {
        sort_into_regions(world, first, end);
        pthread_barrier_wait(&world->phase);
        build_free_regions(world);
        pthread_barrier_wait(&world->phase);
        if (index == 0)
            join_regions(world);
        pthread_barrier_wait(&world->phase);
        for (long at = first; at < end; at++)
            attract(&world->bodies[at], &world->root);
        pthread_barrier_wait(&world->phase);
        for (long at = first; at < end; at++)
            move(&world->bodies[at], world->count);
        pthread_barrier_wait(&world->phase);
    }
}

static void create(struct world *world, int threads)
{
    world->bodies = allocate(sizeof(struct body) * world->count);
    for (long at = 0; at < world->count; at++)
        for (int axis = 0; axis < 3; axis++)
            world->bodies[at].position.axis[axis] = unit_random(3 * at + axis);
    for (int index = 0; index < REGIONS; index++) {
        struct region *region = &world->regions[index];
        pthread_mutex_init(&region->lock, NULL);
        region->pool_size = world->count / 8 + 200; /* bodies are spread evenly: 1/64 of them, each with a few cells */
        region->pool = allocate(sizeof(struct cell) * region->pool_size);
    }
    pthread_barrier_init(&world->phase, NULL, threads);
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    static struct world world;
    world.count = given.size;
    create(&world, given.threads);

    run_on_threads(given.threads, simulate, &world);

    double momentum = 0;
    uint64_t checksum = 0;
    for (long at = 0; at < world.count; at++)
        for (int axis = 0; axis < 3; axis++) {
            momentum += world.bodies[at].velocity.axis[axis];
            checksum = mix_into(checksum, bits_of(world.bodies[at].position.axis[axis]));
        }
    require(fabs(momentum) < 1e-3 * world.count, "momentum is not conserved");
    return print_checksum(checksum);
}
