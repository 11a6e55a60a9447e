#include <time.h>
struct tm { int tm_sec; int tm_min; int tm_hour; int tm_mday; int tm_mon; int tm_year; int tm_wday; int tm_yday; int tm_isdst; long tm_gmtoff; const char *tm_zone; };
struct itimerspec { struct timespec it_interval; struct timespec it_value; };
time_t time(out time_t *t) fails -1 errno;
clock_t clock(void) fails -1;
double difftime(time_t later, time_t earlier);
time_t mktime(in struct tm *tm) fails -1 errno;
time_t timegm(in struct tm *tm) fails -1 errno;
time_t timelocal(in struct tm *tm) fails -1 errno;
struct tm *gmtime(const time_t *t) fails NULL errno;
struct tm *localtime(const time_t *t) fails NULL errno;
struct tm *gmtime_r(const time_t *t, struct tm *result) fails NULL errno;
struct tm *localtime_r(const time_t *t, struct tm *result) fails NULL errno;
char *asctime(const struct tm *tm) fails NULL errno;
char *asctime_r(const struct tm *tm, char *buf) fails NULL errno;
char *ctime(const time_t *t) fails NULL errno;
char *ctime_r(const time_t *t, char *buf) fails NULL errno;
size_t strftime(out char *s, size_t size, const char *format, const struct tm *tm) fails 0;
char *strptime(const char *s, const char *format, out struct tm *tm) fails NULL;
void tzset(void);
int clock_gettime(names(clock) clockid_t clock, out struct timespec *time) fails -1 errno;
int clock_settime(names(clock) clockid_t clock, const struct timespec *time) fails -1 errno;
int clock_getres(names(clock) clockid_t clock, out struct timespec *resolution) fails -1 errno;
int clock_nanosleep(names(clock) clockid_t clock, int flags, const struct timespec *time, out struct timespec *left) fails errno;
int clock_getcpuclockid(pid_t pid, out clockid_t *clock) fails errno;
int nanosleep(const struct timespec *time, out struct timespec *left) fails -1 errno;
int timespec_get(out struct timespec *time, int base) fails 0;
int timer_create(names(clock) clockid_t clock, struct sigevent *event, out timer_t *timer) fails -1 errno;
int timer_delete(timer_t timer) fails -1 errno;
int timer_settime(timer_t timer, int flags, const struct itimerspec *value, out struct itimerspec *old) fails -1 errno;
int timer_gettime(timer_t timer, out struct itimerspec *value) fails -1 errno;
#include <sys/time.h>
typedef enum __itimer_which { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF } __itimer_which_t;
struct itimerval { struct timeval it_interval; struct timeval it_value; };
int gettimeofday(out struct timeval *time, void *zone) fails -1 errno;
int settimeofday(const struct timeval *time, const struct timezone *zone) fails -1 errno;
int adjtime(const struct timeval *delta, out struct timeval *old) fails -1 errno;
int getitimer(__itimer_which_t which, out struct itimerval *value) fails -1 errno;
int setitimer(__itimer_which_t which, const struct itimerval *value, out struct itimerval *old) fails -1 errno;
int utimes(const char *path, in(2) const struct timeval times[2]) fails -1 errno;
int futimes(int fd, in(2) const struct timeval times[2]) fails -1 errno;
int lutimes(const char *path, in(2) const struct timeval times[2]) fails -1 errno;
#include <sys/timerfd.h>
int timerfd_create(names(clock) clockid_t clock, names(timerfd_create) int flags) fails -1 errno;
int timerfd_settime(int fd, int flags, const struct itimerspec *value, out struct itimerspec *old) fails -1 errno;
int timerfd_gettime(int fd, out struct itimerspec *value) fails -1 errno;
#include <sys/times.h>
struct tms { clock_t tms_utime; clock_t tms_stime; clock_t tms_cutime; clock_t tms_cstime; };
clock_t times(out struct tms *buf) fails -1 errno;
