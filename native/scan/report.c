#define _GNU_SOURCE
#include "report.h"

#include <limits.h>
#include <string.h>

/* The path of the folder, without a final slash. */
static int add_path(struct growing *list, const struct growing *folder, const char *name)
{
	size_t size = folder->size + strlen(name) + 2;
	if (size > PATH_MAX)
		return -1;
	append(list, folder->bytes, folder->size);
	append(list, "/", 1);
	append(list, name, strlen(name) + 1);
	return 0;
}

static int add_unlisted(struct growing *list, const struct growing *folder)
{
	if (folder->size >= PATH_MAX)
		return -1;
	append(list, folder->bytes, folder->size);
	append(list, "", 1);
	return 0;
}

static int report_folder(struct scan_result *result, struct growing *path, const struct folder *f)
{
	int failed = f->unlisted ? add_unlisted(&result->unlisted, path) : 0;
	for (const char *at = f->found; at < f->found + f->found_size; at += strlen(at) + 1)
		failed |= add_path(&result->found, path, at);
	for (uint32_t i = 0; i < f->child_count && !failed; i++) {
		size_t size = path->size;
		append(path, "/", 1);
		append(path, f->children[i].name, strlen(f->children[i].name));
		failed = report_folder(result, path, &f->children[i]);
		path->size = size;
	}
	return failed;
}

int report(struct scan_result *result, const struct folder *roots)
{
	struct growing path = { 0 };
	int failed = 0;
	for (uint32_t i = 0; i < roots->child_count && !failed; i++) {
		const char *root = roots->children[i].name;
		path.size = 0;
		append(&path, root, strcmp(root, "/") == 0 ? 0 : strlen(root));
		failed = report_folder(result, &path, &roots->children[i]);
	}
	failed |= path.failed || result->found.failed || result->unlisted.failed ? -1 : 0;
	growing_free(&path);
	return failed;
}
