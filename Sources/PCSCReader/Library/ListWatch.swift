import CPCSC
import Glibc

/// Waits for changes of pcscd's list of readers, on the pseudo reader `\\?PnP?\Notification`.
///
/// pcsc-lite before 2.3.0 compares only the number of readers at the beginning of a call with that at its end. A reader
/// that comes between listing and waiting is missed. So the first waits after a change are short, and the list is read
/// again after each. Later versions count the changes and lose none.
struct ListWatch {
  private let context: PCSCContext
  /// The list after the last wait.
  private(set) var readers: [ReaderName] = []
  /// `dwEventState` of the last call, with the count of later versions in its high half.
  private var word: UInt32 = 0
  /// The number of waits since the list last changed.
  private var waits = 0

  private static let pseudoReader = "\\\\?PnP?\\Notification"
  private static let shortWaits: [Duration] = [.seconds(1), .seconds(4), .seconds(15)]

  /// Sleeps after a call that has returned without a change. A driver that fails without end could otherwise keep this
  /// thread busy.
  static func pauseBriefly() { usleep(200_000) }

  /// Reads the list. It is empty if that fails; the first wait then fails too.
  init(_ context: PCSCContext) {
    self.context = context
    readers = (try? context.readers()) ?? []
  }

  /// Waits until the list may have changed, at most for `limit`, and reads it. Returns whether pcscd has reported a
  /// change.
  @discardableResult
  mutating func wait(atMost limit: Duration? = nil) throws(PCSCError) -> Bool {
    let isCounted = word >> 16 != 0
    let patience = limit ?? (isCounted || waits >= Self.shortWaits.count ? nil : Self.shortWaits[waits])
    var hasChanged = false
    if patience != .zero {
      let milliseconds = patience.map { DWORD(clamping: Int64($0 / .milliseconds(1))) } ?? DWORD(INFINITE)
      let result = Self.pseudoReader.withCString { name in
        var state = SCARD_READERSTATE()
        state.szReader = name
        state.dwCurrentState = DWORD(word & ~SlotState.Bits.changed)
        let result = SCardGetStatusChange(context.handle, milliseconds, &state, 1)
        word = UInt32(truncatingIfNeeded: state.dwEventState)
        return result
      }
      switch PCSCError(result: result) {
      case nil: hasChanged = true
      case PCSCError.timeout?, PCSCError.cancelled?: break
      case let error?: throw error
      }
      waits = min(waits + 1, Self.shortWaits.count)
    }
    let now = try context.readers()
    if now != readers {
      waits = 0
    } else if hasChanged {
      Self.pauseBriefly()
    }
    readers = now
    return hasChanged
  }
}
