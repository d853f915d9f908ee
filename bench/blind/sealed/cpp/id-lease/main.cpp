// Ids for stored objects: writers of a node draw them from the node's current block; a node
// that has used up its block leases another one from the cluster-wide sequence.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using Id = std::uint64_t;

class Sequence {
public:
    Id lease(Id count) { return head_.fetch_add(count); }
    Id used() const { return head_.load(); }

private:
    std::atomic<Id> head_{1};
};

class NodeIds {
public:
    NodeIds(Sequence& sequence, Id block) : sequence_(sequence), block_(block) {
        const Id base = sequence_.lease(block_);
        next_.store(base);
        limit_.store(base + block_);
    }

    Id draw() {
#ifdef FIXED
        std::lock_guard<std::mutex> lock(refill_);
        if (next_.load() >= limit_.load()) install(sequence_.lease(block_));
        return next_.fetch_add(1);
#else
        for (;;) {
            const Id id = next_.fetch_add(1); /* BUG: a */
            if (id < limit_.load()) return id; /* BUG: b */
            refill();
        }
#endif
    }

    unsigned refills() const { return refills_.load(); }

private:
    void refill() {
        std::lock_guard<std::mutex> lock(refill_);
        if (next_.load() < limit_.load()) return;  // somebody else was faster
        install(sequence_.lease(block_));
    }

    void install(Id base) {
        next_.store(base); /* BUG: c */
        limit_.store(base + block_); /* BUG: d */
        refills_.fetch_add(1);
    }

    Sequence& sequence_;
    const Id block_;
    std::mutex refill_;
    std::atomic<Id> next_{0};
    std::atomic<Id> limit_{0};
    std::atomic<unsigned> refills_{0};
};

struct Stored {
    Id id;
    std::uint32_t sum;
};

class ObjectLog {
public:
    void append(const std::vector<Stored>& chunk) {
        std::lock_guard<std::mutex> lock(mutex_);
        objects_.insert(objects_.end(), chunk.begin(), chunk.end());
    }
    std::vector<Stored> take() {
        std::lock_guard<std::mutex> lock(mutex_);
        return std::move(objects_);
    }

private:
    std::mutex mutex_;
    std::vector<Stored> objects_;
};

void writer(NodeIds& ids, ObjectLog& log, int count, std::uint32_t seed) {
    std::vector<Stored> chunk;
    for (int i = 0; i < count; ++i) {
        std::uint32_t sum = seed + static_cast<std::uint32_t>(i);
        for (int k = 0; k < 400; ++k) sum = (sum << 5) - sum + static_cast<std::uint32_t>(k);
        chunk.push_back({ids.draw(), sum});
        if (chunk.size() == 64) {
            log.append(chunk);
            chunk.clear();
        }
    }
    log.append(chunk);
}

int main() {
    constexpr int kNodes = 2;
    constexpr int kWriters = 2;
    constexpr int kObjects = 1500;

    Sequence sequence;
    ObjectLog log;
    std::vector<std::unique_ptr<NodeIds>> nodes;
    for (int n = 0; n < kNodes; ++n) nodes.push_back(std::make_unique<NodeIds>(sequence, 16));

    std::vector<std::thread> writers;
    for (int w = 0; w < kNodes * kWriters; ++w)
        writers.emplace_back([&, w] { writer(*nodes[w % kNodes], log, kObjects, 11u * w); });
    for (auto& t : writers) t.join();

    auto objects = log.take();
    if (objects.size() != static_cast<std::size_t>(kNodes) * kWriters * kObjects) {
        std::fprintf(stderr, "objects are missing\n");
        return EXIT_FAILURE;
    }
    std::sort(objects.begin(), objects.end(),
              [](const Stored& a, const Stored& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < objects.size(); ++i)
        if (objects[i].id == objects[i - 1].id) {
            std::fprintf(stderr, "id %llu given out twice\n",
                         static_cast<unsigned long long>(objects[i].id));
            std::abort();
        }
    std::printf("%zu objects, ids up to %llu\n", objects.size(),
                static_cast<unsigned long long>(sequence.used()));
    return EXIT_SUCCESS;
}
