// Types that every library's prototypes may use. Sizes are those of x86_64 Linux.
#include <stddef.h>
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef int wchar_t;
#include <stdint.h>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef long intmax_t;
typedef unsigned long uintmax_t;
#include <sys/types.h>
typedef long ssize_t;
typedef long off_t;
typedef long off64_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef unsigned int mode_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
typedef unsigned long nlink_t;
typedef long blksize_t;
typedef long blkcnt_t;
typedef int key_t;
typedef long time_t;
typedef long clock_t;
typedef int clockid_t;
typedef long suseconds_t;
typedef unsigned int useconds_t;
typedef void *timer_t;
#include <stdarg.h>
typedef struct __va_list_tag { unsigned int gp_offset; unsigned int fp_offset; void *overflow_arg_area; void *reg_save_area; } va_list[1];
#include <stdio.h>
typedef struct _IO_FILE FILE;
#include <time.h>
struct timespec { time_t tv_sec; long tv_nsec; };
#include <sys/time.h>
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
#include <sys/socket.h>
typedef unsigned int socklen_t;
typedef unsigned short sa_family_t;
struct sockaddr { names(socket_family) sa_family_t sa_family; char sa_data[14]; };
