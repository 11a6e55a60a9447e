#define _GNU_SOURCE
#include "report.h"

#include <limits.h>
#include <string.h>

/* A path that no call can take is hidden with a folder above it. */
static void add_unlisted(struct growing *list, const struct growing *folder)
{
	size_t size = folder->size;
	while (size >= PATH_MAX)
		while (folder->bytes[--size] != '/')
			;
	append(list, folder->bytes, size);
	append(list, "", 1);
}

/* `folder`: its path, without a final slash. */
static void add_found(struct scan_result *result, const struct growing *folder, const char *name)
{
	if (folder->size + strlen(name) + 2 > PATH_MAX) {
		add_unlisted(&result->unlisted, folder);
		return;
	}
	append(&result->found, folder->bytes, folder->size);
	append(&result->found, "/", 1);
	append(&result->found, name, strlen(name) + 1);
}

static void report_folder(struct scan_result *result, struct growing *path, const struct folder *f)
{
	if (f->unlisted)
		add_unlisted(&result->unlisted, path);
	for (const char *at = f->found; at < f->found + f->found_size; at += strlen(at) + 1)
		add_found(result, path, at);
	for (uint32_t i = 0; i < f->child_count; i++) {
		size_t size = path->size;
		append(path, "/", 1);
		append(path, f->children[i].name, strlen(f->children[i].name));
		report_folder(result, path, &f->children[i]);
		path->size = size;
	}
}

int report(struct scan_result *result, const struct folder *roots)
{
	struct growing path = { 0 };
	for (uint32_t i = 0; i < roots->child_count; i++) {
		const char *root = roots->children[i].name;
		path.size = 0;
		append(&path, root, strcmp(root, "/") == 0 ? 0 : strlen(root));
		report_folder(result, &path, &roots->children[i]);
	}
	int failed = path.failed || result->found.failed || result->unlisted.failed ? -1 : 0;
	growing_free(&path);
	return failed;
}
