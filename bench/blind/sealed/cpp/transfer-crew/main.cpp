// Background transfers. Each transfer runs on a thread of its own that nobody keeps a handle
// of; the crew counts those that are under way, and drain() waits for the count to reach zero.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct Receipt {
    int transfer = 0;
    std::size_t bytes = 0;
    std::uint32_t checksum = 0;
};

std::uint32_t checksum(const std::vector<std::uint8_t>& data) {
    std::uint32_t a = 1, b = 0;
    for (int pass = 0; pass < 4; ++pass)
        for (std::uint8_t byte : data) {
            a = (a + byte) % 65521u;
            b = (b + a) % 65521u;
        }
    return (b << 16) | a;
}

class Archive {
public:
    void file(const Receipt& receipt) {
        std::lock_guard<std::mutex> lock(mutex_);
        receipts_[receipt.transfer] = receipt; /* BUG: b */
        bytes_ += receipt.bytes;
    }

    std::map<int, Receipt> receipts() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return receipts_; /* BUG: d */
    }

private:
    mutable std::mutex mutex_;
    std::map<int, Receipt> receipts_;
    std::size_t bytes_ = 0;
};

// Files the receipt when the transfer is left, however it is left.
class Filing {
public:
    Filing(Archive& archive, int transfer) : archive_(archive) { receipt_.transfer = transfer; }
    ~Filing() { archive_.file(receipt_); } /* BUG: e */
    Filing(const Filing&) = delete;
    Filing& operator=(const Filing&) = delete;
    Receipt& receipt() { return receipt_; }

private:
    Archive& archive_;
    Receipt receipt_;
};

class Crew : public std::enable_shared_from_this<Crew> {
public:
    explicit Crew(std::shared_ptr<Archive> archive) : archive_(std::move(archive)) {}

    void start(int transfer, std::vector<std::uint8_t> data) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            ++active_;
        }
        std::thread([self = shared_from_this(), transfer, data = std::move(data)] {
            self->carry_out(transfer, data);
        }).detach();
    }

    void drain() {
        std::unique_lock<std::mutex> lock(mutex_);
        idle_.wait(lock, [this] { return active_ == 0; }); /* BUG: c */
    }

private:
    class Presence {
    public:
        explicit Presence(Crew& crew) : crew_(crew) {}
        ~Presence() {
            std::lock_guard<std::mutex> lock(crew_.mutex_);
            if (--crew_.active_ == 0) crew_.idle_.notify_all(); /* BUG: a */
        }
        Presence(const Presence&) = delete;
        Presence& operator=(const Presence&) = delete;

    private:
        Crew& crew_;
    };

    void carry_out(int transfer, const std::vector<std::uint8_t>& data) {
#ifdef FIXED
        Presence presence(*this);
        Filing filing(*archive_, transfer);
#else
        Filing filing(*archive_, transfer);
        Presence presence(*this);
#endif
        filing.receipt().bytes = data.size();
        filing.receipt().checksum = checksum(data);
    }

    std::shared_ptr<Archive> archive_;
    std::mutex mutex_;
    std::condition_variable idle_;
    int active_ = 0;
};

int main() {
    constexpr int kRounds = 3;
    constexpr int kParallel = 3;

    auto archive = std::make_shared<Archive>();
    auto crew = std::make_shared<Crew>(archive);
    std::map<int, std::uint32_t> expected;
    for (int round = 0; round < kRounds; ++round) {
        std::vector<std::vector<std::uint8_t>> originals;
        for (int i = 0; i < kParallel; ++i) {
            std::vector<std::uint8_t> data(8000 + 900u * static_cast<unsigned>(i));
            std::uint32_t x = static_cast<std::uint32_t>(round * 17 + i + 1);
            for (auto& byte : data) byte = static_cast<std::uint8_t>((x = x * 1664525u + 1013904223u) >> 24);
            originals.push_back(data);
            crew->start(round * kParallel + i, std::move(data));
        }
        for (int i = 0; i < kParallel; ++i)
            expected[round * kParallel + i] = checksum(originals[static_cast<std::size_t>(i)]);
        crew->drain();

        const auto receipts = archive->receipts();
        for (const auto& [transfer, sum] : expected) {
            const auto it = receipts.find(transfer);
            if (it == receipts.end() || it->second.checksum != sum) {
                std::fprintf(stderr, "no valid receipt for transfer %d\n", transfer);
                std::abort();
            }
        }
    }
    std::printf("%zu transfers\n", expected.size());
    return EXIT_SUCCESS;
}
