/* Functions that Swift cannot import from the C library: variadic functions, functional macros, and functions that its
   module leaves out. Do not add other code here. */
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

/* Read both settings back: prctl(PR_GET_NO_NEW_PRIVS), prctl(PR_GET_DUMPABLE); -1 with errno. */
int tagroute_has_no_new_privileges(void);
int tagroute_is_dumpable(void);

/* Whether the kernel can filter system calls, even if this process is not permitted to install a filter. */
int tagroute_kernel_filters_calls(void);

/* Landlock (Linux, Documentation/userspace-api/landlock.rst). The C library has no functions for it. All of these
   return -1 with errno if they fail. This one returns the kernel's version of the interface, from 1. */
int tagroute_landlock_version(void);
/* Creates a set of rules that denies these rights (LANDLOCK_ACCESS_FS_…, LANDLOCK_ACCESS_NET_…, LANDLOCK_SCOPE_…);
   returns a descriptor. */
int tagroute_landlock_create(uint64_t files, uint64_t network, uint64_t scopes);
/* Grants rights at the file that the descriptor is open on, or at a directory and everything below it. */
int tagroute_landlock_allow(int rules, int file, uint64_t rights);
/* Restricts the calling thread, and everything that it starts, to the rules permanently. */
int tagroute_landlock_restrict(int rules);

/* Requests of ioctl(2) that libnfc, libusb and the C library make on one kind of device. Each function stores as many
   as there is room for and returns their total number. */
int tagroute_terminal_requests(uint32_t *requests, int room);
int tagroute_usb_requests(uint32_t *requests, int room);
int tagroute_spi_requests(uint32_t *requests, int room);

/* The only request that libnfc makes on an I2C bus. It sets the address of the chip for all later reads and writes. */
uint32_t tagroute_i2c_address_request(void);

/* Whether the code was built with a sanitizer, which maps terabytes of address space. */
int tagroute_is_sanitized(void);

/* pthread_setname_np on the calling thread. It fails if the name has more than 15 bytes. */
int tagroute_set_thread_name(const char *name);

/* memfd_create with MFD_CLOEXEC | MFD_ALLOW_SEALING, and MFD_NOEXEC_SEAL if the kernel supports it. Returns a
   descriptor, or -1 with errno. */
int tagroute_memory_file(const char *name);

/* fcntl(F_ADD_SEALS) with shrink, grow, write and seal. */
int tagroute_seal_memory_file(int descriptor);

/* renameat2(2) with RENAME_NOREPLACE, or link(2) and unlink(2) on a file system that does not support it. -1 with
   errno, EEXIST if a file with the new name exists. */
int tagroute_rename_to_new(const char *from, const char *to);

/* pipe2(ends, O_CLOEXEC). */
int tagroute_pipe(int ends[2]);

/* posix_spawn_file_actions_addclosefrom_np. */
int tagroute_spawn_close_from(posix_spawn_file_actions_t *actions, int lowest);

/* posix_spawn_file_actions_addchdir_np. */
int tagroute_spawn_change_directory(posix_spawn_file_actions_t *actions, const char *path);

/* POSIX_SPAWN_SETSIGMASK and POSIX_SPAWN_SETSIGDEF, and POSIX_SPAWN_SETSID if the child leads a session. */
int tagroute_spawn_set_flags(posix_spawnattr_t *attributes, int leads_session);

/* eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK). */
int tagroute_event_descriptor(void);

/* epoll(7), because Swift does not import its packed event structure. Each watched descriptor has an identifier. */
int tagroute_poll_create(void);
int tagroute_poll_add(int poll, int descriptor, int reading, int writing, uint64_t identifier);
int tagroute_poll_remove(int poll, int descriptor);
/* Waits at most this many nanoseconds (negative: forever) and stores the identifiers of up to 64 ready descriptors.
   Returns their number, or -1. epoll_pwait2(2) would do the same, but Linux 5.10 and some containers do not have it. */
int tagroute_poll_wait(int poll, uint64_t identifiers[64], int64_t nanoseconds);

/* Makes each of the signals write its number, as one byte, into a pipe. Returns the pipe's read end, or -1 with errno
   (EBUSY the second time). A signal handler can access only global state, so the handler is written in C. */
int tagroute_catch_signals(const int *signals, int count);

/* pidfd_open(2): a descriptor that becomes readable when the process ends, or -1 with errno. */
int tagroute_process_descriptor(pid_t process);

/* WIFEXITED, WEXITSTATUS, WTERMSIG. */
int tagroute_exited_normally(int status);
int tagroute_exit_code(int status);
int tagroute_ending_signal(int status);

/* Opens the controlling side of a new pseudo-terminal (close-on-exec, non-blocking) and unlocks it. Stores the path of
   the other side in name. Returns the descriptor, or -1 with errno. */
int tagroute_open_pseudo_terminal(char *name, size_t name_size);

/* Binds the catalogues of a domain in a directory, read as UTF-8, to the language of the environment (LANGUAGE, LC_ALL,
   LC_MESSAGES, LANG). Call it once, before another thread calls tagroute_translation. The process's own locale stays C,
   so the texts of other libraries, for example in the log, do not change. Returns 0, or -1 with errno if there is no
   such locale. */
int tagroute_bind_catalogue(const char *domain, const char *directory);

/* dgettext in that language; the text itself if none is bound. */
const char *tagroute_translation(const char *domain, const char *text);

#endif
