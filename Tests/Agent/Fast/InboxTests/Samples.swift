import EventLoop
import NDEF
import Names

@testable import Inbox

/// A Friday in 2026.
let sampleTime = Timestamp(microseconds: 1_795_000_000_000_000)

func sampleTap(
  _ id: String, time: Timestamp = sampleTime, message: [UInt8] = [0xD1, 0x01, 0x02, 0x55, 0x04, 0x61],
  uri: String? = "https://menu.example.com/table/4"
) -> Tap {
  Tap(
    TagRead(
      id: id, time: UInt64(clamping: time.microseconds), reader: "/reader/0", technology: "type-2",
      uid: [4, 1, 2, 3, 4, 5, 6], bytes: message),
    uri: uri, title: "Open in Menu", receiver: TapReceiver(handler: "org.example.Menu.desktop"))
}

extension Tap {
  func being(_ state: TapState, outgoing: Bool = false) -> Tap {
    var tap = self
    (tap.state, tap.changed, tap.isOutgoing) = (state, sampleTime, outgoing)
    return tap
  }
}

func place(_ id: UInt32) -> NotificationPlace { NotificationPlace(bus: "bus", owner: ":1.7", id: id) }

final class Reports: Sendable {
  private let lines = Locked<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  var report: @Sendable (String) -> Void { { [self] line in lines.withLock { $0.append(line) } } }
}

extension Inbox {
  /// Stores a tap with a link that may not be opened.
  func refuse(_ tap: Tap, detail: String) -> Receipt {
    keep(tap, as: .failedOffScreen, because: TapReason(.refused, detail: detail))
  }

  /// Changes the size of the simulated disk.
  func setMaximumPages(_ count: Int) {
    withStore { store throws(SQLiteError) in try store.database.run("PRAGMA max_page_count = \(count)") }
  }
}
