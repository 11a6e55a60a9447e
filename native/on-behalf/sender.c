/* The sender that a message on a Unix socket names (SCM_CREDENTIALS). */
#define _GNU_SOURCE
#include "sender.h"

#include <linux/capability.h>

/*
 * A caller may name itself as the sender, by any of its ids (unix(7)). The kernel checks that against the process that
 * sends, which is us, and we may have the right to name any process. So we check it here.
 */
int64_t sender_may_be(const struct on_behalf_call *call, const struct ucred *who)
{
	struct identity i;
	int64_t failed = identity_read(call->tid, &i);
	if (failed)
		return failed;
	int trusted = !call->as_tracee || identity_shares(call->tid, "user");
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
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
		    c->cmsg_len >= CMSG_LEN(sizeof(struct ucred)))
			return (struct ucred *)(void *)CMSG_DATA(c);
	return NULL;
}

int sender_is(const struct ucred *who, const struct identity *i)
{
	return who->pid == i->process && (who->uid == i->real_uid || who->uid == i->uid) &&
	       (who->gid == i->real_gid || who->gid == i->gid);
}
