/* The same route in a control message of one datagram: IP_RETOPTS. */
#include "../route.h"
int main(void)
{
	own_network();
	return went(sendmsg(socket(AF_INET, SOCK_DGRAM, 0), message_with_route(IP_RETOPTS), 0));
}
