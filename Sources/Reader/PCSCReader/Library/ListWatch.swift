import CPCSC
import Glibc

/// Waits for changes of pcscd's list of readers, on the pseudo reader `\\?PnP?\Notification`.
///
/// pcsc-lite before 2.3.0 compares only the number of readers at the beginning of a call with that at its end. A reader
/// that comes between listing and waiting is missed. So the list is read again soon after each change. Later versions
/// count the changes and lose none. No call has a time limit, because an event at the moment of a timeout may
/// confuse libpcsclite 1.9.9 (compare issue 160 of pcsc-lite).
struct ListWatch {
  private let context: PCSCContext
  /// The list after the last wait.
  private(set) var readers: [ReaderName] = []
  /// `dwEventState` of the last call, with the count of later versions in its high half.
  private var word: UInt32 = 0
  /// The number of waits since the list last changed.
  private var waits = 0

  private static let pseudoReader = "\\\\?PnP?\\Notification"
  private static let naps: [Duration] = [.milliseconds(100), .milliseconds(400), .seconds(1)]

  /// Sleeps after a call that has returned without a change. A driver that fails without end could otherwise keep this
  /// thread busy.
  static func pauseBriefly() { usleep(200_000) }

  /// Reads the list.
  init(_ context: PCSCContext) throws(PCSCError) {
    self.context = context
    readers = try context.readers()
  }

  /// Reads the list again after a moment, before the caller believes that a reader is gone. A pcscd that ends drops its
  /// readers first, and this call then fails.
  mutating func confirm() throws(PCSCError) {
    Self.pauseBriefly()
    try wait(atMost: .zero)
  }

  /// Waits until the list may have changed, or for `limit`, and reads it.
  mutating func wait(atMost limit: Duration? = nil) throws(PCSCError) {
    var hasChanged = false
    let isCounted = word >> 16 != 0
    if let nap = limit ?? (isCounted || waits >= Self.naps.count ? nil : Self.naps[waits]) {
      usleep(UInt32(nap / .microseconds(1)))
    } else {
      try awaitChange()
      hasChanged = true
    }
    waits = min(waits + 1, Self.naps.count)
    let now = try context.readers()
    if now != readers {
      waits = 0
    } else if hasChanged {
      Self.pauseBriefly()
    }
    readers = now
  }

  private mutating func awaitChange() throws(PCSCError) {
    let result = Self.pseudoReader.withCString { name in
      var state = SCARD_READERSTATE()
      state.szReader = name
      state.dwCurrentState = DWORD(word & ~SlotState.Bits.changed)
      let result = SCardGetStatusChange(context.handle, DWORD(INFINITE), &state, 1)
      word = UInt32(truncatingIfNeeded: state.dwEventState)
      return result
    }
    if let error = PCSCError(result: result), error != .cancelled { throw error }
  }
}
