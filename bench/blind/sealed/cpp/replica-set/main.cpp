// Client side view of a replicated service: everybody talks to the current primary, and a
// client that finds it dead moves the set on to the next replica.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Replica {
    Replica(std::string n, int b) : name(std::move(n)), budget(b) {}
    const std::string name;
    const int budget;  // requests it serves before it goes down
    std::atomic<int> served{0};

    bool execute(std::uint32_t payload, std::uint32_t& reply) {
        if (served.fetch_add(1) >= budget) {
            served.fetch_sub(1);
            return false;
        }
        std::uint32_t x = payload | 1u;
        for (int i = 0; i < 20000; ++i) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
        }
        reply = x;
        return true;
    }
};

class ReplicaSet {
public:
    explicit ReplicaSet(std::vector<std::unique_ptr<Replica>> replicas)
        : replicas_(std::move(replicas)) {}

    std::pair<std::size_t, Replica*> primary() const {
        std::shared_lock<std::shared_mutex> lock(mutex_);
        return {primary_, replicas_[primary_].get()};
    }

    // Called by a client that could not reach replica `index`.
    void report_failure(std::size_t index) {
        {
            std::shared_lock<std::shared_mutex> lock(mutex_);
            if (primary_ != index) return; /* BUG: a */
        }
        std::unique_lock<std::shared_mutex> lock(mutex_);
#ifdef FIXED
        if (primary_ != index) return;
#endif
        if (primary_ + 1 < replicas_.size()) {
            ++primary_; /* BUG: b */
            ++failovers_;
        }
    }

    unsigned failovers() const {
        std::shared_lock<std::shared_mutex> lock(mutex_);
        return failovers_;
    }

    // Every replica in front of the primary must have been used up.
    const Replica* skipped() const {
        std::shared_lock<std::shared_mutex> lock(mutex_);
        for (std::size_t i = 0; i < primary_; ++i)
            if (replicas_[i]->served.load() < replicas_[i]->budget) return replicas_[i].get();
        return nullptr;
    }

private:
    mutable std::shared_mutex mutex_;
    std::vector<std::unique_ptr<Replica>> replicas_;
    std::size_t primary_ = 0;
    unsigned failovers_ = 0;
};

class Client {
public:
    Client(ReplicaSet& set, std::atomic<std::uint64_t>& replies, int id)
        : set_(set), replies_(replies), id_(id) {}

    void run(int requests) {
        for (int i = 0; i < requests; ++i) {
            const auto payload = static_cast<std::uint32_t>(id_ * 1000 + i);
            std::uint32_t reply = 0;
            for (;;) {
                auto [index, replica] = set_.primary();
                if (replica->execute(payload, reply)) break;
                set_.report_failure(index);
            }
            replies_.fetch_add(reply ? 1 : 0);
        }
    }

private:
    ReplicaSet& set_;
    std::atomic<std::uint64_t>& replies_;
    int id_;
};

int main() {
    constexpr int kClients = 3;
    constexpr int kRequests = 60;

    std::vector<std::unique_ptr<Replica>> replicas;
    for (int i = 0; i < 9; ++i)
        replicas.push_back(std::make_unique<Replica>("replica-" + std::to_string(i),
                                                     i == 8 ? kClients * kRequests : 21 + i % 3));
    ReplicaSet set(std::move(replicas));

    std::atomic<std::uint64_t> replies{0};
    std::vector<std::thread> threads;
    for (int c = 0; c < kClients; ++c)
        threads.emplace_back([&set, &replies, c] { Client(set, replies, c).run(kRequests); });
    for (auto& t : threads) t.join();

    if (replies.load() != kClients * kRequests) {
        std::fprintf(stderr, "lost replies\n");
        return EXIT_FAILURE;
    }
    if (const Replica* r = set.skipped()) {
        std::fprintf(stderr, "healthy %s was skipped\n", r->name.c_str());
        return EXIT_FAILURE;
    }
    std::printf("%u failovers\n", set.failovers());
    return EXIT_SUCCESS;
}
