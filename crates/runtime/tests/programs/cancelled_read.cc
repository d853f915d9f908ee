// A thread that is cancelled while it waits for input runs its destructors, as it does without us.
#include <cstdio>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static int ends[2], sockets[2];
struct Says {
    const char *what;
    ~Says() { std::puts(what); }
};
static void *reads(void *) {
    Says says{"left read"};
    char byte;
    return reinterpret_cast<void *>(read(ends[0], &byte, 1));
}
static void *receives(void *) {
    Says says{"left recvfrom"};
    char byte;
    return reinterpret_cast<void *>(recvfrom(sockets[0], &byte, 1, 0, nullptr, nullptr));
}
static void cancel(void *(*routine)(void *)) {
    pthread_t thread;
    void *answer = nullptr;
    pthread_create(&thread, nullptr, routine, nullptr);
    usleep(20000);
    pthread_cancel(thread);
    pthread_join(thread, &answer);
    std::printf("%d\n", answer == PTHREAD_CANCELED);
}
int main() {
    if (pipe(ends) || socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets)) return 1;
    cancel(reads);
    cancel(receives);
}
