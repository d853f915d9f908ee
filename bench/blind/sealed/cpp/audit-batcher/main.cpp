// Audit trail: services append records, full batches are written to the trail by whoever
// completes them, and a housekeeper writes out what has gathered from time to time.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace audit {

struct Record {
    std::uint32_t serial;
    std::uint32_t actor;
};

class Trail {
public:
    void write(const std::vector<Record>& batch) {
        std::uint32_t seal = 0x811c9dc5u;
        for (const Record& r : batch)
            for (int shift = 0; shift < 32; shift += 8) {
                seal = (seal ^ ((r.serial >> shift) & 0xffu)) * 16777619u;
                seal = (seal ^ ((r.actor >> shift) & 0xffu)) * 16777619u;
            }
        std::lock_guard<std::mutex> lock(mutex_);
        records_.insert(records_.end(), batch.begin(), batch.end());
        seals_.push_back(seal);
    }

    std::vector<Record> records() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return records_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<Record> records_;
    std::vector<std::uint32_t> seals_;
};

class Batcher {
public:
    Batcher(Trail& trail, std::size_t batch) : trail_(trail), batch_(batch) {}

    void append(Record record) {
        bool full;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            pending_.push_back(record);
            full = pending_.size() == batch_;
        }
        if (full) flush();
    }

    void flush() {
#ifdef FIXED
        std::lock_guard<std::mutex> one_at_a_time(flush_mutex_);
#endif
        std::vector<Record> batch;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            batch.assign(pending_.begin(), pending_.end()); /* BUG: a */
        }
        if (batch.empty()) return;
        trail_.write(batch);
        std::lock_guard<std::mutex> lock(mutex_);
        const auto written = std::min(batch.size(), pending_.size());
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(written)); /* BUG: b */
    }

private:
    Trail& trail_;
    const std::size_t batch_;
    std::mutex flush_mutex_;
    std::mutex mutex_;
    std::deque<Record> pending_;
};

}  // namespace audit

int main() {
    constexpr std::uint32_t kServices = 3;
    constexpr std::uint32_t kActions = 160;

    audit::Trail trail;
    audit::Batcher batcher(trail, 12);
    std::atomic<std::uint32_t> serials{0};
    std::atomic<std::uint32_t> services_left{kServices};

    std::vector<std::thread> threads;
    for (std::uint32_t s = 0; s < kServices; ++s)
        threads.emplace_back([&, s] {
            std::uint32_t x = 2463534242u + s;
            for (std::uint32_t i = 0; i < kActions; ++i) {
                for (int k = 0; k < 9000; ++k) x = x * 1664525u + 1013904223u;
                batcher.append({serials.fetch_add(1), s * 1000 + (x >> 24)});
            }
            services_left.fetch_sub(1);
        });
    threads.emplace_back([&] {
        std::uint32_t x = 1;
        while (services_left.load() > 0) {
            for (int k = 0; k < 600000; ++k) x = x * 22695477u + 1u;
            if (x != 0) batcher.flush();
        }
    });
    for (auto& t : threads) t.join();
    batcher.flush();

    std::vector<int> seen(kServices * kActions, 0);
    for (const auto& r : trail.records()) ++seen[r.serial];
    for (std::size_t i = 0; i < seen.size(); ++i)
        if (seen[i] != 1) {
            std::fprintf(stderr, "audit record %zu is on the trail %d times\n", i, seen[i]);
            return EXIT_FAILURE;
        }
    std::printf("%zu records\n", seen.size());
    return EXIT_SUCCESS;
}
