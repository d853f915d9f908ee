/* Much memory that is hardly touched must stay cheap: 1 GiB, and a hundred thousand buffers of 64 KiB. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
int main(void) {
    struct rusage usage;
    char *large = calloc(1 << 20, 1 << 10);
    printf("%d\n", large[1 << 29]);
    large[1 << 28] = 1;
    free(large);
    for (int i = 0; i < 100000; i++) {
        char *volatile buffer = malloc(64 << 10);
        buffer[i % 60000] = 1;
        free(buffer);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("small %d\n", usage.ru_maxrss < 100 << 10);
    return 0;
}
