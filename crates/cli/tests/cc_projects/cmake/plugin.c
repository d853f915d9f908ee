static int fee = 1;
int charge(void) { return fee += 1; }
