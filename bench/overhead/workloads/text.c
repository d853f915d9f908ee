/* Byte-wise text processing: threads fold the case of a shared text in place, then count words and letters in each other's parts.
 *
 * SIZE is the length of the text in bytes. Every access to the text is one byte wide, which is what shadow memory with wide
 * granules handles worst. Verified: as many words as were written.
 */
#include "workload.h"

#include <stdatomic.h>

enum { CHUNK = 4096, LETTERS = 26, WORD_SLOTS = 4096 };

struct text {
    long length, words_written;
    char *bytes;
    atomic_long next_chunk;
    atomic_long words, letters[LETTERS];
    atomic_ulong word_slots[WORD_SLOTS]; /* how often each word hash occurred */
    pthread_barrier_t folded;
};

static int is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static void write_text(struct text *text)
{
    long at = 0;
    for (long word = 0; at < text->length; word++) {
        uint64_t drawn = scramble(scramble(word) % 5000);
        long end = at + 2 + drawn % 9;
        for (; at < end && at < text->length; at++, drawn = scramble(drawn))
            text->bytes[at] = (char)((drawn & 256 ? 'a' : 'A') + drawn % LETTERS);
        text->words_written++;
        if (at < text->length)
            text->bytes[at++] = word % 12 == 0 ? '\n' : ' ';
    }
}

static void fold_case(char *bytes, long first, long end)
{
    for (long at = first; at < end; at++)
        if (bytes[at] >= 'A' && bytes[at] <= 'Z')
            bytes[at] = (char)(bytes[at] + 'a' - 'A');
}

static int starts_word(const struct text *text, long at)
{
    return is_letter(text->bytes[at]) && (at == 0 || !is_letter(text->bytes[at - 1]));
}

static unsigned hash_word(const struct text *text, long at)
{
    unsigned hash = 0;
    for (; at < text->length && is_letter(text->bytes[at]); at++)
        hash = hash * 31 + (unsigned char)text->bytes[at];
    return hash % WORD_SLOTS;
}

static long count_chunk(struct text *text, long first, long end, long *letters)
{
    long words = 0;
    for (long at = first; at < end; at++) {
        if (is_letter(text->bytes[at]))
            letters[text->bytes[at] - 'a']++;
        if (starts_word(text, at)) {
            words++;
            atomic_fetch_add_explicit(&text->word_slots[hash_word(text, at)], 1, memory_order_relaxed);
        }
    }
    return words;
}

static void count_free_chunks(struct text *text)
{
    long words = 0, letters[LETTERS] = {0};
    for (;;) {
        long first = atomic_fetch_add(&text->next_chunk, 1) * CHUNK;
        if (first >= text->length)
            break;
        long end = first + CHUNK < text->length ? first + CHUNK : text->length;
        words += count_chunk(text, first, end, letters);
    }
    atomic_fetch_add(&text->words, words);
    for (int letter = 0; letter < LETTERS; letter++)
        atomic_fetch_add(&text->letters[letter], letters[letter]);
}

static void process(int index, int threads, void *shared)
{
    struct text *text = shared;
    fold_case(text->bytes, share_start(text->length, index, threads), share_start(text->length, index + 1, threads));
    pthread_barrier_wait(&text->folded);
    count_free_chunks(text);
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    static struct text text;
    text.length = given.size;
    text.bytes = allocate(text.length);
    pthread_barrier_init(&text.folded, NULL, given.threads);
    write_text(&text);

    run_on_threads(given.threads, process, &text);

    require(atomic_load(&text.words) == text.words_written, "wrong number of words");
    uint64_t checksum = 0;
    for (int letter = 0; letter < LETTERS; letter++)
        checksum = mix_into(checksum, atomic_load(&text.letters[letter]));
    for (int slot = 0; slot < WORD_SLOTS; slot++)
        checksum = mix_into(checksum, atomic_load(&text.word_slots[slot]));
    return print_checksum(checksum);
}
