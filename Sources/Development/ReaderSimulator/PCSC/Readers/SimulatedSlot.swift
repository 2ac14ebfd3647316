/// One slot of a virtual reader, with the cards that a test has put there.
struct SimulatedSlot: Sendable {
  let id: CardSlotID
  let reader: CardReaderID
  let kind: CardReaderModel.Slot.Kind
  var interface: any CardInterface
  var faults = CardFaultPlan()
  var presence = CardPresence()
  /// The recorded reader that answers first, and the card that it has in this slot; nil if there is none.
  var recording: TraceReplay?
  /// The number of the recording's change that is due.
  var scheduledChange: Int?
  /// An answer that a fault holds back.
  var heldAnswer: DriverAnswer?
  private(set) var isPowered = false
  /// Whether the reader reports a card as another one when it powers it again, or ends a transparent session.
  var renewsCards = false
  /// The answer to reset of a card that is gone, and that the reader goes on reporting; nil if there is none.
  private var ghost: [UInt8]?
  /// The reader's own polling. Without it, the reader finds no card, and reports one without data.
  private var polling = Polling.on
  /// Whether the reader reports changes all the time.
  var isRestless = false
  /// Whether the card has lost its power since it was found.
  private var hasLostPower = false
  /// The card that the reader has found. Its contents are in `interface`.
  private(set) var current: (id: TagID, card: SimulatedCard)?
  /// Cards that the reader does not see, because it does not know their technology or sees another card.
  private(set) var others: [(id: TagID, card: SimulatedCard)] = []

  enum Polling {
    case on
    case off
    /// The reader does not obey the command that switches it on.
    case stuck
  }

  init(id: CardSlotID, reader: CardReaderID, model: CardReaderModel, kind: CardReaderModel.Slot.Kind) {
    self.id = id
    self.reader = reader
    self.kind = kind
    interface = kind == .contactless ? ContactlessInterface(model: model) : ContactInterface()
  }

  var cards: [TagID] { (current.map { [$0.id] } ?? []) + others.map(\.id) }

  /// The reader sees the card when it looks.
  mutating func insert(_ card: SimulatedCard, as id: TagID) { others.append((id, card)) }

  /// Takes a card away; nil if it is not in this slot.
  mutating func remove(_ id: TagID) -> SimulatedCard? {
    if let index = others.firstIndex(where: { $0.id == id }) { return others.remove(at: index).card }
    guard current?.id == id, let card = takeCurrent() else { return nil }
    look()
    return card
  }

  /// Takes the current card away and puts it back.
  mutating func flicker() {
    guard let id = current?.id, let card = takeCurrent() else { return }
    others.insert((id, card), at: 0)
    look()
  }

  /// Takes the current card away without a report.
  mutating func vanish() {
    ghost = current?.card.answerToReset ?? interface.powerUp()
    _ = interface.take()
  }

  /// As libnfc leaves an ACR122U: with a card that is not there, whose answer to reset is `placeholder`.
  mutating func switchPollingOff(isStuck: Bool) {
    if let id = current?.id, let card = takeCurrent() { others.insert((id, card), at: 0) }
    polling = isStuck ? .stuck : .off
    presence.noteInsertion()
  }

  /// The answer of a reader that does not poll. Only the command that switches polling on is of use (ACR122U API 2.04,
  /// 6.5).
  private mutating func transmitWithoutPolling(_ command: [UInt8]) -> DriverAnswer {
    guard command.count == 5, command[0...2] == [0xFF, 0x00, 0x51], command[3] & 0x80 != 0 else {
      return .success(ResponseStatus.failure)
    }
    guard polling == .off else { return .success([command[3]]) }
    (polling, isPowered) = (.on, false)
    presence.noteRemoval()
    look()
    return .success([0x90, command[3]])
  }

  private static let placeholder: [UInt8] = [0x3B, 0x00]

  /// Carries out the recording's next change. Returns whether there was one.
  mutating func followRecording() -> Bool {
    guard let change = recording?.takeChange() else { return false }
    noteRecording(hasCard: change != .removed)
    return true
  }

  /// The recorded reader has lost its card.
  private mutating func loseRecordedCard() {
    guard recording?.card != nil else { return }
    recording?.loseCard()
    noteRecording(hasCard: false)
  }

  /// Tells pcscd of the recorded card.
  private mutating func noteRecording(hasCard: Bool) {
    isPowered = false
    if hasCard { presence.noteInsertion() } else { presence.noteRemoval() }
  }

  /// Nil if the card is not in this slot.
  func memory(of id: TagID) -> [UInt8]? {
    current?.id == id ? interface.memory : others.first { $0.id == id }?.card.memory
  }

  /// Returns the answer to reset; nil if there is no card or it does not answer.
  mutating func powerUp() -> [UInt8]? {
    guard polling == .on else {
      isPowered = true
      return Self.placeholder
    }
    if let ghost {
      isPowered = true
      return ghost
    }
    if recording?.card != nil {
      _ = interface.powerUp()
      let answer = recording?.powerUp()
      isPowered = answer != nil
      return answer
    }
    guard let current, let answer = interface.powerUp() else { return nil }
    isPowered = true
    if renewsCards && hasLostPower { presence.noteRenewal() }
    hasLostPower = false
    return current.card.answerToReset ?? answer
  }

