// A cache that shares decoded textures between render threads and forgets them when nobody uses them any more.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

struct Texture {
    int key;
    std::vector<uint32_t> pixels;
};

using TextureRef = std::shared_ptr<const Texture>;

class TextureCache {
public:
    TextureRef get(int key) {
        std::lock_guard<std::mutex> guard(mutex_);
        auto it = entries_.find(key);
        if (it != entries_.end()) {
            if (TextureRef live = it->second.lock()) { /* BUG: c */
                hits_++;
                return live;
            }
        }
        TextureRef made(decode(key), [this](const Texture *t) { drop(t); });
        entries_[key] = made; /* BUG: d */
        decoded_++;
        return made;
    }

    size_t size() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return entries_.size();
    }

    long hits() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return hits_;
    }

private:
    static Texture *decode(int key) {
        Texture *t = new Texture{key, std::vector<uint32_t>(64)};
        uint32_t v = key * 2246822519u + 1;
        for (uint32_t &p : t->pixels)
            p = v = v * 1664525u + 1013904223u;
        return t;
    }

    void drop(const Texture *t) {
        {
            std::lock_guard<std::mutex> guard(mutex_); /* BUG: a */
            auto it = entries_.find(t->key);
#ifdef FIXED
            if (it != entries_.end() && it->second.expired())
#else
            if (it != entries_.end())
#endif
                entries_.erase(it); /* BUG: b */
        }
        delete t;
    }

    mutable std::mutex mutex_;
    std::unordered_map<int, std::weak_ptr<const Texture>> entries_;
    long hits_ = 0;
    long decoded_ = 0;
};

static std::atomic<int> duplicates{0};
static std::atomic<uint64_t> framebuffer{0};

static uint64_t shade(const Texture &t, unsigned pass) {
    uint64_t acc = pass;
    for (int i = 0; i < 150; i++)
        for (uint32_t p : t.pixels)
            acc = acc * 1099511628211ull ^ p;
    return acc;
}

static void render(TextureCache &cache, unsigned seed) {
    unsigned rng = seed * 747796405u + 2891336453u;
    for (unsigned frame = 0; frame < 400; frame++) {
        rng = rng * 1664525u + 1013904223u;
        int key = (rng >> 16) % 24;

        TextureRef base = cache.get(key);
        uint64_t light = shade(*base, frame);
        TextureRef overlay = cache.get(key);
        if (overlay != base)
            duplicates.fetch_add(1);
        framebuffer.fetch_xor(light + overlay->pixels[frame % 64]);
    }
}

int main() {
    TextureCache cache;
    std::vector<std::thread> threads;
    for (unsigned i = 1; i <= 3; i++)
        threads.emplace_back(render, std::ref(cache), i);
    for (auto &t : threads)
        t.join();

    if (duplicates.load() != 0) {
        std::fprintf(stderr, "%d textures loaded twice while in use\n", duplicates.load());
        return 1;
    }
    if (cache.size() != 0) {
        std::fprintf(stderr, "%zu dead entries left in cache\n", cache.size());
        return 1;
    }
    std::printf("frame %016llx, %ld hits\n", (unsigned long long)framebuffer.load(), cache.hits());
    return 0;
}
