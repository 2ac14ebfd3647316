/// A fault to inject into the simulated reader, once or repeatedly. Commands, answers and exchanges are counted from 1
/// for the next one. If `commands` or `times` is nil, all following ones are affected.
package struct Fault: Sendable, Hashable {
  enum Kind: Hashable {
    case silence
    case stall
    case unplug
    case corruptChecksum
    case staleAnswer
    case fallBehind
    case shortAnswer
    case brokenOff
    case refusal(exchangesOnly: Bool)
    case status(UInt8)
    case delay(Duration)
    case removal(heard: Bool)
    case tear(WriteTear)
    case disturbance(Disturbance)

    /// Whether the fault affects an exchange on the air rather than a command from the host.
    var isOnAir: Bool {
      switch self {
      case .removal, .tear, .disturbance: true
      default: false
      }
    }

    var isRefusal: Bool { if case .refusal = self { true } else { false } }
    var failingStatus: UInt8? { if case .status(let status) = self { status } else { nil } }
    var addedDelay: Duration { if case .delay(let delay) = self { delay } else { .zero } }
  }

  /// A disturbance of one exchange on the air. The tag stays in place.
  package enum Disturbance: Sendable, Hashable {
    /// The tag does not receive the frame.
    case unheard
    /// The tag receives the frame with inverted bits.
    case garbledCommand
    /// The tag executes the command, but its answer is lost.
    case unanswered
    /// The tag executes the command, but its answer arrives with inverted bits.
    case garbledAnswer
    /// The answer is delayed by this time. If the chip's timeout expires first, the answer is lost.
    case late(Duration)
  }

  let kind: Kind
  /// The first command, answer or exchange that the fault affects, counted from 1 for the next one.
  var number: Int
  /// How many times the fault strikes; nil for no limit.
  var times: Int? = 1

  /// The chip ignores commands: it sends neither an acknowledgement nor an answer.
  package static func silence(commands: Int? = nil, from first: Int = 1) -> Fault {
    Fault(kind: .silence, number: first, times: commands)
  }

  /// The chip acknowledges a command and then hangs until it is plugged in again. It sends no answer and no further
  /// acknowledgement, and does not react to an abort.
  package static func stall(command: Int = 1) -> Fault { Fault(kind: .stall, number: command) }

  /// The line is cut when a command arrives.
  package static func unplug(command: Int = 1) -> Fault { Fault(kind: .unplug, number: command) }

  /// The data checksum of an answer is wrong.
  package static func corruptChecksum(command: Int = 1) -> Fault { Fault(kind: .corruptChecksum, number: command) }

  /// The chip answers a command with its previous answer.
  package static func staleAnswer(command: Int = 1) -> Fault { Fault(kind: .staleAnswer, number: command) }

  /// From a command on, each answer is that of the command before, until the chip loses its power.
  package static func fallBehind(command: Int = 1) -> Fault { Fault(kind: .fallBehind, number: command) }

  /// An answer is well formed but holds only the first half of its data.
  package static func shortAnswer(command: Int = 1) -> Fault { Fault(kind: .shortAnswer, number: command) }

  /// An answer breaks off half-way. The chip never sends the rest of the frame.
  package static func brokenOff(command: Int = 1) -> Fault { Fault(kind: .brokenOff, number: command) }

  /// The chip answers commands, or only those that send data to a tag, with an error frame and does not execute them.
  package static func refusal(commands: Int? = nil, exchangesOnly: Bool = false) -> Fault {
    Fault(kind: .refusal(exchangesOnly: exchangesOnly), number: 1, times: commands)
  }

  /// A command fails with this status byte, and the chip sends no frame on the air. Only commands with a status byte in
  /// their answer are affected: exchanges, selects, releases, PowerDown. If bit 7 is set, libnfc ends its process. The
  /// first affected one is the `command`th of those.
  package static func status(_ status: UInt8, command: Int = 1, times: Int? = 1) -> Fault {
    Fault(kind: .status(status), number: command, times: times)
  }

  /// An answer is delayed.
  package static func delay(_ delay: Duration, command: Int = 1) -> Fault {
    Fault(kind: .delay(delay), number: command)
  }

  /// Every tag is removed during an exchange. If `heard`, the tags still execute the command (a WRITE, for example), so
  /// that only the answer is lost.
  package static func removal(exchange: Int = 1, heard: Bool = false) -> Fault {
    Fault(kind: .removal(heard: heard), number: exchange)
  }

  /// Every tag is removed while it programs the data of a write. A tag that is not writing executes the command and is
  /// then removed.
  package static func tear(exchange: Int = 1, _ tear: WriteTear) -> Fault { Fault(kind: .tear(tear), number: exchange) }

  /// `times` exchanges in a row on the air are disturbed; the chip's own retries are exchanges too. The status in the
  /// chip's answer reports a missing answer (01) or a broken one (02, 13), after the chip has retried. The chip retries
  /// if the host set MaxRtyCOM with RFConfiguration, and with an ISO-DEP card as the protocol demands.
  package static func radio(_ disturbance: Disturbance, exchange: Int = 1, times: Int = 1) -> Fault {
    Fault(kind: .disturbance(disturbance), number: exchange, times: times)
  }
}

struct FaultPlan {
  private var faults: [Fault] = []
  /// How often a fault has struck since the last `clear`.
  private(set) var strikes = 0

  mutating func add(_ fault: Fault) { faults.append(fault) }

  mutating func clear() { self = FaultPlan() }

  /// The faults that strike a command, which is nil if the chip does not know its code.
  mutating func nextCommand(_ command: PN532Command?) -> [Fault.Kind] {
    strike { kind in
      switch kind {
      case .status: command?.answersWithStatus ?? false
      case .refusal(exchangesOnly: true): command == .inDataExchange || command == .inCommunicateThru
      default: !kind.isOnAir
      }
    }
  }

  /// The fault that strikes an exchange on the air; nil if none does.
  mutating func nextExchange() -> Fault.Kind? { strike { $0.isOnAir }.first }

  private mutating func strike(where counts: (Fault.Kind) -> Bool) -> [Fault.Kind] {
    let struck = faults.strike(where: counts)
    strikes += struck.count
    return struck
  }
}

/// A fault that strikes at the event with this number, counted from 1, and at the next ones.
protocol CountedFault {
  associatedtype Kind

  var kind: Kind { get }
  var number: Int { get set }
  /// How often it strikes; nil for always.
  var times: Int? { get set }
}

extension Fault: CountedFault {}
extension CardFault: CountedFault {}

extension Array where Element: CountedFault {
  /// Counts one event for each fault that `counts` selects. Returns the faults that strike at this event.
  mutating func strike(where counts: (Element.Kind) -> Bool) -> [Element.Kind] {
    var struck: [Element.Kind] = []
    var remaining: [Element] = []
    for var fault in self {
      if counts(fault.kind) {
        if fault.number > 1 {
          fault.number -= 1
        } else {
          struck.append(fault.kind)
          if fault.times ?? .max <= 1 { continue }
          fault.times = fault.times.map { $0 - 1 }
        }
      }
      remaining.append(fault)
    }
    self = remaining
    return struck
  }
}
