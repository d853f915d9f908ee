// A registry of named metrics, filled by import workers that pull row batches from a shared plan.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Metric {
    std::string name;
    long samples = 0;
    long total = 0;
};

class MetricsRegistry {
public:
    Metric &metric(const std::string &name) {
        std::lock_guard<std::mutex> guard(mutex_);
        for (Metric &m : metrics_) {
            if (m.name == name)
                return m;
        }
        Metric fresh;
        fresh.name = name;
        metrics_.push_back(std::move(fresh)); /* BUG: b */
        return metrics_.back();
    }

    long totalSamples() {
        std::lock_guard<std::mutex> guard(mutex_);
        long sum = 0;
        for (const Metric &m : metrics_)
            sum += m.samples;
        return sum;
    }

private:
    std::mutex mutex_;
#ifdef FIXED
    std::deque<Metric> metrics_;
#else
    std::vector<Metric> metrics_;
#endif
};

struct Batch {
    int table;
    int rows;
};

class ImportPlan {
public:
    explicit ImportPlan(int batches) {
        for (int i = 0; i < batches; i++)
            pending_.push_back(Batch{i / 6, 20 + i * 7 % 13});
    }

    bool next(Batch &out) {
        std::lock_guard<std::mutex> guard(mutex_);
        if (pending_.empty())
            return false;
        out = pending_.front();
        pending_.pop_front();
        return true;
    }

private:
    std::mutex mutex_;
    std::deque<Batch> pending_;
};

static uint64_t parseRows(const Batch &batch) {
    uint64_t h = 1469598103934665603ull;
    for (int r = 0; r < batch.rows * 400; r++) {
        h ^= static_cast<uint64_t>(batch.table * 131 + r);
        h *= 1099511628211ull;
    }
    return h;
}

static MetricsRegistry registry;
static std::atomic<long> rowsDone{0};
static std::atomic<uint64_t> digest{0};

static void importWorker(int id, ImportPlan &plan) {
    const std::string mine = "worker." + std::to_string(id);
    Batch batch;
    while (plan.next(batch)) {
        digest.fetch_xor(parseRows(batch), std::memory_order_relaxed);

        Metric &m = registry.metric(mine + ".table." + std::to_string(batch.table));
        m.total += batch.table;
        m.samples += batch.rows; /* BUG: a */
        rowsDone.fetch_add(batch.rows, std::memory_order_relaxed);
    }
}

int main() {
    ImportPlan plan(120);
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; i++)
        workers.emplace_back(importWorker, i, std::ref(plan));
    for (std::thread &t : workers)
        t.join();

    long expected = rowsDone.load();
    long counted = registry.totalSamples();
    if (counted != expected) {
        std::fprintf(stderr, "metrics lost samples: counted %ld of %ld rows\n", counted, expected);
        return 1;
    }
    std::printf("imported %ld rows, digest %016llx\n", counted, (unsigned long long)digest.load());
    return 0;
}
