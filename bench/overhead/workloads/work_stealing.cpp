// Work stealing with Chase-Lev deques: counts the solutions of the queens puzzle by tasks that spawn tasks.
//
// SIZE is the side of the board. Lock-free by design; every shared word is a std::atomic. The deque follows Le, Pop, Cohen
// and Zappa Nardelli (2013), with sequentially consistent operations in place of their fences, which ThreadSanitizer does
// not model. Verified against the known numbers of solutions.
#include "workload.h"

#include <atomic>
#include <sched.h>
#include <vector>

namespace {

constexpr int SPAWN_ROWS = 5; // deeper rows are searched without new tasks
constexpr long CAPACITY = 1 << 14;

// Columns and diagonals that are under attack in the next row, one bit per column.
struct Task {
    unsigned columns, left, right;
    int row;
};

class Deque {
public:
    Deque() : slots(CAPACITY) {}

    // Owner only.
    void push(Task *task)
    {
        long at = bottom.load(std::memory_order_relaxed);
        require(at - top.load(std::memory_order_acquire) < CAPACITY, "a deque is full");
        slots[at % CAPACITY].store(task, std::memory_order_relaxed);
        bottom.store(at + 1, std::memory_order_release);
    }

    // Owner only; null when empty.
    Task *take()
    {
        long at = bottom.load(std::memory_order_relaxed) - 1;
        bottom.store(at, std::memory_order_seq_cst);
        long first = top.load(std::memory_order_seq_cst);
        if (first > at) {
            bottom.store(at + 1, std::memory_order_release);
            return nullptr;
        }
        Task *task = slots[at % CAPACITY].load(std::memory_order_relaxed);
        if (first < at)
            return task;
        bool won = top.compare_exchange_strong(first, first + 1, std::memory_order_seq_cst);
        bottom.store(at + 1, std::memory_order_release);
        return won ? task : nullptr;
    }

    // Any thread; null when empty or when another thief was faster.
    Task *steal()
    {
        long first = top.load(std::memory_order_seq_cst);
        if (first >= bottom.load(std::memory_order_seq_cst))
            return nullptr;
        Task *task = slots[first % CAPACITY].load(std::memory_order_relaxed);
        return top.compare_exchange_strong(first, first + 1, std::memory_order_seq_cst) ? task : nullptr;
    }

private:
    alignas(64) std::atomic<long> top{0};
    alignas(64) std::atomic<long> bottom{0};
    std::vector<std::atomic<Task *>> slots;
};

struct Search {
    int side;
    std::vector<Deque> deques;
    std::atomic<long> unfinished{1};
    std::atomic<long> solutions{0};

    Search(int side, int threads) : side(side), deques(threads) { deques[0].push(new Task{0, 0, 0, 0}); }
    unsigned board() const { return (1u << side) - 1; }
};

long count_below(const Search &search, Task task)
{
    if (task.row == search.side)
        return 1;
    long found = 0;
    unsigned open = search.board() & ~(task.columns | task.left | task.right);
    for (; open != 0; open &= open - 1) {
        unsigned queen = open & -open;
        found += count_below(search, {task.columns | queen, (task.left | queen) << 1, (task.right | queen) >> 1, task.row + 1});
    }
    return found;
}

void spawn_next_row(Search &search, Deque &own, const Task &task)
{
    unsigned open = search.board() & ~(task.columns | task.left | task.right);
    for (; open != 0; open &= open - 1) {
        unsigned queen = open & -open;
        search.unfinished.fetch_add(1, std::memory_order_relaxed);
        own.push(new Task{task.columns | queen, (task.left | queen) << 1, (task.right | queen) >> 1, task.row + 1});
    }
}

void execute(Search &search, Deque &own, Task *task)
{
    if (task->row < SPAWN_ROWS)
        spawn_next_row(search, own, *task);
    else
        search.solutions.fetch_add(count_below(search, *task), std::memory_order_relaxed);
    delete task;
    search.unfinished.fetch_sub(1, std::memory_order_acq_rel);
}

Task *steal_from_others(Search &search, int index, int threads)
{
    for (int distance = 1; distance < threads; distance++)
        if (Task *task = search.deques[(index + distance) % threads].steal())
            return task;
    return nullptr;
}

void work(int index, int threads, void *shared)
{
    Search &search = *static_cast<Search *>(shared);
    Deque &own = search.deques[index];
    while (search.unfinished.load(std::memory_order_acquire) > 0) {
        Task *task = own.take();
        if (task == nullptr)
            task = steal_from_others(search, index, threads);
        if (task != nullptr)
            execute(search, own, task);
        else
            sched_yield();
    }
}

} // namespace

int main(int argc, char **argv)
{
    arguments given = read_arguments(argc, argv);
    constexpr long KNOWN[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
    require(given.size < 15, "SIZE must be below 15");
    Search search(static_cast<int>(given.size), given.threads);

    run_on_threads(given.threads, work, &search);

    require(search.solutions.load() == KNOWN[given.size], "wrong number of solutions");
    return print_checksum(search.solutions.load());
}
