/* A ring of tasks that are served in turn: the scheduler takes the first off the ring, gives it its time slice and
 * puts it back at the end. A monitor looks from time to time whether all tasks are there.
 *
 * Taking and putting are each under the lock. But while a task has its slice it is on no ring: a monitor that counts
 * just then finds one task missing.
 */
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Task {
    std::string name;
    long slices = 0;
    unsigned state = 1;
    Task *next = nullptr;
};

class Ring {
public:
    void put(Task *task) {
        std::lock_guard<std::mutex> held(lock_);
        if (last_ == nullptr) {
            task->next = task;
        } else {
            task->next = last_->next;
            last_->next = task;
        }
        last_ = task;
        length_++; /* BUG: 3 */
    }

    Task *take() {
        std::lock_guard<std::mutex> held(lock_);
        Task *first = last_->next;
        if (first == last_)
            last_ = nullptr;
        else
            last_->next = first->next;
        length_--; /* BUG: 1 */
        return first;
    }

    /* The first comes to the end, without ever leaving the ring. */
    Task *turn() {
        std::lock_guard<std::mutex> held(lock_);
        last_ = last_->next;
        return last_;
    }

    long length() {
        std::lock_guard<std::mutex> held(lock_);
        return length_; /* BUG: 2 */
    }

private:
    std::mutex lock_;
    Task *last_ = nullptr;
    long length_ = 0;
};

void account(Task &task, unsigned effort) {
    task.slices++;
    for (unsigned i = 0; i < effort; i++)
        task.state = task.state * 1664525u + 1013904223u;
}

void schedule(Ring &ring, int turns, unsigned effort) {
    unsigned choice = 1;
    for (int i = 0; i < turns; i++) {
        for (unsigned step = 0; step < effort; step++)
            choice = choice * 69069u + 1;
#ifdef FIXED
        Task *task = ring.turn();
        account(*task, choice % 2 + 150);
#else
        Task *task = ring.take();
        account(*task, choice % 2 + 150);
        ring.put(task);
#endif
    }
}

bool watch(Ring &ring, long expected, int looks, unsigned pause) {
    bool complete = true;
    unsigned noise = 1;
    for (int i = 0; i < looks; i++) {
        for (unsigned step = 0; step < pause; step++)
            noise = noise * 22695477u + 1;
        if (noise != 0 && ring.length() != expected)
            complete = false;
    }
    return complete;
}

} // namespace

int main(int count, char **arguments) {
    int turns = count > 1 ? std::atoi(arguments[1]) : 200;
    int looks = count > 2 ? std::atoi(arguments[2]) : 3;
    const unsigned effort = 6000;
    std::vector<Task> tasks(5);
    Ring ring;
    for (size_t i = 0; i < tasks.size(); i++) {
        tasks[i].name = "task " + std::to_string(i);
        ring.put(&tasks[i]);
    }
    bool complete = false;
    std::thread scheduler([&] { schedule(ring, turns, effort); });
    std::thread monitor([&] {
        complete = watch(ring, static_cast<long>(tasks.size()), looks, effort * static_cast<unsigned>(turns / looks / 2));
    });
    scheduler.join();
    monitor.join();
    long slices = 0;
    for (const Task &task : tasks)
        slices += task.slices;
    std::printf("%ld slices for %zu tasks\n", slices, tasks.size());
    if (!complete || slices != turns) {
        std::fprintf(stderr, "FAILED: the monitor found a task missing\n");
        return 1;
    }
    return 0;
}
