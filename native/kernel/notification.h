/* seccomp user notifications: seccomp_unotify(2). A call waits at the listener until its notification is answered. */
#ifndef HERMES_NOTIFICATION_H
#define HERMES_NOTIFICATION_H

#include <linux/seccomp.h>
#include <stdint.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19; older headers lack it */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* Waits for the next notification: 0 or -errno. */
int notification_receive(int listener, struct seccomp_notif *request);
/* Whether the caller still waits. If it has died, its thread id may be another thread's by now. */
int notification_is_valid(int listener, uint64_t id);
/* Answers. A caller that was killed meanwhile has nothing left to answer: that is no error. */
void notification_respond(int listener, struct seccomp_notif_resp *response);
/* Lets the kernel make the call as it is. */
void notification_continue(int listener, uint64_t id);
/* Whether the call is of another ABI (32-bit or x32), which only a filter that outlives us lets through to the listener. */
int notification_is_foreign(const struct seccomp_notif *request);
/* Whether every process that had the filter has ended. */
int listener_has_hung_up(int listener);

#endif
