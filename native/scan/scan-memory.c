#define _GNU_SOURCE
#include "scan-memory.h"
#include "checksum.h"

#include <stdlib.h>
#include <string.h>

/*
 * The file: this, then a record for each folder, breadth first: the children of the first folder, then those of its first
 * child, and so on. So the number of children alone says which records they are.
 */
struct head {
	char magic[8];
	uint64_t sum; /* of the request, and of everything that follows */
	uint64_t folders;
};

/* Followed by the name and its NUL, and by the names that were found. */
struct record {
	uint64_t file_system;
	uint64_t inode;
	int64_t changed;
	uint32_t child_count;
	uint32_t name_size;
	uint32_t found_size;
	uint32_t reserved;
};

static const char MAGIC[8] = "HSCAN 2";
enum { MAX_MEMORY = 1 << 28 };

static uint64_t sum_of(uint64_t request, const uint8_t *memory, size_t size)
{
	size_t from = offsetof(struct head, folders);
	return checksum(request, memory + from, size - from);
}

/* Reads one record, and returns where the next one begins; 0: damaged. */
static size_t load_folder(struct folder *f, const uint8_t *memory, size_t at, size_t size)
{
	struct record r;
	if (size - at < sizeof r)
		return 0;
	memcpy(&r, memory + at, sizeof r);
	at += sizeof r;
	if (r.name_size == 0 || r.name_size > size - at || r.found_size > size - at - r.name_size)
		return 0;
	const char *name = (const char *)memory + at, *found = name + r.name_size;
	if (name[r.name_size - 1] != 0 || (r.found_size > 0 && found[r.found_size - 1] != 0))
		return 0;
	*f = (struct folder){ .name = name, .found = found, .found_size = r.found_size, .child_count = r.child_count,
			      .file_system = r.file_system, .inode = r.inode, .changed = r.changed };
	return at + r.name_size + r.found_size;
}

static int load_all(struct folder *folders, size_t count, const uint8_t *memory, size_t size)
{
	size_t at = sizeof(struct head), next = 1;
	for (size_t i = 0; i < count; i++) {
		at = load_folder(&folders[i], memory, at, size);
		/* Every folder but the first is the child of one before it. */
		if (at == 0 || next <= i || folders[i].child_count > count - next)
			return -1;
		folders[i].children = folders + next;
		next += folders[i].child_count;
	}
	return next == count && at == size ? 0 : -1;
}

static void count_subtrees(struct folder *folders, size_t count)
{
	for (size_t i = count; i-- > 0;) {
		folders[i].subtree = 1;
		for (uint32_t c = 0; c < folders[i].child_count; c++)
			folders[i].subtree += folders[i].children[c].subtree;
	}
}

struct folder *load_folders(const uint8_t *memory, size_t size, uint64_t request)
{
	struct head head;
	if (memory == NULL || size < sizeof head || size > MAX_MEMORY)
		return NULL;
	memcpy(&head, memory, sizeof head);
	if (memcmp(head.magic, MAGIC, sizeof MAGIC) != 0 || head.sum != sum_of(request, memory, size) || head.folders == 0 ||
	    head.folders > size / sizeof(struct record))
		return NULL;
	struct folder *folders = calloc(head.folders, sizeof *folders);
	if (folders == NULL || load_all(folders, head.folders, memory, size) < 0) {
		free(folders);
		return NULL;
	}
	count_subtrees(folders, head.folders);
	return folders;
}

static void save_folder(struct growing *memory, const struct folder *f)
{
	struct record r = { .file_system = f->file_system, .inode = f->inode, .changed = f->changed,
			    .child_count = f->child_count, .name_size = (uint32_t)strlen(f->name) + 1,
			    .found_size = f->found_size };
	append(memory, &r, sizeof r);
	append(memory, f->name, r.name_size);
	append(memory, f->found, r.found_size);
}

void save_folders(struct growing *memory, const struct folder *roots, uint64_t request)
{
	struct head head = { 0 };
	struct growing order = { 0 }; /* pointers to the folders */
	append(memory, &head, sizeof head);
	append(&order, &roots, sizeof roots);
	for (size_t at = 0; at < order.size && !order.failed && memory->size <= MAX_MEMORY; at += sizeof roots) {
		const struct folder *f;
		memcpy(&f, order.bytes + at, sizeof f);
		save_folder(memory, f);
		for (uint32_t i = 0; i < f->child_count; i++) {
			const struct folder *child = &f->children[i];
			append(&order, &child, sizeof child);
		}
	}
	if (order.failed || memory->failed || memory->size > MAX_MEMORY) {
		memory->size = 0;
	} else {
		memcpy(head.magic, MAGIC, sizeof MAGIC);
		head.folders = order.size / sizeof roots;
		memcpy(memory->bytes, &head, sizeof head);
		head.sum = sum_of(request, memory->bytes, memory->size);
		memcpy(memory->bytes, &head, sizeof head);
	}
	growing_free(&order);
}