  mutating func powerDown() {
    interface.powerDown()
    if isPowered { hasLostPower = true }
    isPowered = false
  }

  /// The answer of the card or the reader to a command.
  mutating func transmit(_ command: [UInt8]) -> DriverAnswer {
    // A simulated card executes the command in any case, so that the two can take turns.
    let own = transmitToOwn(command)
    guard let recorded = recording?.answer(to: .transmit(command)) else { return own }
    if recorded.foundNoCard { loseRecordedCard() }
    return DriverAnswer(recorded)
  }

  private mutating func transmitToOwn(_ command: [UInt8]) -> DriverAnswer {
    guard polling == .on else { return transmitWithoutPolling(command) }
    // Nothing is known of a recorded card but its answers.
    guard recording?.card == nil || current != nil else { return .success(ResponseStatus.failure) }
    guard ghost == nil else { return .success(ResponseStatus.failure) }
    guard current != nil, isPowered else { return .failure(.communicationError) }
    let wasInSession = interface.isInSession
    let answer = interface.transmit(command)
    if renewsCards && wasInSession && !interface.isInSession { flicker() }
    return answer
  }

  private mutating func takeCurrent() -> SimulatedCard? {
    guard var card = current?.card else { return nil }
    if let medium = interface.take() { card.medium = medium }
    ghost = nil
    current = nil
    (isPowered, hasLostPower) = (false, false)
    presence.noteRemoval()
    return card
  }

  /// Looks for a card, as a reader does all the time. Of several cards, it sees the first one that it knows.
  mutating func look() {
    guard current == nil, polling == .on else { return }
    for index in others.indices {
      if interface.place(others[index].card.medium, as: others[index].id) {
        current = others.remove(at: index)
        presence.noteInsertion()
        return
      }
      _ = interface.take()
    }
  }
}

/// What pcscd knows about the presence of a card. It learns of each removal, even if the card is back when it asks.
///
/// One thread of pcscd waits for events of the slot, and alone decides whether a card was removed. Threads of clients ask
/// too, before they switch a card on or off. libccid reports a removal only once, to any of them.
struct CardPresence: Sendable {
  /// How many insertions and removals there were.
  private(set) var changes: UInt32 = 0
  private var isPresent = false
  private var hasReportedPresence = false
  /// The last answer to the thread that waits for events.
  private var waitingThreadSeesCard = false
  /// The answers to the thread that waits which still have to report a removal, although the card may be back. At an
  /// event, that thread asks first whether it has to switch the card off, and uses only the second answer.
  private var owedAbsences = 0

  /// Whether the thread that waits for events knows of the card, and no removal has to be reported. A client that has
  /// connected to the card in the meantime does not count: pcscd then does not notice if the card is removed next.
  var isReported: Bool { waitingThreadSeesCard && owedAbsences == 0 }

  /// The next report goes to another pcscd.
  mutating func forgetReports() { (hasReportedPresence, waitingThreadSeesCard, owedAbsences) = (false, false, 0) }

  mutating func noteInsertion() {
    isPresent = true
    changes &+= 1
  }

  mutating func noteRemoval() {
    isPresent = false
    changes &+= 1
    owedAbsences = hasReportedPresence ? 2 : 0
  }

  /// The reader reports a change, and there is none.
  mutating func noteNothing() { changes &+= 1 }

  /// The reader reports the card as another one.
  mutating func noteRenewal() {
    noteRemoval()
    noteInsertion()
  }

  /// Answers a presence check. `changes` is what the answer covers. If `isPresent` was false although a card is there
  /// again, the number of changes is higher after an answer to the thread that waits for events.
  mutating func report(toWaitingThread isWaiting: Bool) -> (isPresent: Bool, changes: UInt32) {
    guard owedAbsences > 0 else {
      if isPresent || isWaiting { hasReportedPresence = isPresent }
      if isWaiting { waitingThreadSeesCard = isPresent }
      return (isPresent, changes)
    }
    guard isWaiting else { return (false, changes) }
    owedAbsences -= 1
    (hasReportedPresence, waitingThreadSeesCard) = (false, false)
    let covered = changes
    if isPresent { changes &+= 1 }
    return (false, covered)
  }
}

/// The part of a reader that a card is in: it finds the card, powers it, and exchanges commands with it.
protocol CardInterface: Sendable {
  /// Puts a card into the slot. Returns whether the reader notices it.
  mutating func place(_ medium: SimulatedCard.Medium, as id: TagID) -> Bool

  /// Takes the card out, with its current contents; nil if there is none.
  mutating func take() -> SimulatedCard.Medium?

  /// Switches the card on, or off and on again. Returns the answer to reset; nil if the card does not answer.
  mutating func powerUp() -> [UInt8]?

