#define _GNU_SOURCE
#include "CShims.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

int tagroute_set_parent_death_signal(int signal_number) { return prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0); }

int tagroute_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int tagroute_set_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int tagroute_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

int tagroute_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int tagroute_seal_memory_file(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}
