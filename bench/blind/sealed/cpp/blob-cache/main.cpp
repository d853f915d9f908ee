// Cache of decoded blobs. Users pin a blob while they read it; when the last pin goes, the
// blob leaves the cache and its buffer is kept for the next one to be decoded.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

constexpr std::size_t kWords = 256;

struct Blob {
    int key = -1;
    std::array<std::uint32_t, kWords> words{};
    std::atomic<int> pins{0};
};

std::uint32_t word_of(int key, std::size_t i) {
    return (static_cast<std::uint32_t>(key) + 1u) * 2654435761u ^ static_cast<std::uint32_t>(i * 40503u);
}

class BlobCache {
public:
    Blob* pin(int key) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (auto it = blobs_.find(key); it != blobs_.end()) { /* BUG: g */
            it->second->pins.fetch_add(1); /* BUG: c */
            ++hits_;
            return it->second;
        }
        Blob* blob = grab();
        blob->key = key;
        for (std::size_t i = 0; i < kWords; ++i) blob->words[i] = word_of(key, i);
        blob->pins.store(1);
        blobs_.emplace(key, blob);
        return blob;
    }

    void unpin(Blob* blob) {
#ifdef FIXED
        std::lock_guard<std::mutex> lock(mutex_);
        if (blob->pins.fetch_sub(1) == 1) discard(blob);
#else
        if (blob->pins.fetch_sub(1) == 1) { /* BUG: a */
            std::lock_guard<std::mutex> lock(mutex_);
            discard(blob); /* BUG: b */
        }
#endif
    }

    std::pair<std::size_t, std::uint64_t> stats() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return {all_.size(), hits_};
    }

private:
    Blob* grab() {
        if (spare_.empty()) {
            all_.push_back(std::make_unique<Blob>());
            return all_.back().get();
        }
        Blob* blob = spare_.back();
        spare_.pop_back();
        return blob;
    }

    void discard(Blob* blob) {
        blobs_.erase(blob->key); /* BUG: f */
        blob->words.fill(0); /* BUG: d */
        spare_.push_back(blob);
    }

    mutable std::mutex mutex_;
    std::unordered_map<int, Blob*> blobs_;
    std::vector<std::unique_ptr<Blob>> all_;
    std::vector<Blob*> spare_;
    std::uint64_t hits_ = 0;
};

class Pin {
public:
    Pin(BlobCache& cache, int key) : cache_(cache), blob_(cache.pin(key)) {}
    ~Pin() { cache_.unpin(blob_); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    std::uint32_t checksum() const {
        std::uint32_t sum = 0;
        for (int pass = 0; pass < 8; ++pass)
            for (std::uint32_t w : blob_->words) sum = sum * 31u + w; /* BUG: e */
        return sum;
    }

private:
    BlobCache& cache_;
    Blob* blob_;
};

int main() {
    constexpr int kReaders = 4;
    constexpr int kKeys = 48;
    constexpr int kReads = 90;

    std::array<std::uint32_t, kKeys> expected{};
    for (int k = 0; k < kKeys; ++k)
        for (int pass = 0; pass < 8; ++pass)
            for (std::size_t i = 0; i < kWords; ++i)
                expected[static_cast<std::size_t>(k)] =
                    expected[static_cast<std::size_t>(k)] * 31u + word_of(k, i);

    BlobCache cache;
    std::atomic<int> reads{0};
    std::vector<std::thread> readers;
    for (int r = 0; r < kReaders; ++r)
        readers.emplace_back([&, r] {
            std::uint32_t x = 99u + static_cast<std::uint32_t>(r) * 7u;
            for (int i = 0; i < kReads; ++i) {
                for (int k = 0; k < 3000; ++k) x = x * 1664525u + 1013904223u;
                const int key = static_cast<int>((x >> 16) % kKeys);
                Pin pin(cache, key);
                if (pin.checksum() != expected[static_cast<std::size_t>(key)]) {
                    std::fprintf(stderr, "blob %d changed while it was pinned\n", key);
                    std::_Exit(EXIT_FAILURE);
                }
                reads.fetch_add(1);
            }
        });
    for (auto& t : readers) t.join();

    const auto [buffers, hits] = cache.stats();
    if (reads.load() != kReaders * kReads || buffers > kReaders) {
        std::fprintf(stderr, "%d reads, %zu buffers\n", reads.load(), buffers);
        return EXIT_FAILURE;
    }
    std::printf("%llu hits\n", static_cast<unsigned long long>(hits));
    return EXIT_SUCCESS;
}
