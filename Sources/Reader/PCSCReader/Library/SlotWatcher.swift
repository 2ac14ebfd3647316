import CPCSC
import EventLoop
import Glibc
import Names
import ReaderKit

/// A thread that waits for changes of one reader's slot. It never connects to a card.
///
/// pcscd wakes it, so it costs no processor time between changes. The thread ends only with the process, or if pcscd
/// ends: a call that waits cannot be interrupted safely, because pcsc-lite forgets an `SCardCancel` that comes too
/// early.
final class SlotWatcher: Sendable {
  private let events = Locked<[SlotEvent]>([])
  private let wake: Signal

  /// Starts the thread, which takes over the context. `wanted` is the reader's name, with or without pcscd's numbers.
  /// The thread sends `wake` after each event. Fails if the system has no thread left.
  init(_ context: PCSCContext, wanted: String, wake: Signal, trace: TraceWriter?) throws(SystemError) {
    self.wake = wake
    try DedicatedThread.start { [self] in
      do throws(PCSCError) {
        try Self.watch(context, wanted, trace, report: report)
      } catch {
        report(.lost(error))
      }
    }
  }

  /// Since the last call, in order.
  func takeEvents() -> [SlotEvent] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  private func report(_ event: SlotEvent) {
    events.withLock { $0.append(event) }
    wake.send()
  }

  private static func watch(
    _ context: PCSCContext, _ wanted: String, _ trace: TraceWriter?, report: (SlotEvent) -> Void
  ) throws(PCSCError) {
    var list = try ListWatch(context)
    while true {
      guard let name = find(wanted, in: list.readers) else {
        report(.absent)
        repeat { try list.wait() } while find(wanted, in: list.readers) == nil
        continue
      }
      trace?.write(.device(Names.PCSC.devicePrefix + wanted, name: name.text, error: nil))
      report(.reader(name))
      try follow(name, context, trace, report: report)
      // Until then, the list may also have a reader that pcscd is about to remove.
      try list.confirm()
      report(.absent)
    }
  }

  /// The reader with exactly this name, or the first one that the name means without its numbers.
  private static func find(_ wanted: String, in readers: [ReaderName]) -> ReaderName? {
    readers.first { $0.text == wanted } ?? readers.first { Names.PCSC.means(wanted, $0.text) }
  }

  /// Reports the states of a reader until pcscd no longer has it.
  private static func follow(
    _ name: ReaderName, _ context: PCSCContext, _ trace: TraceWriter?, report: (SlotEvent) -> Void
  ) throws(PCSCError) {
    var word: UInt32 = 0
    var slot: SlotState?
    while true {
      let (result, next, atr) = name.terminated.withUnsafeBufferPointer { name in
        var state = SCARD_READERSTATE()
        state.szReader = name.baseAddress
        state.dwCurrentState = DWORD(word & ~SlotState.Bits.changed)
        let result = SCardGetStatusChange(context.handle, DWORD(INFINITE), &state, 1)
        let atr = withUnsafeBytes(of: state.rgbAtr) { Array($0.prefix(Int(clamping: state.cbAtr))) }
        return (result, UInt32(truncatingIfNeeded: state.dwEventState), atr)
      }
      switch PCSCError(result: result) {
      case nil: break
      case PCSCError.unknownReader?: return
      case PCSCError.timeout?, PCSCError.cancelled?: continue
      case let error?: throw error
      }
      trace?.write(.slot(next, answerToReset: atr))
      if next & SlotState.Bits.unknown != 0 { return }
      let state = SlotState(word: next, after: slot, atr: atr)
      report(next & SlotState.Bits.unavailable != 0 ? .unavailable : .state(state))
      slot = state
      word = next
    }
  }
}

/// Waits for changes of pcscd's list of readers, on the pseudo reader `\\?PnP?\Notification`.
///
/// pcsc-lite before 2.3.0 compares only the number of readers at the beginning of a call with that at its end. A reader
/// that comes between listing and waiting is missed. So the list is read again soon after each change. Later versions
/// count the changes and lose none. No call has a time limit: an event at the moment of a timeout may confuse
/// libpcsclite 1.9.9 (compare issue 160 of pcsc-lite).
struct ListWatch {
  private let context: PCSCContext
  /// As of the last wait.
  private(set) var readers: [ReaderName] = []
  /// `dwEventState` of the last call, with the count of later versions in its high half.
  private var word: UInt32 = 0
  /// Since the list last changed.
  private var waits = 0

  private static let pseudoReader = "\\\\?PnP?\\Notification"
  private static let naps: [Duration] = [.milliseconds(100), .milliseconds(400), .seconds(1)]

  /// Sleeps after a call that has returned without a change. A driver that fails without end could otherwise keep this
  /// thread busy.
  static func pauseBriefly() { usleep(200_000) }

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
