// An asynchronous log: producers append lines, one writer thread drains them into a segment. Segments are rotated.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

struct Segment {
    size_t lines = 0;
    uint64_t checksum = 0;
};

class LogWriter {
public:
    LogWriter() : writer_([this] { run(); }) {}

    void append(std::string line) {
        std::lock_guard<std::mutex> guard(mutex_);
        queue_.push_back(std::move(line));
        accepted_.fetch_add(1, std::memory_order_relaxed);
        wake_.notify_one();
    }

    Segment close() {
#ifdef FIXED
        {
            std::lock_guard<std::mutex> guard(mutex_);
            closing_.store(true);
        }
#else
        closing_.store(true); /* BUG: c */
#endif
        wake_.notify_one(); /* BUG: d */
        writer_.join();
        return segment_;
    }

    size_t accepted() const { return accepted_.load(std::memory_order_relaxed); }

private:
    void run() {
        std::deque<std::string> batch;
        for (;;) {
            {
                std::unique_lock<std::mutex> lock(mutex_);
                while (queue_.empty() && !closing_.load()) /* BUG: a */
                    wake_.wait(lock); /* BUG: b */
                if (queue_.empty())
                    return;
                batch.swap(queue_);
            }
            for (const std::string &line : batch)
                write(line);
            batch.clear();
        }
    }

    void write(const std::string &line) {
        for (int round = 0; round < 8; round++)
            for (unsigned char c : line)
                segment_.checksum = segment_.checksum * 31 + c;
        segment_.lines++;
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::string> queue_;
    std::atomic<bool> closing_{false};
    std::atomic<size_t> accepted_{0};
    Segment segment_;
    std::thread writer_;
};

static void produce(LogWriter &log, int id, int lines) {
    for (int i = 0; i < lines; i++) {
        uint64_t v = static_cast<uint64_t>(id) * 7919 + i;
        for (int k = 0; k < 300; k++)
            v = v * 6364136223846793005ull + 1442695040888963407ull;
        log.append("producer " + std::to_string(id) + " line " + std::to_string(i) + " value " + std::to_string(v >> 40));
    }
}

int main() {
    constexpr int kRotations = 12;
    constexpr int kLines = 60;
    size_t written = 0, accepted = 0;
    uint64_t checksum = 0;

    for (int r = 0; r < kRotations; r++) {
        LogWriter log;
        std::thread first(produce, std::ref(log), 2 * r, kLines);
        std::thread second(produce, std::ref(log), 2 * r + 1, kLines);
        first.join();
        second.join();
        Segment s = log.close();
        written += s.lines;
        accepted += log.accepted();
        checksum ^= s.checksum;
    }

    if (written != accepted || written != size_t(kRotations) * kLines * 2) {
        std::fprintf(stderr, "log incomplete: %zu written, %zu accepted\n", written, accepted);
        return 1;
    }
    std::printf("%zu lines in %d segments, %016llx\n", written, kRotations, (unsigned long long)checksum);
    return 0;
}
