/* Clear messages for what the kernel refuses (design: layer 9). In the child, before the last
 * layers and before any import of the submission's; in a zygote before its preload. */
#ifndef CSB_CHILD_COURTESY_H
#define CSB_CHILD_COURTESY_H

/* Put the functions that a confinement refuses behind ones that say why. Nothing is
 * refused here, so a program that undoes it gains nothing. An empty name: do nothing.
 * Returns 0 or -1 with an exception. */
int csb_child_courtesy(const char *profile);

#endif
