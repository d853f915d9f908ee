// Frame encoder. Each protocol version has a checksum of its own whose table is computed
// when it is needed for the first time (one entry per nibble).
#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Checksum {
public:
    explicit Checksum(std::uint32_t polynomial) : polynomial_(polynomial) {}

    std::uint32_t of(const std::vector<std::uint8_t>& data) {
        prepare();
        std::uint32_t crc = 0xffffffffu;
        for (std::uint8_t byte : data) {
            crc = table_[(crc ^ byte) & 15u] ^ (crc >> 4); /* BUG: d */
            crc = table_[(crc ^ (byte >> 4)) & 15u] ^ (crc >> 4); /* BUG: e */
        }
        return ~crc;
    }

private:
    void prepare() {
        if (prepared_.load(std::memory_order_acquire)) return; /* BUG: c */
        std::lock_guard<std::mutex> lock(mutex_);
        if (prepared_.load(std::memory_order_relaxed)) return;
#ifndef FIXED
        prepared_.store(true, std::memory_order_release); /* BUG: a */
#endif
        for (std::uint32_t i = 0; i < table_.size(); ++i) {
            std::uint32_t c = i;
            for (int bit = 0; bit < 4; ++bit) c = (c & 1u) ? polynomial_ ^ (c >> 1) : c >> 1;
            table_[i] = c; /* BUG: b */
        }
#ifdef FIXED
        prepared_.store(true, std::memory_order_release);
#endif
    }

    const std::uint32_t polynomial_;
    std::mutex mutex_;
    std::atomic<bool> prepared_{false};
    std::array<std::uint32_t, 16> table_{};
};

struct Frame {
    int version;
    std::vector<std::uint8_t> body;
    std::uint32_t checksum;
};

class FrameLog {
public:
    void add(Frame frame) {
        std::lock_guard<std::mutex> lock(mutex_);
        bytes_ += frame.body.size();
        frames_.push_back(std::move(frame));
    }

    template <typename Visitor>
    void for_each(Visitor visit) {
        std::lock_guard<std::mutex> lock(mutex_);
        for (const Frame& frame : frames_) visit(frame);
    }

    std::size_t bytes() {
        std::lock_guard<std::mutex> lock(mutex_);
        return bytes_;
    }

private:
    std::mutex mutex_;
    std::vector<Frame> frames_;
    std::size_t bytes_ = 0;
};

class Encoder {
public:
    Frame encode(int version, std::vector<std::uint8_t> body) {
        const std::uint32_t sum = checksums_[static_cast<std::size_t>(version)].of(body);
        encoded_.fetch_add(1, std::memory_order_relaxed);
        return {version, std::move(body), sum};
    }

    bool verify(const Frame& frame) {
        return checksums_[static_cast<std::size_t>(frame.version)].of(frame.body) == frame.checksum;
    }

    int encoded() const { return encoded_.load(); }

private:
    std::array<Checksum, 2> checksums_{Checksum(0xedb88320u), Checksum(0x82f63b78u)};
    std::atomic<int> encoded_{0};
};

constexpr int kSenders = 3;
constexpr int kFrames = 40;

void sender(Encoder& encoder, FrameLog& log, std::uint32_t seed) {
    for (int i = 0; i < kFrames; ++i) {
        std::vector<std::uint8_t> body(400 + seed % 997 + static_cast<std::size_t>(i) * 20);
        for (auto& byte : body) {
            for (int k = 0; k < 4; ++k) seed = seed * 1664525u + 1013904223u;
            byte = static_cast<std::uint8_t>(seed >> 24);
        }
        log.add(encoder.encode(i / 5 % 2, std::move(body)));
    }
}

int main() {
    Encoder encoder;
    FrameLog log;
    std::vector<std::thread> senders;
    for (int s = 0; s < kSenders; ++s)
        senders.emplace_back(sender, std::ref(encoder), std::ref(log), 4711u * static_cast<std::uint32_t>(s + 1));
    for (auto& t : senders) t.join();

    int checked = 0;
    log.for_each([&](const Frame& frame) {
        const bool frame_checksum_is_right = encoder.verify(frame);
        assert(frame_checksum_is_right);
        checked += frame_checksum_is_right;
    });
    assert(checked == kSenders * kFrames && encoder.encoded() == checked);
    std::printf("%d frames, %zu bytes\n", checked, log.bytes());
    return 0;
}
