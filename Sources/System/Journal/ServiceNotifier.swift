import Glibc

/// The sd_notify(3) protocol: reports to systemd that a service is ready, its status, and that it is alive.
///
/// Implemented here because it is one datagram; otherwise libsystemd would be linked for a single `sendto`.
package struct ServiceNotifier: Sendable {
  private let address: String?
  /// How often to send `WATCHDOG=1`: half of `WATCHDOG_USEC`. nil if systemd does not expect it.
  package let watchdogInterval: Duration?

  /// Without `NOTIFY_SOCKET`, all messages are dropped.
  package static func fromEnvironment() -> ServiceNotifier {
    func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    var interval: Duration?
    if let microseconds = value("WATCHDOG_USEC").flatMap(Int64.init), microseconds > 0,
      value("WATCHDOG_PID").flatMap(Int32.init).map({ $0 == getpid() }) ?? true
    {
      interval = .microseconds(microseconds / 2)
    }
    return ServiceNotifier(address: value("NOTIFY_SOCKET"), watchdogInterval: interval)
  }

  /// `address` is the socket's path, with a leading `@` for the abstract namespace. If it is nil, all messages are
  /// dropped.
  package init(address: String?, watchdogInterval: Duration?) {
    self.address = address
    self.watchdogInterval = watchdogInterval
  }

  /// Start-up, or a reload of the configuration, is complete.
  package func ready(status: String) { send("READY=1\nSTATUS=\(oneLine(status))") }

  /// A reload of the configuration has started. It ends with ``ready(status:)``. With `Type=notify-reload`, systemd 253
  /// and later require the time of the start (sd_notify(3), `MONOTONIC_USEC`).
  package func reloading() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    send("RELOADING=1\nMONOTONIC_USEC=\(Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)")
  }

  package func status(_ text: String) { send("STATUS=\(oneLine(text))") }

  package func watchdog() { send("WATCHDOG=1") }

  package func stopping() { send("STOPPING=1") }

  private func oneLine(_ text: String) -> String { String(text.map { $0.isNewline ? " " : $0 }) }

  private func send(_ message: String) {
    guard let address, address.hasPrefix("/") || address.hasPrefix("@") else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var socketAddress = sockaddr_un()
    socketAddress.sun_family = sa_family_t(AF_UNIX)
    var path = Array(address.utf8)
    guard path.count < MemoryLayout.size(ofValue: socketAddress.sun_path) else { return }
    if path[0] == UInt8(ascii: "@") { path[0] = 0 }
    withUnsafeMutableBytes(of: &socketAddress.sun_path) { $0.copyBytes(from: path) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    let bytes = Array(message.utf8)
    withUnsafePointer(to: &socketAddress) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), pointer, length)
      }
    }
  }
}
