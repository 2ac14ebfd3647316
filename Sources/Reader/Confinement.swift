import CShims
import Glibc
import ReaderLink

/// What a reader process gives up before it touches a device: a tag or a reader that takes it over should find little.
enum Confinement {
  /// Where the handler of signals writes that it is time to end.
  private nonisolated(unsafe) static var signalled: Int32 = -1  // written once, before there is a handler

  /// - Returns: a descriptor that is readable once a signal has said that it is time to end; -1 where there is none left.
  static func apply() -> Int32 {
    let end = endInTime()
    _ = tagroute_set_no_new_privileges()
    _ = tagroute_set_not_dumpable()
    limit(__rlimit_resource_t(RLIMIT_CORE.rawValue), 0)
    limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), 64)
    umask(0o077)
    scrubEnvironment()
    return end
  }

  /// Ends no process with its field on, and every one in the end.
  ///
  /// The daemon says over the link that it is time to end, and its end is that of the link. Others say so by SIGTERM, and the kernel
  /// of the daemon's death: that counts as if the daemon had said it, at the next look at the link. The alarm is for a
  /// process that is wedged inside libnfc.
  private static func endInTime() -> Int32 {
    // First, or the pipe would be one of them.
    guardStandardDescriptors()
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) == 0 {
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    }
    signalled = ends[1]
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number) { _ in
        let before = errno
        _ = alarm(ReaderTiming.secondsAfterSignal)
        var byte: UInt8 = 0
        _ = write(Confinement.signalled, &byte, 1)
        errno = before
      }
    }
    _ = tagroute_set_parent_death_signal(SIGTERM)
    return ends[0]
  }

  /// Puts off the alarm that a signal has set, since something is begun that may take so long: what is done to leave no field on, closing
  /// the device and opening it again, may take longer in all than any one alarm should wait. Without a signal there is none, for the daemon
  /// watches.
  static func putOffAlarm(_ duration: Duration) {
    guard alarm(0) > 0 else { return }
    _ = alarm(ReaderTiming.secondsUntilAlarm(duration))
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
