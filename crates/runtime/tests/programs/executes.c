/* Becomes itself again, in four ways, then something else. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **arguments) {
    int step = count > 1 ? atoi(arguments[1]) : 0;
    char next[8];
    snprintf(next, sizeof next, "%d", step + 1);
    char *words[] = {arguments[0], next, NULL};
    printf("step %d\n", step);
    fflush(stdout);
    switch (step) {
    case 0: errno = 0; execv("/does/not/exist", words); printf("failed %d\n", errno); fflush(stdout); execl(arguments[0], arguments[0], next, (char *)NULL); break;
    case 1: execve(arguments[0], words, environ); break;
    case 2: execle(arguments[0], arguments[0], next, (char *)NULL, environ); break;
    case 3: execvp(arguments[0], words); break;
    case 4: execle("/bin/echo", "echo", "end", (char *)NULL, (char *[]){NULL}); break;
    }
    return 99;
}
