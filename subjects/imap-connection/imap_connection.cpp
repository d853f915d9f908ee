/* A connection of a mail program to its server: the URL it works on, and whether it is busy. The thread of the
 * connection takes a URL; the program looks for connections that can be closed.
 *
 * URL and state have a lock each and are never touched without. But they belong together: a connection that has its
 * URL and is not yet busy looks as if it had forgotten to let its last URL go, and loses it.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <string>
#include <thread>

namespace {

unsigned talk(unsigned words, int rounds) {
    for (int i = 0; i < rounds; i++)
        words = (words ^ words >> 15) * 2246822519u + 1;
    return words;
}

class ImapConnection {
public:
    /* Returns what the server has answered. */
    unsigned run_url(int url, int work) {
#ifdef FIXED
        std::lock_guard<std::mutex> together(whole_);
#endif
        {
            std::lock_guard<std::mutex> held(url_lock_);
            url_ = url; /* BUG: 1 */
        }
        unsigned greeting = talk(unsigned(url), work);
        std::lock_guard<std::mutex> held(state_lock_);
        busy_ = greeting != 0; /* BUG: 4 */
        return greeting;
    }

    /* The URL that was left behind, or 0. */
    int left_behind() {
#ifdef FIXED
        std::lock_guard<std::mutex> together(whole_);
#endif
        int url;
        {
            std::lock_guard<std::mutex> held(url_lock_);
            url = url_; /* BUG: 2 */
        }
        std::lock_guard<std::mutex> held(state_lock_);
        return busy_ ? 0 : url; /* BUG: 3 */
    }

    void reset() {
        std::scoped_lock held(url_lock_, state_lock_);
        url_ = 0;
        busy_ = false;
    }

    void resume(int url) {
        std::scoped_lock held(url_lock_, state_lock_);
        url_ = url;
        busy_ = url != 0;
    }

    bool can_take(int url) {
        std::scoped_lock held(url_lock_, state_lock_);
        return !busy_ && url_ != url;
    }

    void describe() {
        std::scoped_lock held(url_lock_, state_lock_);
        std::printf("url %d, %s\n", url_, busy_ ? "busy" : "idle");
    }

private:
    std::mutex url_lock_;
    int url_ = 0;
    std::mutex state_lock_;
    bool busy_ = false;
#ifdef FIXED
    std::mutex whole_;
#endif
};

ImapConnection connection;

} // namespace

int main(int count, char **arguments) {
    int work = count > 1 ? std::atoi(arguments[1]) : 60000;
    connection.resume(1);
    connection.reset();
    if (!connection.can_take(7))
        return 2;
    pthread_barrier_t program_is_up;
    pthread_barrier_init(&program_is_up, nullptr, 2);
    std::thread server([&] {
        pthread_barrier_wait(&program_is_up);
        if (talk(1, work) != 0)
            connection.run_url(7, work);
    });
    std::atomic<int> dropped{0};
    std::thread closer([&] {
        pthread_barrier_wait(&program_is_up);
        if (talk(2, work) != 0)
            dropped = connection.left_behind();
    });
    server.join();
    closer.join();
    connection.describe();
    if (dropped != 0) {
        std::fprintf(stderr, "FAILED: URL %d was dropped while the connection worked on it\n", dropped.load());
        return 1;
    }
    return 0;
}
