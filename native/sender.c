/* Who a message on a Unix socket says it is from. */
#define _GNU_SOURCE
#include "sender.h"

#include <linux/capability.h>

/*
 * Whom a caller may name as the sender (unix(7)): itself, by any of its ids. The kernel judges by whoever sends, which is
 * us, and we may name anybody.
 */
int64_t sender_may_be(const struct act *act, const struct ucred *who)
{
	struct identity i;
	int64_t failed = identity_read(act->tid, &i);
	if (failed)
		return failed;
	int trusted = !act->as_tracee || identity_shares(act->tid, "user");
	int any_process = trusted && i.capabilities >> CAP_SYS_ADMIN & 1, any_user = trusted && i.capabilities >> CAP_SETUID & 1,
	    any_group = trusted && i.capabilities >> CAP_SETGID & 1;
	int process = any_process || who->pid == i.process || who->pid == i.inner;
	int user = any_user || who->uid == i.real_uid || who->uid == i.effective_uid || who->uid == i.saved_uid;
	int group = any_group || who->gid == i.real_gid || who->gid == i.effective_gid || who->gid == i.saved_gid;
	return process && user && group ? 0 : -EPERM;
}

struct ucred *sender_named(struct msghdr *header)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c != NULL; c = CMSG_NXTHDR(header, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS && c->cmsg_len >= CMSG_LEN(sizeof(struct ucred)))
			return (struct ucred *)(void *)CMSG_DATA(c);
	return NULL;
}

int sender_is(const struct ucred *who, const struct identity *i)
{
	return who->pid == i->process && (who->uid == i->real_uid || who->uid == i->uid) &&
	       (who->gid == i->real_gid || who->gid == i->gid);
}
