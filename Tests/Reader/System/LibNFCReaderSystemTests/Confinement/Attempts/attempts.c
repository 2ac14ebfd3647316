/* A test loads this library into tagroute-reader. It tries an operation that the process must not do, before or after
   the process confines itself.

   ATTEMPT names the operation, SUBJECT its object. With ATTEMPT_WHEN=before, the library tries it when the program is
   loaded. Otherwise the library tries it in place of libnfc's search for readers, which would be the first contact
   with a reader. The library prints "done" or the name of the error, and ends the process. Without ATTEMPT, the program
   runs as usual if it is given a device.

   LACKING names a kernel feature to hide. A filter then makes the kernel appear to lack it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/i2c-dev.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char attempt[64], subject[4096];

static long opened(int flags) {
  int file = open(subject, flags | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  return file;
}

static long openat2_truncating(void) {
  struct open_how how = {.flags = O_WRONLY | O_TRUNC | O_CLOEXEC};
  return syscall(SYS_openat2, AT_FDCWD, subject, &how, sizeof how);
}

static long listed(void) {
  DIR *directory = opendir(subject);
  if (directory != NULL) closedir(directory);
  return directory == NULL ? -1 : 0;
}

static long asked(unsigned long request, void *argument) {
  int device = open(subject, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  return device < 0 ? -1 : ioctl(device, request, argument);
}

static long child(long process) {
  if (process == 0) _exit(0);
  return process < 0 ? -1 : waitpid((pid_t)process, NULL, __WALL) < 0 ? -1 : 0;
}

static void *nothing(void *unused) { return unused; }

static long thread(void) {
  pthread_t thread;
  errno = pthread_create(&thread, NULL, nothing, NULL);
  return errno != 0 ? -1 : pthread_join(thread, NULL);
}

static long mapped(size_t size, int protection) {
  return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long mapped_shared(int kind) {
  return mmap(NULL, 4096, PROT_READ, kind | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

static long made_executable(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static long written_through_memory(void) {
  int file = open(subject, O_RDWR | O_CLOEXEC);
  char *page = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) return -1;
  *page = 'y';
  return 0;
}

static long limited(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -2;
  return setrlimit(RLIMIT_NOFILE, &limit);
}

static long many_opened(void) {
  int last = -1, files = 0;
  while (files < 100 && (last = dup(0)) >= 0) files++;
  return last;
}

#ifdef HAS_LIBUSB1
/* libusb 1 (libusb.h). */
int libusb_init(void **context);
ssize_t libusb_get_device_list(void *context, void ***devices);

/* umockdev would replace the kernel's socket for device events by a local socket. This test uses the kernel's. */
int socket(int domain, int type, int protocol) { return (int)syscall(SYS_socket, domain, type, protocol); }

/* umockdev reads UMOCKDEV_DIR at each call, so the variable has to survive clearenv(). */
int clearenv(void) {
  const char *value = getenv("UMOCKDEV_DIR");
  char devices[sizeof subject];
  snprintf(devices, sizeof devices, "%s", value == NULL ? "" : value);
  environ = NULL;
  return value == NULL ? 0 : setenv("UMOCKDEV_DIR", devices, 1);
}

static long devices_found(void) {
  void *context, **devices;
  if (libusb_init(&context) != 0) return errno = ENXIO, -1;
  return libusb_get_device_list(context, &devices) > 0 ? 0 : (errno = ENODEV, -1);
}
#endif

