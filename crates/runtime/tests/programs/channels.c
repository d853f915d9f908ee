/* Bytes go through a pipe and through a pair of sockets, from one thread to the other. */
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], sockets[2];

static void *give(void *nothing) {
    char byte = 1;
    if (write(ends[1], &byte, 1) != 1 || send(sockets[1], &byte, 1, 0) != 1)
        return &ends;
    return nothing;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 1;
    pthread_create(&thread, NULL, give, NULL);
    char bytes[2];
    if (read(ends[0], &bytes[0], 1) != 1 || recv(sockets[0], &bytes[1], 1, 0) != 1)
        return 2;
    pthread_join(thread, NULL);
    return 0;
}
