#include <signal.h>
typedef struct { unsigned long bits[16]; } sigset_t;
typedef void (*sighandler_t)(int);
typedef struct siginfo_t siginfo_t;
typedef struct stack_t stack_t;
typedef unsigned long pthread_t;
sighandler_t signal(names(signal) int sig, sighandler_t handler) fails -1 errno;
int sigaction(names(signal) int sig, const struct sigaction *action, struct sigaction *old) fails -1 errno;
int raise(names(signal) int sig) fails nonzero;
int kill(pid_t pid, names(signal) int sig) fails -1 errno;
int killpg(int group, names(signal) int sig) fails -1 errno;
int tgkill(pid_t pid, pid_t tid, names(signal) int sig) fails -1 errno;
int sigemptyset(sigset_t *set) fails -1 errno;
int sigfillset(sigset_t *set) fails -1 errno;
int sigaddset(sigset_t *set, names(signal) int sig) fails -1 errno;
int sigdelset(sigset_t *set, names(signal) int sig) fails -1 errno;
int sigismember(const sigset_t *set, names(signal) int sig) fails -1 errno;
enum mask_changes { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };
int sigprocmask(names(mask_changes) int how, const sigset_t *set, sigset_t *old) fails -1 errno;
int sigpending(sigset_t *set) fails -1 errno;
int sigsuspend(const sigset_t *set) fails -1 errno;
int sigwait(const sigset_t *set, out int *sig) fails errno;
int sigwaitinfo(const sigset_t *set, siginfo_t *info) fails -1 errno;
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout) fails -1 errno;
int siginterrupt(names(signal) int sig, int flag) fails -1 errno;
int sigaltstack(const stack_t *stack, stack_t *old) fails -1 errno;
void psignal(names(signal) int sig, const char *s);
int pthread_sigmask(names(mask_changes) int how, const sigset_t *set, sigset_t *old) fails errno;
int pthread_kill(pthread_t thread, names(signal) int sig) fails errno;
#include <sys/signalfd.h>
int signalfd(int fd, const sigset_t *mask, names(signalfd) int flags) fails -1 errno;
#include <setjmp.h>
void longjmp(struct __jmp_buf_tag *env, int value) noreturn;
void siglongjmp(struct __jmp_buf_tag *env, int value) noreturn;
#include <sys/wait.h>
typedef enum { P_ALL, P_PID, P_PGID, P_PIDFD } idtype_t;
pid_t wait(out int *status) fails -1 errno;
pid_t waitpid(pid_t pid, out int *status, names(wait) int options) fails -1 errno;
int waitid(idtype_t type, id_t id, siginfo_t *info, names(wait) int options) fails -1 errno;
#include <sys/resource.h>
typedef enum __rlimit_resource { RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_RSS, RLIMIT_NPROC, RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_AS, RLIMIT_LOCKS, RLIMIT_SIGPENDING, RLIMIT_MSGQUEUE, RLIMIT_NICE, RLIMIT_RTPRIO, RLIMIT_RTTIME } __rlimit_resource_t;
typedef enum { RUSAGE_SELF = 0, RUSAGE_CHILDREN = -1, RUSAGE_THREAD = 1 } __rusage_who_t;
typedef enum { PRIO_PROCESS, PRIO_PGRP, PRIO_USER } __priority_which_t;
struct rlimit { unsigned long rlim_cur; unsigned long rlim_max; };
pid_t wait3(out int *status, names(wait) int options, struct rusage *usage) fails -1 errno;
pid_t wait4(pid_t pid, out int *status, names(wait) int options, struct rusage *usage) fails -1 errno;
int getrlimit(__rlimit_resource_t resource, out struct rlimit *limit) fails -1 errno;
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) fails -1 errno;
int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit, out struct rlimit *old) fails -1 errno;
int getrusage(__rusage_who_t who, struct rusage *usage) fails -1 errno;
int getpriority(__priority_which_t which, id_t who) fails -1 errno;
int setpriority(__priority_which_t which, id_t who, int priority) fails -1 errno;
#include <sched.h>
typedef struct cpu_set_t cpu_set_t;
struct sched_param { int sched_priority; };
int sched_yield(void) fails -1 errno;
int sched_getcpu(void) fails -1 errno;
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) fails -1 errno;
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set) fails -1 errno;
int sched_getscheduler(pid_t pid) fails -1 errno;
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param) fails -1 errno;
int clone(int (*function)(void *), void *stack, names(clone) int flags, void *arg, ...) fails -1 errno;
int unshare(names(clone) int flags) fails -1 errno;
int setns(int fd, names(clone) int type) fails -1 errno;
#include <spawn.h>
typedef struct posix_spawn_file_actions_t posix_spawn_file_actions_t;
typedef struct posix_spawnattr_t posix_spawnattr_t;
int posix_spawn(out pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) fails errno;
int posix_spawnp(out pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]) fails errno;
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions) fails errno;
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions) fails errno;
int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd, int to) fails errno;
int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *actions, int fd) fails errno;
int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *actions, int fd, const char *path, names(open) int flags, mode_t mode) fails errno;
int posix_spawnattr_init(posix_spawnattr_t *attributes) fails errno;
int posix_spawnattr_destroy(posix_spawnattr_t *attributes) fails errno;
int posix_spawnattr_setflags(posix_spawnattr_t *attributes, short flags) fails errno;
#include <sys/prctl.h>
int prctl(names(prctl) int option, ...) fails -1 errno by option { PR_SET_NAME: const char *name; PR_SET_PDEATHSIG: names(signal) int sig; PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_SET_KEEPCAPS: int value; };
#include <sys/mount.h>
int mount(const char *source, const char *target, const char *type, names(mount) unsigned long flags, const void *data) fails -1 errno;
int umount(const char *target) fails -1 errno;
int umount2(const char *target, names(umount) int flags) fails -1 errno;
#include <sys/utsname.h>
struct utsname { char sysname[65]; char nodename[65]; char release[65]; char version[65]; char machine[65]; char domainname[65]; };
int uname(out struct utsname *name) fails -1 errno;
#include <sys/sysinfo.h>
int sysinfo(struct sysinfo *info) fails -1 errno;
int get_nprocs(void);
int get_nprocs_conf(void);
#include <sys/auxv.h>
unsigned long getauxval(unsigned long type);
#include <pwd.h>
struct passwd { char *pw_name; char *pw_passwd; uid_t pw_uid; gid_t pw_gid; char *pw_gecos; char *pw_dir; char *pw_shell; };
struct passwd *getpwnam(const char *name) fails NULL;
struct passwd *getpwuid(uid_t uid) fails NULL;
struct passwd *getpwent(void) fails NULL;
void setpwent(void);
void endpwent(void);
int getpwnam_r(const char *name, out struct passwd *entry, char *buf, size_t size, struct passwd **result) fails errno;
int getpwuid_r(uid_t uid, out struct passwd *entry, char *buf, size_t size, struct passwd **result) fails errno;
#include <grp.h>
struct group { char *gr_name; char *gr_passwd; gid_t gr_gid; char **gr_mem; };
struct group *getgrnam(const char *name) fails NULL;
struct group *getgrgid(gid_t gid) fails NULL;
struct group *getgrent(void) fails NULL;
void setgrent(void);
void endgrent(void);
int getgrnam_r(const char *name, out struct group *entry, char *buf, size_t size, struct group **result) fails errno;
int getgrgid_r(gid_t gid, out struct group *entry, char *buf, size_t size, struct group **result) fails errno;
int getgrouplist(const char *user, gid_t group, out(*n) gid_t *groups, inout int *n) fails -1;
int setgroups(size_t n, in(n) const gid_t *groups) fails -1 errno;
int initgroups(const char *user, gid_t group) fails -1 errno;
#include <shadow.h>
struct spwd *getspnam(const char *name) fails NULL;
#include <syslog.h>
void openlog(const char *name, int options, int facility);
void syslog(int priority, const char *format, ...) printf;
void vsyslog(int priority, const char *format, va_list ap) printf;
void closelog(void);
int setlogmask(int mask);
#include <err.h>
void err(int status, const char *format, ...) printf noreturn;
void errx(int status, const char *format, ...) printf noreturn;
void warn(const char *format, ...) printf;
void warnx(const char *format, ...) printf;
#include <error.h>
void error(int status, names(errno) int error, const char *format, ...) printf;
#include <execinfo.h>
int backtrace(void **buffer, int size);
char **backtrace_symbols(void *const *buffer, int size) fails NULL;
#include <search.h>
void *tsearch(const void *key, void **root, int (*compare)(const void *, const void *)) fails NULL;
void *tfind(const void *key, void *const *root, int (*compare)(const void *, const void *)) fails NULL;
void *tdelete(const void *key, void **root, int (*compare)(const void *, const void *)) fails NULL;
int hcreate(size_t n) fails 0 errno;
#include <sys/shm.h>
int shmget(key_t key, size_t size, int flags) fails -1 errno;
void *shmat(int id, const void *address, int flags) fails -1 errno;
int shmdt(const void *address) fails -1 errno;
#include <sys/sem.h>
int semget(key_t key, int n, int flags) fails -1 errno;
#include <sys/msg.h>
int msgget(key_t key, int flags) fails -1 errno;
#include <sys/ipc.h>
key_t ftok(const char *path, int project) fails -1 errno;
