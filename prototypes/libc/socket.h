#include <sys/socket.h>
struct msghdr { void *msg_name; socklen_t msg_namelen; struct iovec *msg_iov; size_t msg_iovlen; void *msg_control; size_t msg_controllen; names(msg) int msg_flags; };
int socket(names(socket_family) int family, names(socket_type) int type, int protocol) fails -1 errno;
int socketpair(names(socket_family) int family, names(socket_type) int type, int protocol, out(2) int fds[2]) fails -1 errno;
int bind(int fd, in(length) const struct sockaddr *address, socklen_t length) fails -1 errno;
int connect(int fd, in(length) const struct sockaddr *address, socklen_t length) fails -1 errno;
int listen(int fd, int backlog) fails -1 errno;
int accept(int fd, out(*length) struct sockaddr *address, inout socklen_t *length) fails -1 errno;
int accept4(int fd, out(*length) struct sockaddr *address, inout socklen_t *length, names(accept4) int flags) fails -1 errno;
int getsockname(int fd, out(*length) struct sockaddr *address, inout socklen_t *length) fails -1 errno;
int getpeername(int fd, out(*length) struct sockaddr *address, inout socklen_t *length) fails -1 errno;
ssize_t send(int fd, in(size) const void *buf, size_t size, names(msg) int flags) fails -1 errno;
ssize_t recv(int fd, out(return) void *buf, size_t size, names(msg) int flags) fails -1 errno;
ssize_t sendto(int fd, in(size) const void *buf, size_t size, names(msg) int flags, in(length) const struct sockaddr *address, socklen_t length) fails -1 errno;
ssize_t recvfrom(int fd, out(return) void *buf, size_t size, names(msg) int flags, out(*length) struct sockaddr *address, inout socklen_t *length) fails -1 errno;
ssize_t sendmsg(int fd, const struct msghdr *message, names(msg) int flags) fails -1 errno;
ssize_t recvmsg(int fd, out struct msghdr *message, names(msg) int flags) fails -1 errno;
int getsockopt(int fd, names(sockopt_level) int level, int option, out(*size) void *value, inout socklen_t *size) fails -1 errno;
int setsockopt(int fd, names(sockopt_level) int level, int option, in(size) const void *value, socklen_t size) fails -1 errno;
int shutdown(int fd, names(shutdown) int how) fails -1 errno;
int sockatmark(int fd) fails -1 errno;
#include <netdb.h>
flags addrinfo_flags { AI_PASSIVE = 1, AI_CANONNAME = 2, AI_NUMERICHOST = 4, AI_V4MAPPED = 8, AI_ALL = 0x10, AI_ADDRCONFIG = 0x20, AI_IDN = 0x40, AI_CANONIDN = 0x80, AI_NUMERICSERV = 0x400 };
enum addrinfo_errors { EAI_BADFLAGS = -1, EAI_NONAME = -2, EAI_AGAIN = -3, EAI_FAIL = -4, EAI_FAMILY = -6, EAI_SOCKTYPE = -7, EAI_SERVICE = -8, EAI_MEMORY = -10, EAI_SYSTEM = -11, EAI_OVERFLOW = -12 };
flags nameinfo_flags { NI_NUMERICHOST = 1, NI_NUMERICSERV = 2, NI_NOFQDN = 4, NI_NAMEREQD = 8, NI_DGRAM = 16 };
struct addrinfo { names(addrinfo_flags) int ai_flags; names(socket_family) int ai_family; names(socket_type) int ai_socktype; int ai_protocol; socklen_t ai_addrlen; struct sockaddr *ai_addr; char *ai_canonname; struct addrinfo *ai_next; };
struct hostent { char *h_name; char **h_aliases; names(socket_family) int h_addrtype; int h_length; char **h_addr_list; };
struct servent { char *s_name; char **s_aliases; int s_port; char *s_proto; };
struct protoent { char *p_name; char **p_aliases; int p_proto; };
names(addrinfo_errors) int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, out struct addrinfo **result) fails nonzero -4;
void freeaddrinfo(struct addrinfo *list);
const char *gai_strerror(names(addrinfo_errors) int error);
names(addrinfo_errors) int getnameinfo(in(length) const struct sockaddr *address, socklen_t length, out char *host, socklen_t host_size, out char *service, socklen_t service_size, names(nameinfo_flags) int flags) fails nonzero -4;
struct hostent *gethostbyname(const char *name) fails NULL;
struct hostent *gethostbyname2(const char *name, names(socket_family) int family) fails NULL;
struct hostent *gethostbyaddr(in(length) const void *address, socklen_t length, names(socket_family) int family) fails NULL;
int gethostbyname_r(const char *name, struct hostent *result, char *buf, size_t size, struct hostent **found, out int *error) fails errno;
struct hostent *gethostent(void) fails NULL;
void sethostent(int stayopen);
void endhostent(void);
struct servent *getservbyname(const char *name, const char *protocol) fails NULL;
struct servent *getservbyport(int port, const char *protocol) fails NULL;
struct servent *getservent(void) fails NULL;
struct protoent *getprotobyname(const char *name) fails NULL;
struct protoent *getprotobynumber(int number) fails NULL;
const char *hstrerror(int error);
void herror(const char *s);
#include <resolv.h>
int res_query(const char *name, int class, int type, out(return) unsigned char *answer, int size) fails -1;
int res_search(const char *name, int class, int type, out(return) unsigned char *answer, int size) fails -1;
#include <arpa/inet.h>
typedef unsigned int in_addr_t;
struct in_addr { in_addr_t s_addr; };
in_addr_t inet_addr(const char *s) fails -1;
int inet_aton(const char *s, out struct in_addr *address) fails 0;
char *inet_ntoa(struct in_addr address);
const char *inet_ntop(names(socket_family) int family, const void *address, char *s, socklen_t size) fails NULL errno;
int inet_pton(names(socket_family) int family, const char *s, void *address) fails nonpositive 0;
uint16_t htons(uint16_t n);
uint16_t ntohs(uint16_t n);
uint32_t htonl(uint32_t n);
uint32_t ntohl(uint32_t n);
#include <net/if.h>
unsigned int if_nametoindex(const char *name) fails 0 errno;
char *if_indextoname(unsigned int index, char *name) fails NULL errno;
#include <ifaddrs.h>
int getifaddrs(out struct ifaddrs **list) fails -1 errno;
void freeifaddrs(struct ifaddrs *list);
#include <poll.h>
flags poll_events { POLLIN = 1, POLLPRI = 2, POLLOUT = 4, POLLERR = 8, POLLHUP = 16, POLLNVAL = 32, POLLRDNORM = 64, POLLRDBAND = 128, POLLWRNORM = 256, POLLWRBAND = 512, POLLRDHUP = 0x2000 };
struct pollfd { int fd; names(poll_events) short events; names(poll_events) short revents; };
typedef unsigned long nfds_t;
int poll(inout(n) struct pollfd *fds, nfds_t n, int timeout) fails -1 errno;
int ppoll(inout(n) struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask) fails -1 errno;
#include <sys/select.h>
typedef struct { long bits[16]; } fd_set;
int select(int n, fd_set *readable, fd_set *writable, fd_set *other, inout struct timeval *timeout) fails -1 errno;
int pselect(int n, fd_set *readable, fd_set *writable, fd_set *other, const struct timespec *timeout, const sigset_t *mask) fails -1 errno;
#include <sys/epoll.h>
flags epoll_bits { EPOLLIN = 1, EPOLLPRI = 2, EPOLLOUT = 4, EPOLLERR = 8, EPOLLHUP = 16, EPOLLRDHUP = 0x2000, EPOLLEXCLUSIVE = 1 << 28, EPOLLWAKEUP = 1 << 29, EPOLLONESHOT = 1 << 30, EPOLLET = 1 << 31 };
enum epoll_operations { EPOLL_CTL_ADD = 1, EPOLL_CTL_DEL = 2, EPOLL_CTL_MOD = 3 };
struct epoll_event { names(epoll_bits) uint32_t events; uint32_t data[2]; };
int epoll_create(int size) fails -1 errno;
int epoll_create1(names(epoll_create) int flags) fails -1 errno;
int epoll_ctl(int epfd, names(epoll_operations) int operation, int fd, in struct epoll_event *event) fails -1 errno;
int epoll_wait(int epfd, out(return) struct epoll_event *events, int n, int timeout) fails -1 errno;
int epoll_pwait(int epfd, out(return) struct epoll_event *events, int n, int timeout, const sigset_t *mask) fails -1 errno;
#include <sys/eventfd.h>
int eventfd(unsigned int value, names(eventfd) int flags) fails -1 errno;
#include <sys/inotify.h>
int inotify_init(void) fails -1 errno;
int inotify_init1(int flags) fails -1 errno;
int inotify_add_watch(int fd, const char *path, uint32_t mask) fails -1 errno;
int inotify_rm_watch(int fd, int watch) fails -1 errno;
