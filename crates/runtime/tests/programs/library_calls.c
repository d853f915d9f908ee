/* Library calls that touch memory for the program, each on bytes that the other thread has touched. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static char source[64], copied[64], moved[64], filled[64], text[64], joined[64], input[64], datagram[64], parts[2][8];
static char compared[64], searched[64];
static int pipe_ends[2], sockets[2];
static size_t length = 40; /* not known to the compiler */
static void *other(void *unused) {
    memcpy(copied, source, length); // copies
    memmove(moved, source + 1, length); // moves
    memset(filled, 7, length); // fills
    strcpy(text, source); // copies_text
    strcat(joined, source); // joins
    printf("%zu\n", strlen(source)); // measures
    printf("%d\n", memcmp(compared, source, length) != 0); // compares
    printf("%d\n", strchr(searched, 'x') != NULL); // searches
    if (write(pipe_ends[1], source, length) != (ssize_t)length) return NULL; // writes_out
    if (read(pipe_ends[0], input, 16) != 16) return NULL; // reads_in
    struct iovec list[2] = {{parts[0], 8}, {parts[1], 8}};
    if (readv(pipe_ends[0], list, 2) != 16) return NULL; // reads_parts
    if (sendto(sockets[0], source, 10, 0, NULL, 0) != 10) return NULL; // sends
    if (recvfrom(sockets[1], datagram, sizeof datagram, 0, NULL, NULL) != 10) return NULL; // receives
    return unused;
}
int main(int count, char **arguments) {
    pthread_t thread;
    void *answer;
    length += count - 1;
    if (pipe(pipe_ends) || socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets)) return 1;
    for (size_t i = 0; i < length; i++) source[i] = 'a' + i % 20; // prepares
    compared[0] = searched[0] = 'x'; // prepares_others
    pthread_create(&thread, NULL, other, arguments);
    pthread_join(thread, &answer);
    int sum = copied[3] + moved[3] + filled[3] + text[3] + joined[3]; // looks
    sum += input[3] + parts[1][3] + datagram[3]; // looks_at_input
    printf("%d %d %d\n", answer == arguments, sum, parts[0][0] + datagram[12]);
    return 0;
}