  mutating func powerDown()

  mutating func transmit(_ command: [UInt8]) -> DriverAnswer

  /// Whether the card has been taken away during a command.
  var hasLostCard: Bool { get }

  /// Whether a transparent session is open.
  var isInSession: Bool { get }

  /// The card's whole permanent memory; nil if there is no card.
  var memory: [UInt8]? { get }
}

struct ContactInterface: CardInterface {
  private var card: (application: any CardApplication, answerToReset: [UInt8])?

  mutating func place(_ medium: SimulatedCard.Medium, as id: TagID) -> Bool {
    guard case .contact(let application, let answerToReset) = medium else { return false }
    card = (application, answerToReset)
    return true
  }

  mutating func take() -> SimulatedCard.Medium? {
    powerDown()
    defer { card = nil }
    return card.map { .contact($0.application, answerToReset: $0.answerToReset) }
  }

  mutating func powerUp() -> [UInt8]? {
    powerDown()
    return card?.answerToReset
  }

  mutating func powerDown() { card?.application.deselect() }

  mutating func transmit(_ command: [UInt8]) -> DriverAnswer {
    guard let answer = card?.application.respond(to: command) else { return .failure(.communicationError) }
    return .success(answer)
  }

  var hasLostCard: Bool { false }

  var isInSession: Bool { false }

  var memory: [UInt8]? { card?.application.memory }
}

/// A fault to inject into one slot of a virtual reader, once or repeatedly. Commands (SCardTransmit) and power-ups are
/// counted from 1 for the next one. If `times` is nil, all following ones are affected.
package struct CardFault: Sendable, Hashable {
  enum Kind: Hashable {
    case removal(executed: Bool)
    case vanish
    case flicker
    case unplug
    case answer([UInt8], executed: Bool)
    case silence(executed: Bool)
    case hold
    case mute

    /// Whether the fault affects power-ups rather than commands.
    var isOfPower: Bool { self == .mute }
  }

  let kind: Kind
  var number = 1
  var times: Int? = 1

  /// The card is taken away at a command. If `executed`, it still executes the command, and only the answer is lost.
  package static func removal(command: Int = 1, executed: Bool = false) -> CardFault {
    CardFault(kind: .removal(executed: executed), number: command)
  }

  /// The card is taken away at a command, and the reader goes on reporting it. Each command is answered with `63 00`.
  package static func vanish(command: Int = 1) -> CardFault { CardFault(kind: .vanish, number: command) }

  /// The card is taken away at a command and put back at once, as by an unsteady hand.
  package static func flicker(command: Int = 1) -> CardFault { CardFault(kind: .flicker, number: command) }

  /// The reader is unplugged at a command.
  package static func unplug(command: Int = 1) -> CardFault { CardFault(kind: .unplug, number: command) }

  /// The reader answers commands with these two bytes alone: `63 00`, `6A 82`, `6C 10`. If `executed`, the card still
  /// executes the command.
  package static func status(
    _ word: UInt16, command: Int = 1, times: Int? = 1, executed: Bool = false
  ) -> CardFault {
    CardFault(kind: .answer(BigEndian.bytes(word), executed: executed), number: command, times: times)
  }

  /// The reader answers commands with any bytes, and does not execute them. pcscd takes up to 65,538.
  package static func answer(_ bytes: [UInt8], command: Int = 1, times: Int? = 1) -> CardFault {
    CardFault(kind: .answer(bytes, executed: false), number: command, times: times)
  }

  /// The exchange fails: SCARD_E_NOT_TRANSACTED. If `executed`, the card still executes the command.
  package static func silence(command: Int = 1, times: Int? = 1, executed: Bool = false) -> CardFault {
    CardFault(kind: .silence(executed: executed), number: command, times: times)
  }

  /// The answer to a command is held until `release`, or until the reader is unplugged.
  package static func hold(command: Int = 1) -> CardFault { CardFault(kind: .hold, number: command) }

  /// The card does not answer when it is switched on. pcscd reports it as mute.
  package static func mute(powerUp: Int = 1, times: Int? = 1) -> CardFault {
    CardFault(kind: .mute, number: powerUp, times: times)
  }
}

struct CardFaultPlan {
  private var faults: [CardFault] = []
  /// How often a fault has struck since the last `clear`.
  private(set) var strikes = 0

  mutating func add(_ fault: CardFault) { faults.append(fault) }

  mutating func clear() { self = CardFaultPlan() }

  /// The fault that strikes the next command; nil if none does.
  mutating func nextCommand() -> CardFault.Kind? { strike(ofPower: false) }

  /// Whether the card stays mute at the next power-up.
  mutating func nextPowerUpIsMute() -> Bool { strike(ofPower: true) != nil }

  /// Counts one event. If several faults strike, returns the first one.
  private mutating func strike(ofPower: Bool) -> CardFault.Kind? {
    let struck = faults.strike { $0.isOfPower == ofPower }
    strikes += struck.count
    return struck.first
  }
}
