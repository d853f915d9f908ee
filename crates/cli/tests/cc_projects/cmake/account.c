static int balance;
int deposit(int amount) { return balance += amount; }
