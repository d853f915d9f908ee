/* A timer service with a thread of its own, as a browser has one: timers are posted from anywhere and fire on the
 * timer thread. `shutdown` promises that whatever was due when it was called has fired when it returns.
 *
 * All shared state is under one lock. But a service that is shut down before its thread came as far as looking at
 * the state takes the shutdown for "never started", and drops every timer that was posted.
 */
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct Timer {
    long due;
    int id;
    bool operator>(const Timer &other) const { return due > other.due; }
};

class TimerService {
public:
    void start() {
        thread_ = std::thread(&TimerService::run, this);
#ifdef FIXED
        std::unique_lock<std::mutex> held(lock_);
        changed_.wait(held, [this] { return state_ != State::Created; });
#endif
    }

    void post(int id, long due) {
        std::lock_guard<std::mutex> held(lock_);
        timers_.push_back({due, id});
        std::push_heap(timers_.begin(), timers_.end(), std::greater<Timer>());
        changed_.notify_one();
    }

    void shutdown() {
        {
            std::lock_guard<std::mutex> held(lock_);
            state_ = State::Closing; /* BUG: 1 */
        }
        changed_.notify_one();
        thread_.join();
    }

    long fired() {
        std::lock_guard<std::mutex> held(lock_);
        return fired_;
    }

private:
    enum class State { Created, Running, Closing };

    void run() {
        long resolution = calibrate();
        std::unique_lock<std::mutex> held(lock_);
        resolution_ = resolution;
        if (state_ == State::Closing) /* BUG: 2 */
            return;
        state_ = State::Running;
        changed_.notify_all();
        while (state_ == State::Running) {
            fire_due();
            if (state_ == State::Running)
                changed_.wait(held);
        }
        fire_due();
    }

    /* How finely the clock ticks: the median of some differences. */
    static long calibrate() {
        std::vector<long> steps;
        for (int i = 0; i < 64; i++) {
            timespec before, after;
            clock_gettime(CLOCK_MONOTONIC, &before);
            clock_gettime(CLOCK_MONOTONIC, &after);
            steps.push_back(after.tv_nsec - before.tv_nsec);
        }
        std::sort(steps.begin(), steps.end());
        return steps[steps.size() / 2];
    }

    void fire_due() {
        while (!timers_.empty() && timers_.front().due <= now_) {
            std::pop_heap(timers_.begin(), timers_.end(), std::greater<Timer>());
            last_ = timers_.back().id;
            timers_.pop_back();
            fired_++;
        }
    }

    std::mutex lock_;
    std::condition_variable changed_;
    std::thread thread_;
    State state_ = State::Created;
    std::vector<Timer> timers_;
    long now_ = 1000;
    long fired_ = 0;
    long resolution_ = 0;
    int last_ = 0;
};

/* What the page does while its timers run: lays out some lines of text. */
unsigned lay_out(int lines) {
    unsigned hash = 2166136261u;
    for (int line = 0; line < lines; line++)
        for (int column = 0; column < 80; column++)
            hash = (hash ^ static_cast<unsigned>(line + column)) * 16777619u;
    return hash;
}

} // namespace

int main(int count, char **arguments) {
    int timers = count > 1 ? std::atoi(arguments[1]) : 24;
    int lines = count > 2 ? std::atoi(arguments[2]) : 16000;
    TimerService service;
    service.start();
    for (int id = 0; id < timers; id++)
        service.post(id, id % 7);
    unsigned layout = lay_out(lines);
    service.shutdown();
    long fired = service.fired();
    std::printf("layout %08x: %ld of %d timers fired\n", layout, fired, timers);
    if (fired != timers) {
        std::fprintf(stderr, "FAILED: timers that were due have been dropped at shutdown\n");
        return 1;
    }
    return 0;
}
