// A routing table with a controller that announces gateways, and forwarders that keep private copies of the table.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kPrefixes = 32;

struct Route {
    uint32_t gateway = 0;
    uint32_t announced = 0;
};

using Routes = std::array<Route, kPrefixes>;

class RouteTable {
public:
    void announce(int prefix, uint32_t gateway, uint32_t round) {
        std::lock_guard<std::mutex> guard(mutex_);
        routes_[prefix].gateway = gateway;
        routes_[prefix].announced = round; /* BUG: d */
        version_.fetch_add(1); /* BUG: e */
    }

    Routes snapshot() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return routes_; /* BUG: b */
    }

    uint64_t version() const { return version_.load(); }

private:
    mutable std::mutex mutex_;
    Routes routes_;
    std::atomic<uint64_t> version_{1};
};

class Forwarder {
public:
    explicit Forwarder(const RouteTable &table) : table_(table) {}

    Route lookup(int prefix) {
        if (seen_ != table_.version())
            refresh();
        return copy_[prefix];
    }

    int refreshes() const { return refreshes_; }

private:
    void refresh() {
#ifdef FIXED
        uint64_t version = table_.version();
        copy_ = table_.snapshot();
        seen_ = version;
#else
        copy_ = table_.snapshot(); /* BUG: a */
        seen_ = table_.version(); /* BUG: c */
#endif
        refreshes_++;
    }

    const RouteTable &table_;
    Routes copy_{};
    uint64_t seen_ = 0;
    int refreshes_ = 0;
};

static RouteTable table;
static std::array<std::atomic<uint32_t>, kPrefixes> acknowledged;
static std::atomic<bool> finished{false};
static std::mutex statsMutex;
static long packetsTotal = 0;
static int refreshesTotal = 0;

static uint32_t mix(uint32_t v, int rounds) {
    for (int i = 0; i < rounds; i++)
        v = (v ^ (v >> 15)) * 2246822519u + 3266489917u;
    return v;
}

static void controller() {
    for (uint32_t round = 1; round <= 150; round++) {
        uint32_t gateway = mix(round, 12000);
        int prefix = gateway % kPrefixes;
        table.announce(prefix, gateway, round);
        acknowledged[prefix].store(round);
    }
    finished.store(true);
}

static void forward(uint32_t seed) {
    Forwarder fw(table);
    long packets = 0;
    uint32_t destination = seed;
    bool last = false;
    while (!last) {
        last = finished.load();
        for (int i = 0; i < kPrefixes; i++) {
            destination = mix(destination, 20);
            int prefix = (destination + i) % kPrefixes;
            uint32_t floor = acknowledged[prefix].load();
            Route r = fw.lookup(prefix);
            if (r.announced < floor) {
                std::fprintf(stderr, "stale route for prefix %d: round %u, acknowledged %u\n", prefix, r.announced, floor);
                std::abort();
            }
            packets++;
        }
    }
    std::lock_guard<std::mutex> guard(statsMutex);
    packetsTotal += packets;
    refreshesTotal += fw.refreshes();
}

int main() {
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i <= 2; i++)
        threads.emplace_back(forward, i);
    threads.emplace_back(controller);
    for (auto &t : threads)
        t.join();
    std::printf("%ld packets, %d refreshes\n", packetsTotal, refreshesTotal);
    return 0;
}
