// The part that has hooks: loaded by a program without, `plugin_host.c`.
static int total;

int add(int amount) {
    total += amount;
    return total;
}
