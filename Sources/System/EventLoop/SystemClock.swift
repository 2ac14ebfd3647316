import CShims
import Glibc

/// The clocks of the kernel (clock_gettime(2)).
package enum SystemClock {
  /// The time of day, in microseconds since 1970-01-01 00:00 UTC.
  package static var now: UInt64 { UInt64(clamping: nanoseconds(CLOCK_REALTIME) / 1000) }

  /// The time since the machine started, without the time that it was suspended, in nanoseconds.
  package static var monotonic: Int64 { nanoseconds(CLOCK_MONOTONIC) }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
