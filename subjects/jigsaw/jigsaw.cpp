/* A web server that keeps the connections of its clients. A factory makes and counts them; a list, with a lock of its
 * own, has those that are idle. Connections serve requests and then go into the list; an administrator closes what is
 * idle now and then.
 *
 * A connection that has finished locks the list and then the factory, to count itself. The administrator locks the
 * factory and then the list. Now and then each has its first lock, and both wait for ever.
 */
#include "../../crates/breakpoint/include/unpick.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static unsigned work(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = (seed ^ (seed >> 15)) * 2246822519u + 1u;
    return seed;
}

struct ClientList {
    std::mutex lock;
    std::vector<int> idle;
};

class SocketClientFactory {
  public:
    /* A connection is at work again: it is not idle any more. */
    void client_connection_started(int client) {
        {
            std::lock_guard<std::mutex> alone(list_.lock);
            for (auto at = list_.idle.begin(); at != list_.idle.end(); ++at)
                if (*at == client) {
                    list_.idle.erase(at);
                    break;
                }
        }
        std::lock_guard<std::mutex> alone(lock_);
        busy_++;
    }

    void client_connection_finished(int client) {
#ifdef FIXED
        decrement_busy_count();
#endif
        std::lock_guard<std::mutex> alone(list_.lock); /* BUG: 1 */
        list_.idle.push_back(client);
#ifndef FIXED
        UNPICK_TRIGGER(deadlock("finished-and-killed", &list_.lock, &lock_), first());
        decrement_busy_count();
#endif
    }

    /* Closes what is idle. */
    int kill_clients() {
        std::lock_guard<std::mutex> alone(lock_); /* BUG: 3 */
        int before = killed_;
        UNPICK_TRIGGER(deadlock("finished-and-killed", &lock_, &list_.lock), second());
        std::lock_guard<std::mutex> list_alone(list_.lock); /* BUG: 4 */
        killed_ += static_cast<int>(list_.idle.size());
        list_.idle.clear();
        return killed_ - before;
    }

    int busy() {
        std::lock_guard<std::mutex> alone(lock_);
        return busy_;
    }

  private:
    void decrement_busy_count() {
        std::lock_guard<std::mutex> alone(lock_); /* BUG: 2 */
        busy_--;
    }

    std::mutex lock_;
    ClientList list_;
    int busy_ = 0;
    int killed_ = 0;
};

struct Statistics {
    std::mutex lock;
    long requests = 0;
    unsigned checksum = 0;
};

static SocketClientFactory factory;
static Statistics statistics;

static void count_request(unsigned page) {
    std::lock_guard<std::mutex> alone(statistics.lock);
    statistics.requests++;
    statistics.checksum ^= page;
}

static void serve(int client, int requests) {
    for (int i = 0; i < requests; i++) {
        factory.client_connection_started(client);
        count_request(work(static_cast<unsigned>(client * 1000 + i), 20000));
        factory.client_connection_finished(client);
    }
}

static void administrate(int commands) {
    for (int i = 0; i < commands; i++) {
        work(static_cast<unsigned>(i), 50000);
        factory.kill_clients();
    }
}

int main(int count, char **arguments) {
    int requests = count > 1 ? std::atoi(arguments[1]) : 100;
    int commands = count > 2 ? std::atoi(arguments[2]) : 30;
    std::vector<std::thread> threads;
    for (int client = 0; client < 2; client++)
        threads.emplace_back(serve, client, requests);
    threads.emplace_back(administrate, commands);
    for (std::thread &thread : threads)
        thread.join();
    std::printf("%ld requests, checksum %08x\n", statistics.requests, statistics.checksum);
    if (statistics.requests != 2L * requests || factory.busy() != 0) {
        std::fprintf(stderr, "FAILED: requests were lost\n");
        return 1;
    }
    return 0;
}
