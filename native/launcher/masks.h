/* Files that the program does not find. */
#ifndef HERMES_MASKS_H
#define HERMES_MASKS_H

#include "../protocol/plan.h"

/* Where masks are made and put. */
struct mask_places {
	int masks;    /* their file system, held open */
	int workshop; /* the mount namespace in which they are made; -1: the caller's */
	int target;   /* that of the program; -1: the caller's */
};

/* At the start of a program: settles FENCE_VIEW. Returns the file system of the masks, or -1 where there are none. */
int arrange_masks(struct plan *plan);
/* Puts those with MASK_PUT, all or none. 0, or -1 and an errno. Ends in the workshop. */
int put_masks(struct plan *plan, struct mask_places *at);
/* Takes those away again, in the program's namespace. */
void remove_masks(const struct plan *plan);
/* Writes to the plan which masks the program has met: of those that arrange_masks() put … */
void note_masks(struct plan *plan, int masks);
/* … and of those that the plan names, in the caller's namespace. */
void look_at_masks(struct plan *plan);
void take_masks(struct plan *plan);

#endif
