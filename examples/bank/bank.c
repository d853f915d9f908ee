/* Two tellers pay into one account, one coin at a time.
 *
 * Every access to the balance is under the lock, so there is no data race: ThreadSanitizer has nothing to say.
 * But `deposit` looks at the balance in one critical section and writes it back in another. Whatever the other
 * teller pays in between is lost. It happens rarely.
 *
 *   unpick cc -g -O1 -pthread bank.c -o bank
 *   unpick record -- ./bank 100
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 0};

static long look(struct account *from) {
    pthread_mutex_lock(&from->lock);
    long balance = from->balance;
    pthread_mutex_unlock(&from->lock);
    return balance;
}

static void put(struct account *into, long balance) {
    pthread_mutex_lock(&into->lock);
    into->balance = balance;
    pthread_mutex_unlock(&into->lock);
}

/* With -DFIXED a deposit keeps the other teller out. */
#ifdef FIXED
static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
#define BEGIN pthread_mutex_lock(&till)
#define END pthread_mutex_unlock(&till)
#else
#define BEGIN
#define END
#endif

static void deposit(struct account *into, long amount) {
    BEGIN;
    long balance = look(into);
    put(into, balance + amount);
    END;
}

static void *teller(void *deposits) {
    for (long left = *(long *)deposits; left > 0; left--)
        deposit(&account, 1);
    return NULL;
}

int main(int count, char **arguments) {
    long deposits = count > 1 ? atol(arguments[1]) : 100;
    put(&account, 0);
    pthread_t tellers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, &deposits);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    long balance = look(&account);
    printf("paid in: %ld, in the account: %ld\n", 2 * deposits, balance);
    return balance == 2 * deposits ? 0 : 1;
}
