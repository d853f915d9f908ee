/* A little shop: orders, stock and prices each have their own lock. Selling,
 * restocking and repricing run in their own threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS  16
#define ROUNDS 260

static struct {
    pthread_mutex_t lock;
    long open_amount[ITEMS];
    long placed, requoted;
} orders = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct {
    pthread_mutex_t lock;
    long units[ITEMS];
    long sold, delivered;
} stock = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct {
    pthread_mutex_t lock;
    long cents[ITEMS];
    long spent;
} prices = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned think(unsigned x, int n)
{
    for (int i = 0; i < n; i++)
        x = x * 69069u + 1u + (x >> 27);
    return x;
}

static void place_order(unsigned item, long n)
{
    pthread_mutex_lock(&orders.lock); /* BUG: a */
    long amount = n;
    pthread_mutex_lock(&stock.lock); /* BUG: b */
    if (stock.units[item] < amount)
        amount = stock.units[item];
    stock.units[item] -= amount;
    stock.sold += amount;
    pthread_mutex_unlock(&stock.lock);
    orders.open_amount[item] += amount;
    orders.placed += amount;
    pthread_mutex_unlock(&orders.lock);
}

static void restock(unsigned item, long n)
{
    pthread_mutex_lock(&stock.lock); /* BUG: c */
    stock.units[item] += n;
    stock.delivered += n;
    pthread_mutex_lock(&prices.lock); /* BUG: d */
    prices.spent += prices.cents[item] * n / 2;
    pthread_mutex_unlock(&prices.lock);
    pthread_mutex_unlock(&stock.lock);
}

static void reprice(unsigned item, long cents)
{
#ifdef FIXED
    pthread_mutex_lock(&orders.lock);
    pthread_mutex_lock(&prices.lock);
    long old = prices.cents[item];
    prices.cents[item] = cents;
    if (old != cents)
        orders.requoted += orders.open_amount[item];
    pthread_mutex_unlock(&prices.lock);
    pthread_mutex_unlock(&orders.lock);
#else
    pthread_mutex_lock(&prices.lock); /* BUG: e */
    long old = prices.cents[item];
    prices.cents[item] = cents;
    if (old != cents) {
        pthread_mutex_lock(&orders.lock); /* BUG: f */
        orders.requoted += orders.open_amount[item];
        pthread_mutex_unlock(&orders.lock);
    }
    pthread_mutex_unlock(&prices.lock);
#endif
}

static void *seller(void *arg)
{
    unsigned x = 11;
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        x = think(x, 7000);
        place_order((x >> 20) % ITEMS, 1 + (x >> 12) % 4);
    }
    return NULL;
}

static void *supplier(void *arg)
{
    unsigned x = 23;
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        x = think(x, 7500);
        restock((x >> 20) % ITEMS, 1 + (x >> 12) % 3);
    }
    return NULL;
}

static void *pricer(void *arg)
{
    unsigned x = 37;
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        x = think(x, 6500);
        reprice((x >> 20) % ITEMS, 100 + (x >> 8) % 900);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    long left = 0, initial = 0;

    for (int i = 0; i < ITEMS; i++) {
        stock.units[i] = 20;
        initial += 20;
        prices.cents[i] = 500;
    }
    if (pthread_create(&t[0], NULL, seller, NULL) != 0 ||
        pthread_create(&t[1], NULL, supplier, NULL) != 0 ||
        pthread_create(&t[2], NULL, pricer, NULL) != 0)
        abort();
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);

    for (int i = 0; i < ITEMS; i++)
        left += stock.units[i];
    if (left != initial + stock.delivered - stock.sold || stock.sold != orders.placed) {
        fprintf(stderr, "ledger does not balance\n");
        return 1;
    }
    return 0;
}
