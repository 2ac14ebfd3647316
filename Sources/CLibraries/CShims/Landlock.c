#define _GNU_SOURCE
#include "CShims.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers are the same on every architecture, like all since 424. Earlier headers lack them. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

/* linux/landlock.h as of version 6 of the interface. The headers of the build machine may be older than the kernel that
   runs. An older kernel accepts the longer structure if the fields that it does not know are zero. */
struct rules {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};

struct exception {
  uint64_t allowed_access;
  int32_t parent_fd;
} __attribute__((packed));

enum { query_version = 1, beneath_path = 1 };

int tagroute_landlock_version(void) { return (int)syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, query_version); }

int tagroute_landlock_create(uint64_t files, uint64_t network, uint64_t scopes) {
  struct rules rules = {.handled_access_fs = files, .handled_access_net = network, .scoped = scopes};
  return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
}

int tagroute_landlock_allow(int rules, int file, uint64_t rights) {
  struct exception exception = {.allowed_access = rights, .parent_fd = file};
  return (int)syscall(SYS_landlock_add_rule, rules, beneath_path, &exception, 0);
}

int tagroute_landlock_restrict(int rules) { return (int)syscall(SYS_landlock_restrict_self, rules, 0); }
