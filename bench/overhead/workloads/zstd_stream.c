/* zstd's multithreaded compressor, the real program: one stream of text, compressed by THREADS workers of its own.
 *
 * SIZE is the length of the text in bytes. The library's sources come from the crate `zstd-sys`. The output does not depend
 * on the number of workers. Verified by decompressing.
 */
#include "workload.h"

#include "zstd.h"

enum { LEVEL = 5, JOB_BYTES = 512 * 1024, PIECE = 64 * 1024 };

static size_t checked(size_t code)
{
    require(!ZSTD_isError(code), ZSTD_getErrorName(code));
    return code;
}

/* Words drawn with a few frequent ones, so that there is something to compress. */
static void write_text(char *text, long length)
{
    long at = 0;
    for (long word = 0; at < length; word++) {
        uint64_t drawn = scramble(word);
        uint64_t spelling = scramble(drawn % 3 == 0 ? drawn % 97 : drawn % 9973);
        for (long end = at + 2 + spelling % 10; at < end && at < length; at++, spelling = scramble(spelling))
            text[at] = (char)('a' + spelling % 26);
        if (at < length)
            text[at++] = ' ';
    }
}

static ZSTD_CCtx *new_compressor(int workers)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    require(context != NULL, "out of memory");
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, workers));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_jobSize, JOB_BYTES));
    return context;
}

static void feed(ZSTD_CCtx *context, ZSTD_outBuffer *compressed, const char *text, long length)
{
    for (long at = 0; at < length; at += PIECE) {
        ZSTD_inBuffer piece = {text + at, at + PIECE < length ? PIECE : length - at, 0};
        while (piece.pos < piece.size)
            checked(ZSTD_compressStream2(context, compressed, &piece, ZSTD_e_continue));
    }
    ZSTD_inBuffer nothing = {NULL, 0, 0};
    while (checked(ZSTD_compressStream2(context, compressed, &nothing, ZSTD_e_end)) != 0)
        ;
}

static void verify(const ZSTD_outBuffer *compressed, const char *text, size_t length)
{
    char *again = allocate(length);
    size_t decompressed = checked(ZSTD_decompress(again, length, compressed->dst, compressed->pos));
    require(decompressed == length && memcmp(again, text, length) == 0, "decompressing does not give the text");
    free(again);
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    char *text = allocate(given.size);
    write_text(text, given.size);
    ZSTD_outBuffer compressed = {allocate(ZSTD_compressBound(given.size)), ZSTD_compressBound(given.size), 0};
    ZSTD_CCtx *context = new_compressor(given.threads);

    feed(context, &compressed, text, given.size);
    ZSTD_freeCCtx(context);

    verify(&compressed, text, given.size);
    uint64_t checksum = compressed.pos;
    for (size_t at = 0; at < compressed.pos; at++)
        checksum = mix_into(checksum, ((unsigned char *)compressed.dst)[at]);
    return print_checksum(checksum);
}
