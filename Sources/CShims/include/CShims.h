/* What Swift cannot import from the C library: variadic functions, functional macros, and what its module leaves out. Nothing
   else belongs here. */
#ifndef TAGROUTE_CSHIMS_H
#define TAGROUTE_CSHIMS_H

#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>

/* prctl(PR_SET_PDEATHSIG, signal): the calling process gets this signal when its parent's thread ends. */
int tagroute_set_parent_death_signal(int signal_number);

/* prctl(PR_SET_NO_NEW_PRIVS). */
int tagroute_set_no_new_privileges(void);

/* prctl(PR_SET_DUMPABLE, 0). */
int tagroute_set_not_dumpable(void);

/* What both have come to: prctl(PR_GET_NO_NEW_PRIVS), prctl(PR_GET_DUMPABLE); -1 with errno. */
int tagroute_has_no_new_privileges(void);
int tagroute_is_dumpable(void);

/* Whether the kernel can filter system calls, whether or not this process may have it do so. */
int tagroute_kernel_filters_calls(void);

/* Landlock (Linux, Documentation/userspace-api/landlock.rst), which the C library has no functions for. All: -1 with errno.
   The version of its interface that the kernel has, from 1 on. */
int tagroute_landlock_version(void);
/* A set of rules that refuses what these rights name, LANDLOCK_ACCESS_FS_…, LANDLOCK_ACCESS_NET_…, LANDLOCK_SCOPE_…; a descriptor. */
int tagroute_landlock_create(uint64_t files, uint64_t network, uint64_t scopes);
/* Excepts the rights at a file, or at a directory and what is below it, which a descriptor stands for. */
int tagroute_landlock_allow(int rules, int file, uint64_t rights);
/* Holds the calling thread, and what it starts, to the rules for good. */
int tagroute_landlock_restrict(int rules);

/* Requests of ioctl(2) that libnfc, libusb and the C library make of one kind of device; their number is returned, and so many are
   stored as there is room for. */
int tagroute_terminal_requests(uint32_t *requests, int room);
int tagroute_usb_requests(uint32_t *requests, int room);
int tagroute_spi_requests(uint32_t *requests, int room);

/* The only one that libnfc makes of an I2C bus: it says the address of the chip that is read and written from then on. */
uint32_t tagroute_i2c_address_request(void);

/* Whether the code was built with a sanitizer, which maps terabytes of addresses. */
int tagroute_is_sanitized(void);

/* pthread_setname_np on the calling thread; at most 15 bytes count. */
int tagroute_set_thread_name(const char *name);

/* memfd_create with MFD_CLOEXEC | MFD_ALLOW_SEALING, and MFD_NOEXEC_SEAL where the kernel knows it; a descriptor, or -1 with errno. */
int tagroute_memory_file(const char *name);

/* fcntl(F_ADD_SEALS) with shrink, grow, write and seal. */
int tagroute_seal_memory_file(int descriptor);

/* renameat2(2) with RENAME_NOREPLACE; link(2) and unlink(2) on a file system that does not know it. -1 with errno, EEXIST where
   there is a file of the new name. */
int tagroute_rename_to_new(const char *from, const char *to);

/* pipe2(ends, O_CLOEXEC). */
int tagroute_pipe(int ends[2]);

/* posix_spawn_file_actions_addclosefrom_np. */
int tagroute_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest);

/* posix_spawn_file_actions_addchdir_np. */
int tagroute_spawn_change_directory(posix_spawn_file_actions_t *actions, const char *path);

/* POSIX_SPAWN_SETSIGMASK and POSIX_SPAWN_SETSIGDEF, and where it leads a session POSIX_SPAWN_SETSID. */
int tagroute_spawn_set_flags(posix_spawnattr_t *attributes, int leads_session);

/* eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK). */
int tagroute_event_descriptor(void);

/* epoll(7), whose packed event structure Swift does not import. An identifier stands for each watched descriptor. */
int tagroute_poll_create(void);
int tagroute_poll_add(int poll, int descriptor, int reading, int writing, uint64_t identifier);
int tagroute_poll_remove(int poll, int descriptor);
/* Waits at most timeout ms (-1: for ever) and stores the identifiers of up to 64 ready descriptors; their number, or -1. */
int tagroute_poll_wait(int poll, uint64_t identifiers[64], int timeout);

/* Makes each of the signals write its number, a byte, into a pipe; the pipe's end to read, or -1 with errno (EBUSY the second
   time). A signal handler can reach nothing but global state, hence a function of its own. */
int tagroute_catch_signals(const int *signals, int count);

/* pidfd_open(2): a descriptor that becomes readable when the process ends, or -1 with errno. */
int tagroute_process_descriptor(pid_t process);

/* WIFEXITED, WEXITSTATUS, WTERMSIG. */
int tagroute_exited_normally(int status);
int tagroute_exit_code(int status);
int tagroute_ending_signal(int status);

/* Opens the controlling side of a new pseudo-terminal (close-on-exec, non-blocking) and unlocks it; the path of the
   other side goes into name. The descriptor, or -1 with errno. */
int tagroute_open_pseudo_terminal(char *name, size_t name_size);

/* Binds the catalogues of a domain in a directory, read as UTF-8, to the language that the environment names (LANGUAGE, LC_ALL,
   LC_MESSAGES, LANG); once, before there is a second thread. The process's own locale stays C, so that what other libraries
   say, in the log say, stays as it is. 0, or -1 with errno where there is no such locale. */
int tagroute_bind_catalogue(const char *domain, const char *directory);

/* dgettext in that language; the text itself where none is bound. */
const char *tagroute_translation(const char *domain, const char *text);

#endif
