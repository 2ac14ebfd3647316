import EventLoop
import Glibc

/// Virtual PC/SC readers, which the real pcscd drives through the driver `libtagroute-ifd.so`.
///
/// A test adds readers, starts pcscd with `configuration(library:)`, and inserts cards. The readers answer pcscd's
/// requests on a separate loop, and record them.
package actor SimulatedCardReaders {
  package typealias Condition = @Sendable (isolated SimulatedCardReaders) -> Bool

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// The path of the socket to which the driver connects.
  package nonisolated let socket: String

  /// After twice as many exchanges of a slot, the older half is forgotten.
  static let recordLimit = 8192

  struct Reader {
    let attached: AttachedCardReader
    var properties: CardReaderProperties
    var isPluggedIn = true
  }

  /// What happened to a card.
  struct Activity {
    var commands: [[UInt8]] = []
    var powerUps = 0
  }

  let loop = EventLoop(label: "card-readers")
  private let listener: FileDescriptor
  private var listening: DescriptorWatch?
  var connections: [Int: DriverConnection] = [:]
  private var nextConnection = 0
  var readers: [Reader] = []
  var slots: [SimulatedSlot] = []
  var records: [CardSlotID: [CardExchange]] = [:]
  var activities: [TagID: Activity] = [:]
  /// Cards that a fault has taken away, until a test removes them.
  var takenAway: [TagID: SimulatedCard] = [:]
  /// The slot into which the last card was inserted; nil if there was none.
  private(set) var latestSlot: CardSlotID?
  private var nextCard: UInt64 = 1
  private var waiters = Waiters<SimulatedCardReaders>()
  private let clock = MachineClock()
  /// Whether a reader sees a card only when it looks for cards.
  private let looksInIntervals: Bool

  /// Listens on a new socket at this path. Fails if the path has more than 107 bytes, or its directory does not exist.
  /// `timing` decides whether a reader sees a card at once. Everything else is at once.
  package static func start(
    socket: String, timing: TimingModel = .immediate
  ) async throws(SimulatorError) -> SimulatedCardReaders {
    let listener = try ListeningSocket.create(at: socket, mode: 0o600)
    let readers = SimulatedCardReaders(socket, listener, looksInIntervals: timing != .immediate)
    try await readers.beginListening()
    return readers
  }

  private init(_ socket: String, _ listener: FileDescriptor, looksInIntervals: Bool) {
    (self.socket, self.listener, self.looksInIntervals) = (socket, listener, looksInIntervals)
  }

  private func beginListening() throws(SimulatorError) {
    do throws(SystemError) {
      listening = try DescriptorWatch(listener, on: loop) { [weak self] in self?.assumeIsolated { $0.accept() } }
    } catch {
      throw SimulatorError(error.description)
    }
  }

  /// Unplugs all readers and closes the socket.
  package func stop() {
    listening?.cancel()
    listening = nil
    for reader in readers { unplug(reader.attached.id) }
    for number in Array(connections.keys) { disconnect(number) }
    unlink(socket)
  }

  /// Plugs a new reader in. `device` is its number on USB bus 1; nil for the next free one. pcscd sees readers of its
  /// configuration only if they were added before it starts.
  @discardableResult
  package func addReader(
    _ model: CardReaderModel, serial: String? = nil, device: UInt8? = nil
  ) -> AttachedCardReader {
    let id = CardReaderID(number: readers.count)
    let first = slots.count
    for (index, slot) in model.slots.enumerated() {
      slots.append(SimulatedSlot(id: CardSlotID(number: first + index), reader: id, model: model, kind: slot.kind))
    }
    let attached = AttachedCardReader(
      id: id, model: model, slots: slots[first...].map(\.id), slot: CardSlotID(number: first))
    let properties = CardReaderProperties(
      model: model, serial: serial, bus: 1, device: device ?? UInt8(truncatingIfNeeded: readers.count + 10))
    readers.append(Reader(attached: attached, properties: properties))
    return attached
  }

  /// The readers, in the order in which they were added.
  package var attachedReaders: [AttachedCardReader] { readers.map(\.attached) }

  /// The name of a slot in pcscd's list, if pcscd started with all readers in its configuration.
  package func name(of slot: CardSlotID) -> String {
    let number = String(slot.number, radix: 16, uppercase: true)
    return "\(friendlyName(of: slot)) \(number.count < 2 ? "0" : "")\(number) 00"
  }

  /// The name of a slot without the numbers that pcscd appends.
  package func friendlyName(of slot: CardSlotID) -> String {
    let reader = readers[slots[slot.number].reader.number]
    let interface = reader.attached.model.slots[slot.number - reader.attached.slot.number].interfaceName
    return reader.attached.model.friendlyName + (interface.map { " [\($0)]" } ?? "")
      + (reader.properties.serial.map { " (\($0))" } ?? "")
  }

  /// The configuration file with which pcscd loads the driver once for each slot. `library` is the driver's path.
  package func configuration(library: String) -> String {
    slots.map { slot in
      """
      FRIENDLYNAME "\(friendlyName(of: slot.id))"
      DEVICENAME \(socket):\(slot.id)
      LIBPATH \(library)
      CHANNELID \(slot.id.number + 1)

      """
    }.joined()
  }

  /// Puts a card into a slot. Returns the placement, for `remove(_:)`. A reader does not notice a card of a technology
  /// that it does not know, or a second card. Fails if the slot is for another kind of card.
  @discardableResult package func insert(_ card: SimulatedCard, into slot: CardSlotID) throws(SimulatorError) -> TagID {
    guard card.hasContacts == (slots[slot.number].kind == .contact) else {
      throw SimulatorError("\(friendlyName(of: slot)): this slot does not take such a card")
    }
    let id = TagID(number: nextCard)
    nextCard += 1
    activities[id] = Activity()
    latestSlot = slot
    change(slot) { $0.insert(card, as: id) }
    let model = readers[slots[slot.number].reader.number].attached.model
    if looksInIntervals, let delay = model.untilNextLook(at: clock.now) {
      loop.schedule(after: delay) { [weak self] in self?.assumeIsolated { $0.change(slot) { $0.look() } } }
    } else {
      change(slot) { $0.look() }
    }
    return id
  }

  /// Takes a card away and returns it with its current contents; nil if it is in no slot. A card that a fault took away
  /// is returned once.
  @discardableResult package func remove(_ id: TagID) -> SimulatedCard? {
    if let card = takenAway.removeValue(forKey: id) { return card }
    guard let slot = slots.first(where: { $0.cards.contains(id) })?.id else { return nil }
    return change(slot) { $0.remove(id) }
  }

  package func removeAll(from slot: CardSlotID) { for id in cards(in: slot) { remove(id) } }

  /// The cards in a slot; the one that the reader sees is the first.
  package func cards(in slot: CardSlotID) -> [TagID] { slots[slot.number].cards }

  /// Whether pcscd knows that a card is in a slot, and of all removals before.
  package func isReported(in slot: CardSlotID) -> Bool { slots[slot.number].presence.isReported }

  /// A card's whole memory; nil if it is in no slot.
  package func memory(of id: TagID) -> [UInt8]? {
    for slot in slots { if let memory = slot.memory(of: id) { return memory } }
    return takenAway[id]?.memory
  }

  /// Unplugs a reader. The cards stay in it. pcscd forgets the reader only if it was found as a USB device. A reader of
  /// its configuration stays in its list. `plug` makes it work again.
  package func unplug(_ reader: CardReaderID) {
    readers[reader.number].isPluggedIn = false
    for (number, connection) in connections {
      guard let slot = connection.slot, slots[slot.number].reader == reader else { continue }
      disconnect(number)
    }
    for slot in readers[reader.number].attached.slots {
      slots[slot.number].powerDown()
      slots[slot.number].heldAnswer = nil
    }
  }

  /// Plugs a reader in again. `device` is its new number on the USB bus; nil for the old one.
  package func plug(_ reader: CardReaderID, device: UInt8? = nil) {
    readers[reader.number].isPluggedIn = true
    if let device { readers[reader.number].properties.device = device }
  }

  /// Whether the driver passes escape commands on (SCardControl), as libccid does only if its administrator wants it.
  package func allowEscapes(_ allowed: Bool = true, for reader: CardReaderID) {
    readers[reader.number].properties.allowsEscapes = allowed
  }

  /// Makes a slot report its card as another one each time it powers it again, and when a transparent session ends.
  package func renewCards(in slot: CardSlotID) { slots[slot.number].renewsCards = true }

  /// Leaves a slot as libnfc leaves an ACR122U: its own polling is off, and it reports a card that is not there.
  /// `isStuck`: the command that switches polling on has no effect.
  package func switchPollingOff(in slot: CardSlotID, isStuck: Bool = false) {
    change(slot) { $0.switchPollingOff(isStuck: isStuck) }
  }

  /// Lets a recorded reader answer first in a slot, and lets its cards come and go. Call it when the slot is open.
  package func replay(_ recording: TraceReplay, in slot: CardSlotID) {
    slots[slot.number].recording = recording
    followRecording(in: slot)
  }

  /// Carries out the next change of the recorded slots at once. Returns whether there was one.
  @discardableResult package func nextRecordedChange() -> Bool {
    slots.map(\.id).filter { slots[$0.number].recording != nil }.map { slot in
      defer { followRecording(in: slot) }
      return change(slot) { $0.followRecording() }
    }.contains(true)
  }

  /// Schedules the recording's next change, if it is due.
  func followRecording(in slot: CardSlotID) {
    guard let (number, pause) = slots[slot.number].recording?.dueChange, slots[slot.number].scheduledChange != number
    else { return }
    slots[slot.number].scheduledChange = number
    loop.schedule(after: pause) { [weak self] in
      self?.assumeIsolated { readers in
        guard readers.slots[slot.number].recording?.dueChange?.number == number else { return }
        _ = readers.change(slot) { $0.followRecording() }
        readers.followRecording(in: slot)
      }
    }
  }

  /// Every 30 ms, a slot reports a change although there is none, as an ACR122U was seen to do.
  package func makeRestless(_ slot: CardSlotID) {
    guard !slots[slot.number].isRestless else { return }
    slots[slot.number].isRestless = true
    reportNothing(in: slot)
  }

  private func reportNothing(in slot: CardSlotID) {
    guard listening != nil else { return }
    change(slot) { $0.presence.noteNothing() }
    loop.schedule(after: .milliseconds(30)) { [weak self] in self?.assumeIsolated { $0.reportNothing(in: slot) } }
  }

  package func add(_ fault: CardFault, to slot: CardSlotID) { slots[slot.number].faults.add(fault) }

  /// Injects a fault on the air, or of the chip behind the antenna, into a contactless slot. Has no effect elsewhere.
  package func addRadioFault(_ fault: Fault, to slot: CardSlotID) {
    guard var interface = slots[slot.number].interface as? ContactlessInterface else { return }
    interface.chip.radio.faults.add(fault)
    slots[slot.number].interface = interface
  }

  /// Discards the pending faults of a slot. An answer that is held stays held.
  package func clearFaults(of slot: CardSlotID) { slots[slot.number].faults.clear() }

  /// How often faults have struck in a slot since the last `clearFaults`.
  package func strikes(in slot: CardSlotID) -> Int { slots[slot.number].faults.strikes }

  package func isHolding(_ slot: CardSlotID) -> Bool { slots[slot.number].heldAnswer != nil }

  /// Gives the driver the answer that a fault has held.
  package func release(_ slot: CardSlotID) {
    guard let answer = slots[slot.number].heldAnswer else { return }
    slots[slot.number].heldAnswer = nil
    reply(answer, to: slot)
  }

  /// What pcscd had a slot do since the last `resetRecords`, the oldest first.
  package func exchanges(in slot: CardSlotID) -> [CardExchange] { records[slot] ?? [] }

  /// The commands that clients sent while this card was in a slot, pseudo-APDUs for the reader included.
  package func commands(to id: TagID) -> [[UInt8]] { activities[id]?.commands ?? [] }

  /// How often the card was switched on or reset.
  package func powerUps(of id: TagID) -> Int { activities[id]?.powerUps ?? 0 }

  /// Forgets the records of all slots and cards, and the cards that lie in no slot.
  package func resetRecords() {
    records = [:]
    activities = Dictionary(uniqueKeysWithValues: slots.flatMap(\.cards).map { ($0, Activity()) })
  }

  /// Whether the driver has opened every slot of the readers that are plugged in.
  package var areOpen: Bool {
    let open = connections.values.map(\.purpose)
    return slots.allSatisfy { slot in
      !readers[slot.reader.number].isPluggedIn || open.contains(.requests(slot.id)) && open.contains(.events(slot.id))
    }
  }

  /// Waits until `condition` is true. It is checked after each message of the driver, and after each change by a test.
  /// Fails if the task is cancelled, as by the time limit of a test.
  package func wait(until condition: @escaping Condition) async throws(SimulatorError) {
    guard !condition(self) else { return }
    let (number, met) = waiters.add(condition)
    for await _ in met {}
    try waiters.remove(number)
  }

  func resumeWaiters() { waiters.resume(for: self) }

  private func accept() {
    let number = Glibc.accept(listener.rawValue, nil, nil)
    guard number >= 0 else { return }
    let descriptor = FileDescriptor(owning: number)
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    let connection = nextConnection
    nextConnection += 1
    let watch = try? DescriptorWatch(descriptor, on: loop) { [weak self] in
      self?.assumeIsolated { $0.receive(on: connection) }
    }
    guard let watch else { return }
    connections[connection] = DriverConnection(descriptor: descriptor, watch: watch)
  }

  func disconnect(_ number: Int) { connections.removeValue(forKey: number)?.watch.cancel() }
}

