/* The keeper's process: see protocol/keeper.h. */
#ifndef HERMES_KEEPER_PROCESS_H
#define HERMES_KEEPER_PROCESS_H

/* hermes-launch under the name of hermes-keep: PID SOCKET_FD MEMORY_FD PIDFD */
int keeper_main(int argc, char **argv);

#endif
