// Relaxation of a one-dimensional grid by a team of threads that go through the sweeps in step.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

class Barrier {
public:
    explicit Barrier(int parties) : parties_(parties) {}

    // True for the one that completed the barrier.
    bool arrive() {
        unsigned generation = generation_.load();
        if (waiting_.fetch_add(1) + 1 == parties_) {
            waiting_.store(0);
            generation_.store(generation + 1);
            return true;
        }
        while (generation_.load() == generation)
            std::this_thread::yield();
        return false;
    }

private:
    const int parties_;
    std::atomic<int> waiting_{0};
    std::atomic<unsigned> generation_{0};
};

constexpr int kTeam = 3;
constexpr int kCellsEach = 4000;
constexpr int kCells = kTeam * kCellsEach;
constexpr int kSweeps = 20;

struct Grid {
    std::vector<long> front;
    std::vector<long> back;
    Grid() : front(kCells), back(kCells) {
        for (int i = 0; i < kCells; i++)
            front[i] = back[i] = (i * 7919L) % 1000;
    }
};

static Grid grid;
static Barrier sweepEnd(kTeam);
static std::atomic<long> cellsDone{0};
static std::atomic<long> residual{0};
static std::vector<long> history;

static long relax(const std::vector<long> &from, std::vector<long> &to, int first, int last) {
    long change = 0;
    for (int pass = 0; pass < 10; pass++) {
        change = 0;
        for (int i = first; i < last; i++) {
            long left = i > 0 ? from[i - 1] : 0;
            long right = i + 1 < kCells ? from[i + 1] : 0;
            to[i] = (left + 2 * from[i] + right) / 4;
            change += std::labs(to[i] - from[i]);
        }
    }
    return change;
}

static void sweepWorker(int rank) {
    int first = rank * kCellsEach;
    int last = first + kCellsEach;
    for (int s = 0; s < kSweeps; s++) {
        const std::vector<long> &from = s % 2 ? grid.back : grid.front;
        std::vector<long> &to = s % 2 ? grid.front : grid.back;
        long change = relax(from, to, first, last);
        residual.fetch_add(change); /* BUG: c */
        cellsDone.fetch_add(last - first);

        if (sweepEnd.arrive()) { /* BUG: d */
            long sum = residual.load(); /* BUG: a */
            history.push_back(sum);
            residual.store(0); /* BUG: b */
        }
#ifdef FIXED
        sweepEnd.arrive();
#endif
    }
}

static std::vector<long> sequential() {
    Grid g;
    std::vector<long> sums;
    for (int s = 0; s < kSweeps; s++) {
        sums.push_back(s % 2 ? relax(g.back, g.front, 0, kCells) : relax(g.front, g.back, 0, kCells));
    }
    return sums;
}

int main() {
    std::vector<std::thread> team;
    for (int r = 0; r < kTeam; r++)
        team.emplace_back(sweepWorker, r);
    for (auto &t : team)
        t.join();

    if (cellsDone.load() != long(kCells) * kSweeps) {
        std::fprintf(stderr, "cells skipped\n");
        return 1;
    }
    std::vector<long> expected = sequential();
    for (int s = 0; s < kSweeps; s++) {
        if (history[s] != expected[s]) {
            std::fprintf(stderr, "residual of sweep %d is %ld, expected %ld\n", s, history[s], expected[s]);
            return 1;
        }
    }
    std::printf("final residual %ld\n", history.back());
    return 0;
}
