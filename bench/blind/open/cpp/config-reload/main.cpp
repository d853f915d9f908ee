// Configuration store with live reload. Request workers keep a private view of the settings
// and refresh it when the version in the store has moved on.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

struct Settings {
    std::uint64_t revision = 0;
    std::map<std::string, int> limits;
};
using SettingsPtr = std::shared_ptr<const Settings>;

class ConfigStore {
public:
    ConfigStore() : current_(std::make_shared<Settings>()) {}

    void publish(std::map<std::string, int> limits) {
        auto fresh = std::make_shared<Settings>();
        fresh->limits = std::move(limits);
        std::unique_lock<std::shared_mutex> lock(mutex_);
        fresh->revision = version_ + 1;
        current_ = std::move(fresh); /* BUG: c */
        ++version_;                  /* BUG: d */
    }

    SettingsPtr current() const {
        std::shared_lock<std::shared_mutex> lock(mutex_);
        return current_; /* BUG: a */
    }

    std::uint64_t version() const {
        std::shared_lock<std::shared_mutex> lock(mutex_);
        return version_; /* BUG: b */
    }

    std::pair<SettingsPtr, std::uint64_t> snapshot() const {
        std::shared_lock<std::shared_mutex> lock(mutex_);
        return {current_, version_};
    }

private:
    mutable std::shared_mutex mutex_;
    SettingsPtr current_;
    std::uint64_t version_ = 0;
};

class View {
public:
    explicit View(const ConfigStore& store) : store_(store), copy_(store.current()) {}

    const Settings& get() {
        if (store_.version() != seen_) {
#ifdef FIXED
            std::tie(copy_, seen_) = store_.snapshot();
#else
            copy_ = store_.current(); /* BUG: e */
            seen_ = store_.version(); /* BUG: f */
#endif
        }
        return *copy_;
    }

private:
    const ConfigStore& store_;
    SettingsPtr copy_;
    std::uint64_t seen_ = 0;
};

constexpr int kWorkers = 3;
constexpr int kRequests = 200;
constexpr int kReloads = 10;

std::atomic<std::uint64_t> g_accepted{0};
std::atomic<std::uint64_t> g_rejected{0};

std::uint32_t scramble(std::uint32_t x, int rounds) {
    for (int i = 0; i < rounds; ++i) x = (x ^ (x >> 15)) * 2246822519u + 1u;
    return x;
}

void worker(const ConfigStore& store, int id) {
    View view(store);
    for (int i = 0; i < kRequests; ++i) {
        const std::uint32_t load = scramble(static_cast<std::uint32_t>(id * 4096 + i), 10000) % 100;
        // A request must be judged by settings no older than those in force when it came in.
        const std::uint64_t in_force = store.version();
        const Settings& settings = view.get();
        if (settings.revision < in_force) {
            std::fprintf(stderr, "worker %d: request judged by revision %llu, in force is %llu\n", id,
                         static_cast<unsigned long long>(settings.revision),
                         static_cast<unsigned long long>(in_force));
            std::exit(EXIT_FAILURE);
        }
        const auto it = settings.limits.find("load");
        const bool accept = it == settings.limits.end() || static_cast<int>(load) < it->second;
        (accept ? g_accepted : g_rejected).fetch_add(1);
    }
}

void reload(ConfigStore& store) {
    for (int i = 0; i < kReloads; ++i) {
        std::map<std::string, int> limits;
        for (const char* key : {"load", "memory", "sockets"})
            limits[key] = 20 + static_cast<int>(scramble(static_cast<std::uint32_t>(i * 256 + *key), 25000) % 70);
        store.publish(std::move(limits));
    }
}

int main() {
    ConfigStore store;
    std::vector<std::thread> threads;
    for (int i = 0; i < kWorkers; ++i) threads.emplace_back(worker, std::cref(store), i);
    reload(store);
    for (auto& t : threads) t.join();

    if (g_accepted + g_rejected != kWorkers * kRequests || store.version() != kReloads) {
        std::fprintf(stderr, "requests are missing\n");
        return EXIT_FAILURE;
    }
    std::printf("%llu accepted\n", static_cast<unsigned long long>(g_accepted.load()));
    return EXIT_SUCCESS;
}
