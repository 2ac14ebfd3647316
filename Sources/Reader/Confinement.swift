import CShims
import Glibc

/// What a reader process gives up before it touches a device: a tag or a reader that takes it over should find little.
enum Confinement {
  static func apply() {
    // With the daemon gone nobody would hear it; it notices the end of its link too, but not where libnfc is wedged.
    _ = tagroute_set_parent_death_signal(SIGKILL)
    _ = tagroute_set_no_new_privileges()
    _ = tagroute_set_not_dumpable()
    limit(__rlimit_resource_t(RLIMIT_CORE.rawValue), 0)
    limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), 64)
    umask(0o077)
    scrubEnvironment()
    guardStandardDescriptors()
  }

  private static func limit(_ resource: __rlimit_resource_t, _ value: rlim_t) {
    var limit = rlimit(rlim_cur: value, rlim_max: value)
    setrlimit(resource, &limit)
  }

  private static func scrubEnvironment() {
    clearenv()
    // libnfc prints its errors for every try to open a device that is away; ours come over the link.
    setenv("LIBNFC_LOG_LEVEL", "0", 1)
  }

  /// libnfc takes descriptor 0 for "none": with standard input closed it would open a port as that.
  private static func guardStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one, since those below are open.
      _ = open("/dev/null", O_RDWR)
    }
  }
}
