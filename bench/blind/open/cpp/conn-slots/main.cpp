// Connection table with a fixed number of slots. Workers open a connection per request; a
// watchdog closes those that have passed their deadline. Time is counted in ticks.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using Tick = std::uint64_t;

struct Handle {
    std::size_t slot;
    std::uint64_t serial;
    Tick deadline;
};

class ConnTable {
public:
    explicit ConnTable(std::size_t slots) : conns_(slots) {
        for (std::size_t i = slots; i-- > 0;) free_.push_back(i);
    }

    std::optional<Handle> open(Tick now, Tick ttl) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (free_.empty()) return std::nullopt;
        const std::size_t slot = free_.back();
        free_.pop_back();
        Conn& conn = conns_[slot];
        conn.serial = ++serials_; /* BUG: b */
        conn.deadline = now + ttl; /* BUG: e */
        conn.in_use = true; /* BUG: f */
        return Handle{slot, conn.serial, conn.deadline};
    }

    // False if the connection has been closed in the meantime.
    bool finish(const Handle& handle) {
        std::lock_guard<std::mutex> lock(mutex_);
        Conn& conn = conns_[handle.slot];
        if (!conn.in_use || conn.serial != handle.serial) return false;
        release(handle.slot);
        return true;
    }

    std::vector<Handle> overdue(Tick now) const {
        std::lock_guard<std::mutex> lock(mutex_);
        std::vector<Handle> found;
        for (std::size_t i = 0; i < conns_.size(); ++i)
            if (conns_[i].in_use && conns_[i].deadline < now) /* BUG: a */
                found.push_back({i, conns_[i].serial, conns_[i].deadline});
        return found;
    }

    void close(const Handle& handle) {
        std::lock_guard<std::mutex> lock(mutex_);
#ifdef FIXED
        if (conns_[handle.slot].serial != handle.serial) return;
#endif
        if (!conns_[handle.slot].in_use) return; /* BUG: c */
        release(handle.slot); /* BUG: d */
        ++closed_;
    }

    unsigned closed() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return closed_;
    }

private:
    struct Conn {
        std::uint64_t serial = 0;
        Tick deadline = 0;
        bool in_use = false;
    };

    void release(std::size_t slot) {
        conns_[slot].in_use = false; /* BUG: g */
        free_.push_back(slot);
    }

    mutable std::mutex mutex_;
    std::vector<Conn> conns_;
    std::vector<std::size_t> free_;
    std::uint64_t serials_ = 0;
    unsigned closed_ = 0;
};

constexpr int kWorkers = 3;
constexpr int kRequests = 50;
constexpr Tick kTtl = 30;

std::atomic<Tick> g_clock{0};
std::atomic<int> g_workers_left{kWorkers};
std::atomic<std::uint64_t> g_work{0};

void burn(unsigned seed, int rounds) {
    std::uint64_t x = seed + 1;
    for (int i = 0; i < rounds; ++i) x = x * 6364136223846793005ull + 1442695040888963407ull;
    g_work.fetch_add(x & 1);
}

void worker(ConnTable& table, int id) {
    for (int i = 0; i < kRequests; ++i) {
        auto handle = table.open(g_clock.load(), kTtl);
        if (!handle) {
            std::fprintf(stderr, "no slot left\n");
            std::abort();
        }
        const int steps = (i + 7 * id) % 24 == 23 ? 45 : 3;
        for (int s = 0; s < steps; ++s) {
            burn(static_cast<unsigned>(id + s), 2500);
            g_clock.fetch_add(1);
        }
        if (!table.finish(*handle) && g_clock.load() <= handle->deadline) {
            std::fprintf(stderr, "connection %llu was closed before its deadline\n",
                         static_cast<unsigned long long>(handle->serial));
            std::abort();
        }
    }
    g_workers_left.fetch_sub(1);
}

void watchdog(ConnTable& table) {
    std::vector<std::string> journal;
    while (g_workers_left.load() > 0) {
        burn(7, 25000);
        for (const Handle& h : table.overdue(g_clock.load())) {
            journal.push_back("slot " + std::to_string(h.slot) + " is overdue, deadline was " +
                              std::to_string(h.deadline));
            table.close(h);
        }
    }
    std::printf("%zu notes\n", journal.size());
}

int main() {
    ConnTable table(6);
    std::vector<std::thread> threads;
    for (int i = 0; i < kWorkers; ++i) threads.emplace_back(worker, std::ref(table), i);
    threads.emplace_back(watchdog, std::ref(table));
    for (auto& t : threads) t.join();
    std::printf("%u connections closed\n", table.closed());
    return EXIT_SUCCESS;
}
