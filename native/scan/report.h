/* What a walk has found. */
#ifndef HERMES_REPORT_H
#define HERMES_REPORT_H

#include "folder.h"
#include "scan.h"

/* Returns 0, or -1: a file was found whose path is too long for the kernel, or there is not enough memory. */
int report(struct scan_result *result, const struct folder *roots);

#endif
