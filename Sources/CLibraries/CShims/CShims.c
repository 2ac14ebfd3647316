#define _GNU_SOURCE
#include "CShims.h"

#include <errno.h>
#include <fcntl.h>
#include <libintl.h>
#include <linux/seccomp.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int tagroute_set_parent_death_signal(int signal_number) { return prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0); }

int tagroute_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

int tagroute_set_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int tagroute_has_no_new_privileges(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }

int tagroute_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

int tagroute_kernel_filters_calls(void) {
  if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER) return 1;
  /* Tries to install no filter. The kernel answers EFAULT if it could filter and EINVAL if it cannot (prctl(2)). Any
     other answer comes from a filter that is already in force. */
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == 0 || errno != EINVAL;
}

int tagroute_set_thread_name(const char *name) { return pthread_setname_np(pthread_self(), name); }

/* Since Linux 6.3; earlier headers lack it. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int tagroute_memory_file(const char *name) {
  int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  return file >= 0 || errno != EINVAL ? file : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int tagroute_seal_memory_file(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

int tagroute_rename_to_new(const char *from, const char *to) {
  if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  return link(from, to) == 0 ? unlink(from) : -1;
}

int tagroute_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int tagroute_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest) {
  return posix_spawn_file_actions_addclosefrom_np(actions, lowest);
}

int tagroute_spawn_change_directory(posix_spawn_file_actions_t *actions, const char *path) {
  return posix_spawn_file_actions_addchdir_np(actions, path);
}

int tagroute_spawn_set_flags(posix_spawnattr_t *attributes, int leads_session) {
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (leads_session ? POSIX_SPAWN_SETSID : 0);
  return posix_spawnattr_setflags(attributes, flags);
}

int tagroute_event_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int tagroute_poll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int tagroute_poll_add(int poll, int descriptor, int reading, int writing, uint64_t identifier) {
  struct epoll_event event = {.events = (reading ? EPOLLIN : 0) | (writing ? EPOLLOUT : 0), .data.u64 = identifier};
  return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event);
}

int tagroute_poll_remove(int poll, int descriptor) {
  struct epoll_event unused = {0};
  return epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, &unused);
}

int tagroute_poll_wait(int poll, uint64_t identifiers[64], int64_t nanoseconds) {
  if (nanoseconds > 0) {
    struct pollfd ready = {.fd = poll, .events = POLLIN};
    struct timespec timeout = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    ppoll(&ready, 1, &timeout, NULL);
  }
  struct epoll_event events[64];
  int count = epoll_wait(poll, events, 64, nanoseconds < 0 ? -1 : 0);
  for (int i = 0; i < count; i++) identifiers[i] = events[i].data.u64;
  return count;
}

int tagroute_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int tagroute_exited_normally(int status) { return WIFEXITED(status); }

int tagroute_exit_code(int status) { return WEXITSTATUS(status); }

int tagroute_ending_signal(int status) { return WTERMSIG(status); }

int tagroute_open_pseudo_terminal(char *name, size_t name_size) {
  int descriptor = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return -1;
  if (grantpt(descriptor) == 0 && unlockpt(descriptor) == 0 && ptsname_r(descriptor, name, name_size) == 0) {
    return descriptor;
  }
  int reason = errno;
  close(descriptor);
  errno = reason;
  return -1;
}

static int signal_pipe = -1;

static void write_signal(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  /* A full pipe already holds enough signals to act on. */
  if (write(signal_pipe, &byte, 1) < 0) errno = saved;
  errno = saved;
}

int tagroute_catch_signals(const int *signals, int count) {
  int ends[2];
  struct sigaction action = {.sa_handler = write_signal, .sa_flags = SA_RESTART};
  if (signal_pipe >= 0) {
    errno = EBUSY;
    return -1;
  }
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  signal_pipe = ends[1];
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < count; i++) sigaction(signals[i], &action, NULL);
  return ends[0];
}

static locale_t user_locale;

int tagroute_bind_catalogue(const char *domain, const char *directory) {
  locale_t locale = newlocale(LC_MESSAGES_MASK, "", (locale_t)0);
  if (locale == (locale_t)0) return -1;
  if (bindtextdomain(domain, directory) == NULL || bind_textdomain_codeset(domain, "UTF-8") == NULL) {
    freelocale(locale);
    return -1;
  }
  user_locale = locale;
  return 0;
}

const char *tagroute_translation(const char *domain, const char *text) {
  if (user_locale == (locale_t)0) return text;
  locale_t before = uselocale(user_locale);
  const char *translation = dgettext(domain, text);
  uselocale(before);
  return translation;
}
