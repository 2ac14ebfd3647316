/// One slot of a virtual reader, with the cards that a test has put there.
struct CardSlot: Sendable {
  let id: CardSlotID
  let reader: CardReaderID
  let kind: CardReaderModel.Slot.Kind
  var interface: any CardInterface
  var faults = CardFaultPlan()
  var presence = CardPresence()
  /// An answer that a fault holds back.
  var heldAnswer: DriverAnswer?
  private(set) var isPowered = false
  /// Whether the reader reports a card as another one when it powers it again, or ends a transparent session.
  var renewsCards = false
  /// Whether the card has lost its power since it was found.
  private var hasLostPower = false
  /// The card that the reader has found. Its contents are in `interface`.
  private(set) var current: (id: TagID, card: SimulatedCard)?
  /// Cards that the reader does not see, because it knows their technology not or sees another card.
  private(set) var others: [(id: TagID, card: SimulatedCard)] = []

  init(id: CardSlotID, reader: CardReaderID, model: CardReaderModel, kind: CardReaderModel.Slot.Kind) {
    self.id = id
    self.reader = reader
    self.kind = kind
    interface = kind == .contactless ? ContactlessInterface(model: model) : ContactInterface()
  }

  var cards: [TagID] { (current.map { [$0.id] } ?? []) + others.map(\.id) }

  mutating func insert(_ card: SimulatedCard, as id: TagID) {
    others.append((id, card))
    look()
  }

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

  /// The memory of a card; nil if it is not in this slot.
  func memory(of id: TagID) -> [UInt8]? {
    current?.id == id ? interface.memory : others.first { $0.id == id }?.card.memory
  }

  /// Returns the answer to reset; nil if there is no card or it does not answer.
  mutating func powerUp() -> [UInt8]? {
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
    guard current != nil, isPowered else { return .failure(.communicationError) }
    let wasInSession = interface.isInSession
    let answer = interface.transmit(command)
    if renewsCards && wasInSession && !interface.isInSession { flicker() }
    return answer
  }

  private mutating func takeCurrent() -> SimulatedCard? {
    guard var card = current?.card else { return nil }
    if let medium = interface.take() { card.medium = medium }
    current = nil
    (isPowered, hasLostPower) = (false, false)
    presence.noteRemoval()
    return card
  }

  /// Looks for a card, as a reader does all the time. Of several cards, it sees the first one that it knows.
  private mutating func look() {
    guard current == nil else { return }
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

  /// Forgets what was reported: the next report goes to another pcscd.
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
