import CShims
import Glibc
import ReaderLink

/// What a reader process gives up before it touches a device: a tag or a reader that takes it over should find little.
enum Confinement {
  static func apply() {
    endInTime()
    _ = tagroute_set_no_new_privileges()
    _ = tagroute_set_not_dumpable()
    limit(__rlimit_resource_t(RLIMIT_CORE.rawValue), 0)
    limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), 64)
    umask(0o077)
    scrubEnvironment()
    guardStandardDescriptors()
  }

  /// Ends no process with its field on, and every one in the end.
  ///
  /// The daemon says over the link that it is time to end, and its end is that of the link. systemd tells all of a service's
  /// processes at once by SIGTERM, and the kernel says so of the daemon's death: then this process has so long to notice, and is
  /// ended by its alarm where it is wedged inside libnfc.
  private static func endInTime() {
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number) { _ in _ = alarm(ReaderTiming.secondsAfterSignal) }
    }
    _ = tagroute_set_parent_death_signal(SIGTERM)
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
