// Checksumming of frames with lookup tables that are made on first use, one for each polynomial.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class CrcTable {
public:
    explicit CrcTable(uint32_t polynomial) : polynomial_(polynomial) {}

    void build() {
        for (uint32_t n = 0; n < 256; n++) {
            uint32_t c = n;
            for (int k = 0; k < 8; k++)
                c = c & 1 ? polynomial_ ^ (c >> 1) : c >> 1;
            entries_[n] = c; /* BUG: b */
        }
    }

    uint32_t update(uint32_t crc, uint8_t byte) const {
        return entries_[(crc ^ byte) & 0xff] ^ (crc >> 8); /* BUG: d */
    }

private:
    uint32_t polynomial_;
    std::array<uint32_t, 256> entries_{};
};

constexpr std::array<uint32_t, 5> kPolynomials = {0xEDB88320u, 0x82F63B78u, 0xEB31D82Eu, 0xD5828281u, 0x992C1A4Cu};

class Codec {
public:
    const CrcTable &table(size_t kind) {
        Slot &slot = slots_[kind];
        CrcTable *t = slot.ready.load(std::memory_order_acquire); /* BUG: c */
        if (!t) {
            std::lock_guard<std::mutex> guard(mutex_);
            t = slot.ready.load(std::memory_order_relaxed);
            if (!t) {
                slot.owned = std::make_unique<CrcTable>(kPolynomials[kind]);
                t = slot.owned.get();
#ifdef FIXED
                t->build();
                slot.ready.store(t, std::memory_order_release);
#else
                slot.ready.store(t, std::memory_order_release); /* BUG: a */
                t->build(); /* BUG: e */
#endif
            }
        }
        return *t;
    }

private:
    struct Slot {
        std::atomic<CrcTable *> ready{nullptr};
        std::unique_ptr<CrcTable> owned;
    };
    std::mutex mutex_;
    std::array<Slot, kPolynomials.size()> slots_;
};

struct Frame {
    size_t kind;
    std::vector<uint8_t> body;
    uint32_t crc = 0;
};

static uint32_t referenceCrc(uint32_t polynomial, const std::vector<uint8_t> &body) {
    uint32_t crc = ~0u;
    for (uint8_t byte : body) {
        crc ^= byte;
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? polynomial ^ (crc >> 1) : crc >> 1;
    }
    return ~crc;
}

static std::atomic<size_t> nextFrame{0};
static std::atomic<size_t> bytesDone{0};

static void encode(Codec &codec, std::vector<Frame> &frames) {
    for (;;) {
        size_t i = nextFrame.fetch_add(1);
        if (i >= frames.size())
            return;
        Frame &f = frames[i];
        uint32_t seed = static_cast<uint32_t>(i) * 2654435761u + 1;
        for (uint8_t &byte : f.body) {
            seed = seed * 1664525u + 1013904223u;
            byte = seed >> 24;
        }
        const CrcTable &table = codec.table(f.kind);
        uint32_t crc = ~0u;
        for (uint8_t byte : f.body)
            crc = table.update(crc, byte);
        f.crc = ~crc;
        bytesDone.fetch_add(f.body.size());
    }
}

int main() {
    Codec codec;
    std::vector<Frame> frames;
    for (size_t i = 0; i < 240; i++)
        frames.push_back(Frame{i % kPolynomials.size(), std::vector<uint8_t>(3000 + i * 977 % 5003)});

    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back(encode, std::ref(codec), std::ref(frames));
    for (auto &t : threads)
        t.join();

    for (size_t i = 0; i < frames.size(); i++) {
        if (frames[i].crc != referenceCrc(kPolynomials[frames[i].kind], frames[i].body)) {
            std::fprintf(stderr, "checksum mismatch in frame %zu\n", i);
            return 1;
        }
    }
    std::printf("%zu frames, %zu bytes\n", frames.size(), bytesDone.load());
    return 0;
}
