#ifndef HERMES_VIEW_H
#define HERMES_VIEW_H

int view_main(int argc, char **argv);

#endif
