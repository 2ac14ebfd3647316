/* What Swift cannot import from the C library: variadic functions and functional macros. Nothing else belongs here. */
#ifndef TAGROUTE_CSHIMS_H
#define TAGROUTE_CSHIMS_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* prctl(PR_SET_PDEATHSIG, signal): the calling process gets this signal when its parent's thread ends. */
int tagroute_set_parent_death_signal(int signal_number);

/* prctl(PR_SET_NO_NEW_PRIVS). */
int tagroute_set_no_new_privileges(void);

/* prctl(PR_SET_DUMPABLE, 0). */
int tagroute_set_not_dumpable(void);

/* pthread_setname_np on the calling thread; at most 15 bytes count. */
int tagroute_set_thread_name(const char *name);

/* memfd_create with MFD_CLOEXEC | MFD_ALLOW_SEALING; a descriptor, or -1 with errno. */
int tagroute_memory_file(const char *name);

/* fcntl(F_ADD_SEALS) with shrink, grow, write and seal. */
int tagroute_seal_memory_file(int descriptor);

#endif