static long tried(void) {
  const char *const nothing_else[] = {NULL};
  char byte = 'x';
  char parameters[256] = {0};
  struct clone_args arguments = {.exit_signal = SIGCHLD};
#define IS(name) (strcmp(attempt, name) == 0)
  if (IS("read")) return opened(O_RDONLY);
  if (IS("write")) return opened(O_WRONLY);
  if (IS("open device")) return opened(O_RDWR);
  if (IS("truncate")) return opened(O_WRONLY | O_TRUNC);
  if (IS("truncate by name")) return truncate(subject, 0);
  if (IS("truncate for reading")) return opened(O_RDONLY | O_TRUNC);
  if (IS("truncate as created")) return creat(subject, 0600);
  if (IS("truncate with openat2")) return openat2_truncating();
  /* Standard input is open for reading only. */
  if (IS("truncate what is open")) return ftruncate(0, 0);
  if (IS("create")) return opened(O_WRONLY | O_CREAT);
  if (IS("nameless file")) return opened(O_WRONLY | O_TMPFILE);
  if (IS("list")) return listed();
  if (IS("remove")) return unlink(subject);
  if (IS("link")) return symlink("/", subject);
  if (IS("internet socket")) return socket(AF_INET, SOCK_STREAM, 0);
  if (IS("local socket")) return socket(AF_UNIX, SOCK_STREAM, 0);
  if (IS("netlink socket")) return socket(AF_NETLINK, SOCK_RAW, 15);
  if (IS("route socket")) return socket(AF_NETLINK, SOCK_RAW, 0);
  if (IS("connect")) return connect(0, NULL, 0);
  if (IS("fork")) return child(fork());
  if (IS("clone")) return child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (IS("clone3")) return child(syscall(SYS_clone3, &arguments, sizeof arguments));
  if (IS("thread")) return thread();
  if (IS("execute")) return execve("/bin/echo", (char *const[]){"echo", "done", NULL}, (char *const *)nothing_else);
  if (IS("execute memory")) return syscall(SYS_memfd_create, "x", 0);
  if (IS("execute descriptor")) return syscall(SYS_execveat, 0, "", nothing_else, nothing_else, AT_EMPTY_PATH);
  if (IS("trace")) return ptrace(PTRACE_TRACEME, 0, 0, 0);
  if (IS("read parent")) return syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
  if (IS("signal parent")) return kill(getppid(), 0);
  if (IS("signal parent's thread")) return syscall(SYS_tgkill, getppid(), getppid(), 0);
  if (IS("owner")) return fcntl(0, F_SETOWN, getppid());
  if (IS("owning thread")) return fcntl(0, F_SETOWN_EX, &(struct f_owner_ex){F_OWNER_PID, getppid()});
  if (IS("owner's signal")) return fcntl(0, F_SETSIG, SIGKILL);
  if (IS("asynchronous")) return fcntl(0, F_SETFL, O_ASYNC);
  if (IS("asynchronous request")) return ioctl(0, FIOASYNC, &(int){0});
  if (IS("mount")) return mount("none", "/nowhere", "tmpfs", 0, NULL);  /* fails for root, too: no such directory */
  if (IS("namespace")) return unshare(CLONE_NEWUSER);
  if (IS("user")) return syscall(SYS_setuid, getuid());
  if (IS("dumpable")) return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  if (IS("ring")) return syscall(SYS_io_uring_setup, 1, parameters);
  if (IS("page faults")) return syscall(SYS_userfaultfd, O_CLOEXEC);
  if (IS("keys")) return syscall(SYS_keyctl, 0, -3, 0, 0, 0);
  if (IS("bpf")) return syscall(SYS_bpf, 0, parameters, 48);
  if (IS("performance events")) return syscall(SYS_perf_event_open, parameters, 0, -1, -1, 0);
  if (IS("executable memory")) return mapped(4096, PROT_READ | PROT_EXEC);
  if (IS("shared memory")) return mapped_shared(MAP_SHARED);
  if (IS("written through memory")) return written_through_memory();
  if (IS("made executable")) return made_executable();
  if (IS("limits")) return limited();
  if (IS("descriptors")) return many_opened();
  if (IS("addresses")) return mapped((size_t)2 << 30, PROT_READ | PROT_WRITE);
  if (IS("type on terminal")) return asked(TIOCSTI, &byte);
  if (IS("window size")) return asked(TIOCGWINSZ, parameters);
  if (IS("terminal's mode")) return asked(TCGETS, parameters);
  /* The filter sees the request before the kernel checks whether the descriptor is a bus. */
  if (IS("chip's address")) return ioctl(0, I2C_SLAVE, strtoul(subject, NULL, 0));
#ifdef HAS_LIBUSB1
  if (IS("devices")) return devices_found();
#endif
  if (IS("nothing said")) _exit(0);
  if (IS("unknown call")) return syscall(9999);
  if (IS("crash")) return *(volatile char *)(uintptr_t)8;
  if (IS("abort")) abort();
  errno = EINVAL;
  return -2;
}

static void try(void) {
  char line[128];
  long result = tried();
  int length = snprintf(line, sizeof line, "%s\n", result == -1 ? strerrorname_np(errno) : result < 0 ? "unknown" : "done");
  if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(3);
  _exit(0);
}

static const char *variable(const char *name) {
  const char *value = getenv(name);
  return value == NULL ? "" : value;
}

/* A system call that fails with an error, if the argument with this index has this value. Index -1: always. */
struct lack {
  const char *name;
  int call, argument;
  uint32_t value;
  uint16_t error;
};

static const struct lack lacks[] = {
    {"permission to filter", SYS_seccomp, -1, 0, EPERM},
    {"permission to filter", SYS_prctl, 0, PR_SET_SECCOMP, EPERM},
    /* As in a kernel without CONFIG_SECCOMP. */
    {"filters", SYS_seccomp, -1, 0, ENOSYS},
    {"filters", SYS_prctl, 0, PR_GET_SECCOMP, EINVAL},
    {"filters", SYS_prctl, 0, PR_SET_SECCOMP, EINVAL},
    {"Landlock", SYS_landlock_create_ruleset, -1, 0, ENOSYS},
    {"permission for Landlock", SYS_landlock_create_ruleset, -1, 0, EPERM},
    {"new limits", SYS_prlimit64, 3, 0, EPERM},
    {"no new privileges", SYS_prctl, 0, PR_SET_NO_NEW_PRIVS, EINVAL},
    {"closed memory", SYS_prctl, 0, PR_SET_DUMPABLE, EINVAL},
};

static void lack(const char *what) {
  struct sock_filter program[5 * sizeof lacks / sizeof *lacks + 1];
  unsigned short length = 0;
  for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
    if (strcmp(lacks[i].name, what) != 0) continue;
    int any = lacks[i].argument < 0;
    /* The lower half. It comes first on all machines that Swift supports. */
    uint32_t argument = (uint32_t)(offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)(any ? 0 : lacks[i].argument));
    struct sock_filter part[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)lacks[i].call, any ? 2 : 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lacks[i].value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | lacks[i].error),
    };
    memcpy(program + length, part, sizeof part);
    length += sizeof part / sizeof *part;
  }
  if (length == 0) return;
  program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {length, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) _exit(3);
}

__attribute__((constructor)) static void begin(void) {
  lack(variable("LACKING"));
  snprintf(attempt, sizeof attempt, "%s", variable("ATTEMPT"));
  snprintf(subject, sizeof subject, "%s", variable("SUBJECT"));
  if (strcmp(variable("ATTEMPT_WHEN"), "before") == 0) try();
}

size_t nfc_list_devices(void *context, void *devices, size_t most) {
  (void)context, (void)devices, (void)most;
  try();
  return 0;
}
