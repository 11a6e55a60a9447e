/* Tells damaged bytes from whole ones. No protection against a program that makes it match. */
#ifndef HERMES_CHECKSUM_H
#define HERMES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t checksum(uint64_t sum, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	sum ^= size;
	for (uint64_t word = 0; size > 0; word = 0) {
		size_t part = size < sizeof word ? size : sizeof word;
		memcpy(&word, at, part);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15;
		sum ^= sum >> 29;
		at += part;
		size -= part;
	}
	return sum;
}

#endif
