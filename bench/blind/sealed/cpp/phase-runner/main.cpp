// Runs a computation phase by phase on a fixed crew: each phase is cut into chunks that the
// crew's threads claim one by one, and the next phase begins when all chunks are done.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using Scratch = std::vector<std::uint32_t>;

struct Phase {
    int chunks = 0;
    std::function<void(int, Scratch&)> work;
};

class PhaseRunner {
public:
    explicit PhaseRunner(int threads) {
        for (int i = 0; i < threads; ++i) crew_.emplace_back([this] { serve(); });
    }

    ~PhaseRunner() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            quit_ = true;
        }
        begin_.notify_all();
        for (auto& t : crew_) t.join();
    }

    // Returns when every chunk of the phase has been worked on.
    void run(const Phase& phase) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            phase_ = &phase; /* BUG: f */
            done_ = 0;
            next_.store(0); /* BUG: d */
            ++round_; /* BUG: g */
        }
        begin_.notify_all();
        std::unique_lock<std::mutex> lock(mutex_);
        finished_.wait(lock, [&] { return done_ == phase.chunks; });
    }

private:
    void serve() {
        Scratch scratch;
        unsigned seen = 0;
        for (;;) {
            const Phase* phase;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                begin_.wait(lock, [&] { return quit_ || round_ != seen; });
                if (quit_) return;
                seen = round_;
                phase = phase_; /* BUG: a */
            }
            int mine = 0;
            for (int c = claim(*phase, seen); c < phase->chunks; c = claim(*phase, seen)) { /* BUG: e */
                phase->work(c, scratch);
                ++mine;
            }
            if (mine == 0) continue;
            std::lock_guard<std::mutex> lock(mutex_);
            done_ += mine; /* BUG: c */
            if (done_ == phase_->chunks) finished_.notify_one();
        }
    }

    int claim([[maybe_unused]] const Phase& phase, [[maybe_unused]] unsigned round) {
#ifdef FIXED
        std::lock_guard<std::mutex> lock(mutex_);
        if (round != round_) return phase.chunks;
#endif
        return next_.fetch_add(1); /* BUG: b */
    }

    std::mutex mutex_;
    std::condition_variable begin_, finished_;
    std::vector<std::thread> crew_;
    std::atomic<int> next_{0};
    const Phase* phase_ = nullptr;
    int done_ = 0;
    unsigned round_ = 0;
    bool quit_ = false;
};

constexpr int kChunks = 16;
constexpr std::size_t kWords = 700;

std::uint64_t chunk_value(int phase, int chunk, Scratch& scratch) {
    scratch.assign(kWords, 0);
    std::uint32_t x = static_cast<std::uint32_t>(phase * 131 + chunk * 17 + 1);
    for (int pass = 0; pass < 60; ++pass)
        for (auto& word : scratch) word ^= x = x * 1664525u + 1013904223u;
    std::uint64_t sum = 0;
    for (auto word : scratch) sum += word >> 8;
    return sum;
}

int main() {
    constexpr int kPhases = 3;

    std::vector<std::unique_ptr<std::atomic<std::uint64_t>>> sums;
    std::vector<Phase> phases;
    for (int p = 0; p < kPhases; ++p) {
        sums.push_back(std::make_unique<std::atomic<std::uint64_t>>(0));
        auto* sum = sums.back().get();
        phases.push_back({kChunks, [p, sum](int chunk, Scratch& scratch) {
                              sum->fetch_add(chunk_value(p, chunk, scratch));
                          }});
    }
    {
        PhaseRunner runner(2);
        for (const Phase& phase : phases) runner.run(phase);
    }

    Scratch scratch;
    for (int p = 0; p < kPhases; ++p) {
        std::uint64_t expected = 0;
        for (int c = 0; c < kChunks; ++c) expected += chunk_value(p, c, scratch);
        if (sums[static_cast<std::size_t>(p)]->load() != expected) {
            std::fprintf(stderr, "phase %d has a wrong sum\n", p);
            std::abort();
        }
    }
    std::printf("%d phases\n", kPhases);
    return EXIT_SUCCESS;
}
