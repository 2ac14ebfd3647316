import Glibc
import Handlers
import Journal
import Notifications

/// The notification that shows which computer this is, among several that look alike.
enum IdentifyNotice {
  /// All of them share this key, so the next one replaces the last one.
  static let key = NotificationKey("identify")

  static func notification() -> Notification {
    .notice(
      Messages.thisIs(DisplayText(hostName(), limit: 64)), Messages.askedToIdentify, category: "x-tagroute.identify")
  }

  private static func hostName() -> String {
    // The limit of Linux is 64 bytes (gethostname(2)). The last byte stays 0.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 65) { buffer -> String in
      buffer.initialize(repeating: 0)
      guard let base = buffer.baseAddress, gethostname(base, 64) == 0 else { return "" }
      return String(cString: base)
    }
  }
}

extension AgentService {
  /// Shows which computer this is, and plays a sound even with `Sound=off`: it is what the caller asked for. A headless
  /// agent plays the sound if it has a display. Readers with a LED or a buzzer use them.
  func identify() async {
    log(.notice, "a program asked this computer to identify itself")
    Task { await daemon?.identifyReaders() }
    guard isHeadless else { return await notifications.show(Self.identification, as: IdentifyNotice.key) }
    if let name = NotificationSound.arrival.name { Task { await launcher.play(name) } }
  }

  private static var identification: Notification { IdentifyNotice.notification().sounding(.arrival) }
}
