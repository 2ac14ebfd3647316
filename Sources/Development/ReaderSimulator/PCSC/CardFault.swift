/// A fault to inject into one slot of a virtual reader, once or repeatedly. Commands (SCardTransmit) and power-ups are
/// counted from 1 for the next one. If `times` is nil, all following ones are affected.
package struct CardFault: Sendable, Hashable {
  enum Kind: Hashable {
    case removal(executed: Bool)
    case flicker
    case unplug
    case answer([UInt8])
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

  /// The card is taken away at a command and put back at once, as by an unsteady hand.
  package static func flicker(command: Int = 1) -> CardFault { CardFault(kind: .flicker, number: command) }

  /// The reader is unplugged at a command.
  package static func unplug(command: Int = 1) -> CardFault { CardFault(kind: .unplug, number: command) }

  /// The reader answers commands with these two bytes alone, and does not execute them: `63 00`, `6A 82`, `6C 10`.
  package static func status(_ word: UInt16, command: Int = 1, times: Int? = 1) -> CardFault {
    answer(BigEndian.bytes(word), command: command, times: times)
  }

  /// The reader answers commands with any bytes, and does not execute them. pcscd takes up to 65,538.
  package static func answer(_ bytes: [UInt8], command: Int = 1, times: Int? = 1) -> CardFault {
    CardFault(kind: .answer(bytes), number: command, times: times)
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

/// The pending faults of a slot.
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
