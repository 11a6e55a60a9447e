/* The memory of a scan: every folder that it saw. */
#ifndef HERMES_SCAN_MEMORY_H
#define HERMES_SCAN_MEMORY_H

#include "folder.h"
#include "growing.h"

/*
 * Reads the memory of the last scan. The folders are one array; the first one stands for the list of roots. Names point
 * into the memory. NULL: none, damaged, of another request, or out of memory.
 */
struct folder *load_folders(const uint8_t *memory, size_t size, uint64_t request);

/* Nothing is written if it would be too large. */
void save_folders(struct growing *memory, const struct folder *roots, uint64_t request);

#endif
