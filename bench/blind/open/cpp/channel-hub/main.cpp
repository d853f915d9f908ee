// Traffic accounting of a multiplexer: one entry per channel, looked up under the hub's lock.
// Feeders account the packets of channels they own while a controller opens further channels.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Channel {
    char label[32];
    std::uint64_t packets;
    std::uint64_t bytes;
    std::uint32_t digest;
};

class Hub {
public:
    std::size_t open(const std::string& label) {
        std::lock_guard<std::mutex> lock(mutex_);
        Channel channel{};
        std::snprintf(channel.label, sizeof channel.label, "%s", label.c_str());
        channels_.push_back(channel); /* BUG: a */
        return channels_.size() - 1;
    }

    Channel& channel(std::size_t index) {
        std::lock_guard<std::mutex> lock(mutex_);
        return channels_[index]; /* BUG: b */
    }

    std::size_t size() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return channels_.size();
    }

private:
    mutable std::mutex mutex_;
#ifdef FIXED
    std::deque<Channel> channels_;
#else
    std::vector<Channel> channels_;
#endif
};

class Totals {
public:
    void add(std::uint64_t bytes) {
        packets_.fetch_add(1, std::memory_order_relaxed);
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
    }
    std::uint64_t packets() const { return packets_.load(); }
    std::uint64_t bytes() const { return bytes_.load(); }

private:
    std::atomic<std::uint64_t> packets_{0};
    std::atomic<std::uint64_t> bytes_{0};
};

constexpr int kFeeders = 3;
constexpr int kPackets = 120;
constexpr int kLater = 18;

std::uint32_t fold(std::uint32_t digest, std::uint32_t value, int rounds) {
    for (int i = 0; i < rounds; ++i) digest = (digest ^ value) * 16777619u + static_cast<std::uint32_t>(i);
    return digest;
}

void feeder(Hub& hub, Totals& totals, std::size_t index) {
    std::uint32_t payload = static_cast<std::uint32_t>(index) + 1u;
    for (int i = 0; i < kPackets; ++i) {
        payload = fold(payload, static_cast<std::uint32_t>(i), 9000);
        const std::uint64_t size = 64 + payload % 1400;
        Channel& channel = hub.channel(index); /* BUG: c */
        channel.digest = fold(channel.digest, payload, 80); /* BUG: d */
        channel.packets += 1; /* BUG: e */
        channel.bytes += size; /* BUG: f */
        totals.add(size);
    }
}

void controller(Hub& hub) {
    std::uint32_t x = 1;
    for (int i = 0; i < kLater; ++i) {
        x = fold(x, 77u, 60000);
        hub.open("late-" + std::to_string(i) + "-" + std::to_string(x % 10));
    }
}

int main() {
    Hub hub;
    Totals totals;
    for (int i = 0; i < kFeeders; ++i) hub.open("main-" + std::to_string(i));

    std::vector<std::thread> threads;
    for (int i = 0; i < kFeeders; ++i)
        threads.emplace_back(feeder, std::ref(hub), std::ref(totals), static_cast<std::size_t>(i));
    threads.emplace_back(controller, std::ref(hub));
    for (auto& t : threads) t.join();

    std::uint64_t packets = 0, bytes = 0;
    for (std::size_t i = 0; i < hub.size(); ++i) {
        packets += hub.channel(i).packets;
        bytes += hub.channel(i).bytes;
    }
    if (packets != totals.packets() || bytes != totals.bytes()) {
        std::fprintf(stderr, "channels account for %llu of %llu packets\n",
                     static_cast<unsigned long long>(packets),
                     static_cast<unsigned long long>(totals.packets()));
        return EXIT_FAILURE;
    }
    std::printf("%llu packets, %llu bytes\n", static_cast<unsigned long long>(packets),
                static_cast<unsigned long long>(bytes));
    return EXIT_SUCCESS;
}
