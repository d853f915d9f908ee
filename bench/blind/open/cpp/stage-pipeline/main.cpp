// A chain of processing stages, each with one thread and an inbox. A stage that has seen the
// end of its input closes the inbox of its successor.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

struct Frame {
    int number;
    std::uint32_t value;
};

class Inbox {
public:
    void put(Frame frame) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            frames_.push_back(frame);
        }
        available_.notify_one();
    }

    void close() {
#ifdef FIXED
        std::lock_guard<std::mutex> lock(mutex_);
#endif
        closed_.store(true);     /* BUG: a */
        available_.notify_all(); /* BUG: b */
    }

    // Nothing means: closed, and all frames have been taken.
    std::optional<Frame> take() {
        std::unique_lock<std::mutex> lock(mutex_);
        while (frames_.empty()) {
            if (closed_.load()) return std::nullopt; /* BUG: c */
            available_.wait(lock);                   /* BUG: d */
        }
        Frame frame = frames_.front();
        frames_.pop_front();
        return frame;
    }

private:
    std::mutex mutex_;
    std::condition_variable available_;
    std::deque<Frame> frames_;
    std::atomic<bool> closed_{false};
};

class Stage {
public:
    using Step = std::function<std::uint32_t(std::uint32_t)>;

    Stage(Step step, Stage* next) : step_(std::move(step)), next_(next) {}

    void start() { thread_ = std::thread([this] { run(); }); }
    void join() { thread_.join(); }
    Inbox& inbox() { return inbox_; }
    std::uint64_t handled() const { return handled_.load(); }
    std::uint64_t checksum() const { return checksum_.load(); }
    std::uint32_t trailer() const { return trailer_.load(); }

private:
    void run() {
        while (auto frame = inbox_.take()) {
            const std::uint32_t value = step_(frame->value);
            handled_.fetch_add(1);
            checksum_.fetch_add(value);
            if (next_) next_->inbox().put({frame->number, value});
        }
        trailer_.store(step_(static_cast<std::uint32_t>(handled_.load())));
        if (next_) next_->inbox().close();
    }

    Inbox inbox_;
    Step step_;
    Stage* next_;
    std::thread thread_;
    std::atomic<std::uint64_t> handled_{0};
    std::atomic<std::uint64_t> checksum_{0};
    std::atomic<std::uint32_t> trailer_{0};
};

static std::uint32_t churn(std::uint32_t x, std::uint32_t factor, int rounds) {
    for (int i = 0; i < rounds; ++i) x = x * factor + 12345u;
    return x;
}

int main() {
    constexpr int kFrames = 60;

    Stage sink([](std::uint32_t x) { return churn(x, 22695477u, 3000) & 0xffffu; }, nullptr);
    Stage filter([](std::uint32_t x) { return churn(x, 1103515245u, 4000); }, &sink);
    Stage decode([](std::uint32_t x) { return churn(x, 1664525u, 5000); }, &filter);
    for (Stage* stage : {&sink, &filter, &decode}) stage->start();

    for (int i = 0; i < kFrames; ++i)
        decode.inbox().put({i, churn(static_cast<std::uint32_t>(i), 69069u, 4000)});
    decode.inbox().close();
    for (Stage* stage : {&decode, &filter, &sink}) stage->join();

    std::uint64_t expected = 0;
    for (int i = 0; i < kFrames; ++i) {
        std::uint32_t x = churn(static_cast<std::uint32_t>(i), 69069u, 4000);
        x = churn(churn(x, 1664525u, 5000), 1103515245u, 4000);
        expected += churn(x, 22695477u, 3000) & 0xffffu;
    }
    if (sink.handled() != kFrames || sink.checksum() != expected ||
        sink.trailer() != (churn(kFrames, 22695477u, 3000) & 0xffffu)) {
        std::fprintf(stderr, "frames were lost\n");
        return EXIT_FAILURE;
    }
    std::printf("%llu frames\n", static_cast<unsigned long long>(sink.handled()));
    return EXIT_SUCCESS;
}
