// Order desk of three parts: a scheduler of tasks, a store of orders and a notifier. The
// scheduler updates the store, the store announces changes, the notifier schedules deliveries.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

static std::uint32_t grind(std::uint32_t x, int rounds) {
    for (int i = 0; i < rounds; ++i) x = (x ^ (x >> 16)) * 73244475u + 1u;
    return x;
}

class Store {
public:
    using Announce = std::function<void(int)>;
    void on_settled(Announce announce) { announce_ = std::move(announce); }

    void advance(int order) {
        std::lock_guard<std::mutex> lock(mutex_); /* BUG: b */
        ++progress_[order];
    }

    // Takes out the orders that have come far enough and announces them.
    void settle(int enough) {
        std::lock_guard<std::mutex> lock(mutex_); /* BUG: c */
        for (auto it = progress_.begin(); it != progress_.end();) {
            if (it->second >= enough) {
                announce_(it->first);
                ++settled_;
                it = progress_.erase(it);
            } else {
                ++it;
            }
        }
    }

    int settled() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return settled_;
    }

private:
    mutable std::mutex mutex_;
    std::map<int, int> progress_;
    int settled_ = 0;
    Announce announce_;
};

class Scheduler {
public:
    explicit Scheduler(Store& store) : store_(store) {}

    void add(int order) {
        std::lock_guard<std::mutex> lock(mutex_); /* BUG: f */
        tasks_.push_back(order);
    }

    // Runs the oldest task.
    bool dispatch() {
        std::lock_guard<std::mutex> lock(mutex_); /* BUG: a */
        if (tasks_.empty()) return false;
        store_.advance(tasks_.front());
        tasks_.pop_front();
        return true;
    }

private:
    Store& store_;
    std::mutex mutex_;
    std::deque<int> tasks_;
};

class Notifier {
public:
    explicit Notifier(Scheduler& scheduler) : scheduler_(scheduler) {}

    void announce(int order) {
        std::lock_guard<std::mutex> lock(mutex_); /* BUG: d */
        outbox_.push_back("order " + std::to_string(order));
    }

    // Every announced order gets a delivery task (numbers from 10000 on).
    void deliver() {
#ifdef FIXED
        std::vector<std::string> batch;
        {
            std::lock_guard<std::mutex> lock(mutex_);
            batch.swap(outbox_);
            delivered_ += static_cast<int>(batch.size());
        }
        for (const auto& line : batch) scheduler_.add(10000 + std::atoi(line.c_str() + 6));
#else
        std::lock_guard<std::mutex> lock(mutex_); /* BUG: e */
        for (const auto& line : outbox_) scheduler_.add(10000 + std::atoi(line.c_str() + 6));
        delivered_ += static_cast<int>(outbox_.size());
        outbox_.clear();
#endif
    }

    int delivered() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return delivered_;
    }

private:
    Scheduler& scheduler_;
    mutable std::mutex mutex_;
    std::vector<std::string> outbox_;
    int delivered_ = 0;
};

int main() {
    constexpr int kOrders = 24;
    constexpr int kSteps = 3;

    Store store;
    Scheduler scheduler(store);
    Notifier notifier(scheduler);
    store.on_settled([&notifier](int order) {
        if (order < 10000) notifier.announce(order);
    });

    std::thread dispatcher([&] {
        std::uint32_t x = 1;
        for (int i = 0; i < kOrders * kSteps; ++i) {
            x = grind(x, 6000);
            scheduler.add(i / kSteps);
            scheduler.dispatch();
        }
        while (notifier.delivered() < kOrders) {
            x = grind(x, 6000);
            scheduler.dispatch();
        }
    });
    std::thread settler([&] {
        std::uint32_t x = 2;
        while (notifier.delivered() < kOrders) {
            x = grind(x, 12000);
            store.settle(kSteps);
        }
    });
    std::thread courier([&] {
        std::uint32_t x = 3;
        while (notifier.delivered() < kOrders) {
            x = grind(x, 12000);
            notifier.deliver();
        }
    });
    for (auto* t : {&dispatcher, &settler, &courier}) t->join();

    while (scheduler.dispatch()) {
    }
    store.settle(1);
    if (notifier.delivered() != kOrders || store.settled() != 2 * kOrders) {
        std::fprintf(stderr, "%d delivered, %d settled\n", notifier.delivered(), store.settled());
        return EXIT_FAILURE;
    }
    std::printf("%d orders\n", notifier.delivered());
    return EXIT_SUCCESS;
}
