/*
 * Scans with damaged memories: scan-fuzz ROOT ROUNDS. Whatever the memory is, the scan finds what it finds without one.
 * Half of the rounds repair the checksum, so that the reader itself sees the damage; such a memory is a lie that the scan
 * may believe, so only its end counts.
 */
#define _GNU_SOURCE
#include "../../../native/scan/checksum.h"
#include "../../../native/scan/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NAMES[] = "=\0.env\0id_\0\0\0.kdbx\0";
static uint32_t seed = 1;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)(((uint64_t)seed * n) >> 32);
}

static struct scan_request request_for(const char *root)
{
	return (struct scan_request){
		.roots = { root, strlen(root) + 1 }, .skipped = { "", 0 }, .names = { NAMES, sizeof NAMES - 1 },
		.max_entries = 100000, .max_milliseconds = 60000,
	};
}

/* As the scan does it: the sum follows the magic, and is of all that follows it. */
static void repair(const struct scan_request *q, uint8_t *memory, size_t size)
{
	if (size < 24)
		return;
	uint64_t sum = checksum(3, q->roots.bytes, q->roots.size);
	sum = checksum(sum, q->skipped.bytes, q->skipped.size);
	sum = checksum(sum, q->names.bytes, q->names.size);
	sum = checksum(sum, memory + 16, size - 16);
	memcpy(memory + 8, &sum, sizeof sum);
}

/* Words near the head of a record are the interesting ones: counts and sizes. */
static size_t damage(uint8_t *memory, size_t size)
{
	static const uint64_t WORDS[] = { 0, 1, 0xff, 0x7fffffff, 0xffffffff, UINT64_MAX, 1ull << 32 };
	if (below(4) == 0)
		return below((uint32_t)size + 1);
	for (uint32_t i = 1 + below(4); i > 0; i--) {
		size_t at = below((uint32_t)size), left = size - at;
		uint64_t word = WORDS[below(sizeof WORDS / sizeof WORDS[0])];
		if (below(2))
			memory[at] ^= (uint8_t)(1 + below(255));
		else
			memcpy(memory + at, &word, left < sizeof word ? left : sizeof word);
	}
	return size;
}

static int is_same(const struct growing *a, const struct growing *b)
{
	return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static int round_of(struct scan_request q, const struct scan_result *whole, int repaired)
{
	struct scan_result result;
	uint8_t *memory = malloc(whole->memory.size);
	if (memory == NULL)
		return -1;
	memcpy(memory, whole->memory.bytes, whole->memory.size);
	size_t size = damage(memory, whole->memory.size);
	if (repaired)
		repair(&q, memory, size);
	/* A block of its own size: the sanitizer sees a byte too many. */
	q.memory = realloc(memory, size + (size == 0));
	q.memory_size = size;
	if (q.memory == NULL)
		return -1;
	scan(&q, &result);
	int failed = !repaired && (!result.complete || !is_same(&result.found, &whole->found));
	scan_free(&result);
	free((void *)q.memory);
	return failed;
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	struct scan_request q = request_for(words[1]);
	struct scan_result whole;
	scan(&q, &whole);
	if (!whole.complete || whole.memory.size == 0 || whole.found.size == 0)
		return 3;
	for (long i = 0; i < atol(words[2]); i++)
		if (round_of(q, &whole, i % 2) != 0) {
			printf("round %ld\n", i);
			return 1;
		}
	scan_free(&whole);
	printf("done\n");
	return 0;
}