/// A virtual reader: a device that can be unplugged.
package struct CardReaderID: Hashable, Sendable, CustomStringConvertible {
  let number: Int

  /// The number of the reader, from 0.
  package var description: String { "\(number)" }
}

/// One slot of a virtual reader. pcscd lists each slot as a reader.
package struct CardSlotID: Hashable, Sendable, CustomStringConvertible {
  let number: Int

  /// The number of the slot among those of all readers, from 0.
  package var description: String { "\(number)" }
}

/// A virtual reader and its slots, in the order of its model.
package struct AttachedCardReader: Hashable, Sendable {
  package let id: CardReaderID
  package let model: CardReaderModel
  package let slots: [CardSlotID]
  /// The first slot, which is the contactless one if the model has one.
  package let slot: CardSlotID
}

/// What pcscd had a virtual reader do.
package struct CardExchange: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of requests that are recorded.
  package enum Kind: Sendable, Hashable {
    /// A command of a client, for the card or for the reader (SCardTransmit).
    case command
    /// A control code (SCardControl).
    case control(UInt32)
    /// The card was switched on or reset. The answer is the answer to reset.
    case powerUp
    /// The card was switched off.
    case powerDown
  }

  package let kind: Kind
  /// The card in the slot; nil if there was none.
  package let card: TagID?
  /// The command, or the data of a control code.
  package let command: [UInt8]
  /// The answer; nil if the request failed, or has not been answered yet.
  package internal(set) var answer: [UInt8]?

  /// Command and answer in hexadecimal digits.
  package var description: String {
    let what =
      switch kind {
      case .command: HexText.string(command)
      case .control(let code): "control \(String(code, radix: 16)) \(HexText.string(command))"
      case .powerUp: "power up"
      case .powerDown: "power down"
      }
    return "\(what) → \(answer.map(HexText.string) ?? "nothing")"
  }
}
