#include <pthread.h>

struct account {
	long balance;
	pthread_mutex_t lock;
};

static struct account account;

long look(void)
{
	pthread_mutex_lock(&account.lock);
	long seen = account.balance;
	pthread_mutex_unlock(&account.lock);
	return seen;
}

void put(long value)
{
	pthread_mutex_lock(&account.lock);
	account.balance = value; /* 余额 is what the other teller may have changed since look() told us about it */
	pthread_mutex_unlock(&account.lock);
}
