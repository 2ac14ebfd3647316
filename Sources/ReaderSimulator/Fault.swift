/// A fault to inject into the simulated reader, once or repeatedly.
public struct Fault: Sendable, Hashable {
  enum Kind: Hashable {
    case silence
    case stall
    case unplug
    case corruptChecksum
    case staleAnswer
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
  }

  /// A disturbance of one exchange on the air. The tag stays in place.
  public enum Disturbance: Sendable, Hashable {
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
  ///
  /// - Parameters:
  ///   - commands: how many commands it ignores; nil for all following ones.
  ///   - first: the first ignored command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func silence(commands: Int? = nil, from first: Int = 1) -> Fault {
    Fault(kind: .silence, number: first, times: commands)
  }

  /// The chip acknowledges a command and then hangs until it is plugged in again. It sends no answer and no further
  /// acknowledgement, and does not react to an abort.
  ///
  /// - Parameter command: the affected command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func stall(command: Int = 1) -> Fault { Fault(kind: .stall, number: command) }

  /// The line is cut when a command arrives.
  ///
  /// - Parameter command: the affected command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func unplug(command: Int = 1) -> Fault { Fault(kind: .unplug, number: command) }

  /// The data checksum of an answer is wrong.
  ///
  /// - Parameter command: the affected command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func corruptChecksum(command: Int = 1) -> Fault { Fault(kind: .corruptChecksum, number: command) }

  /// The chip answers a command with its previous answer.
  ///
  /// - Parameter command: the affected command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func staleAnswer(command: Int = 1) -> Fault { Fault(kind: .staleAnswer, number: command) }

  /// An answer is well formed but holds only the first half of its data.
  ///
  /// - Parameter command: the affected command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func shortAnswer(command: Int = 1) -> Fault { Fault(kind: .shortAnswer, number: command) }

  /// An answer breaks off half-way. The chip never sends the rest of the frame.
  ///
  /// - Parameter command: the affected command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func brokenOff(command: Int = 1) -> Fault { Fault(kind: .brokenOff, number: command) }

  /// The chip answers commands with an error frame and does not execute them.
  ///
  /// - Parameters:
  ///   - commands: how many commands are affected; nil for all following ones.
  ///   - exchangesOnly: whether only commands that send data to a tag are affected.
  /// - Returns: the fault.
  public static func refusal(commands: Int? = nil, exchangesOnly: Bool = false) -> Fault {
    Fault(kind: .refusal(exchangesOnly: exchangesOnly), number: 1, times: commands)
  }

  /// A command fails with this status byte, and the chip sends no frame on the air. Only commands with a status byte in
  /// their answer are affected: exchanges, selects, releases, PowerDown. If bit 7 is set, libnfc ends its process.
  ///
  /// - Parameters:
  ///   - status: the status byte.
  ///   - command: the first affected one of those commands, counted from 1 for the next one.
  ///   - times: how many of them fail; nil for all following ones.
  /// - Returns: the fault.
  public static func status(_ status: UInt8, command: Int = 1, times: Int? = 1) -> Fault {
    Fault(kind: .status(status), number: command, times: times)
  }

  /// An answer is delayed.
  ///
  /// - Parameters:
  ///   - delay: the additional time before the answer.
  ///   - command: the affected command, counted from 1 for the next one.
  /// - Returns: the fault.
  public static func delay(_ delay: Duration, command: Int = 1) -> Fault {
    Fault(kind: .delay(delay), number: command)
  }

  /// Every tag is removed during an exchange.
  ///
  /// - Parameters:
  ///   - exchange: the affected exchange, counted from 1 for the next one.
  ///   - heard: whether the tags still execute the command (a WRITE, for example), so that only the answer is lost.
  /// - Returns: the fault.
  public static func removal(exchange: Int = 1, heard: Bool = false) -> Fault {
    Fault(kind: .removal(heard: heard), number: exchange)
  }

  /// Every tag is removed while it programs the data of a write. A tag that is not writing executes the command and is
  /// then removed.
  ///
  /// - Parameters:
  ///   - exchange: the affected exchange, counted from 1 for the next one.
  ///   - tear: how much of the write is programmed.
  /// - Returns: the fault.
  public static func tear(exchange: Int = 1, _ tear: WriteTear) -> Fault {
    Fault(kind: .tear(tear), number: exchange)
  }

  /// Exchanges on the air are disturbed. The status in the chip's answer reports a missing answer (01) or a broken one
  /// (02, 13), after the chip has retried. The chip retries if the host set MaxRtyCOM with RFConfiguration, and with an
  /// ISO-DEP card as the protocol demands.
  ///
  /// - Parameters:
  ///   - disturbance: the kind of disturbance.
  ///   - exchange: the first affected exchange, counted from 1 for the next one. The chip's own retries are included.
  ///   - times: how many exchanges in a row are affected.
  /// - Returns: the fault.
  public static func radio(_ disturbance: Disturbance, exchange: Int = 1, times: Int = 1) -> Fault {
    Fault(kind: .disturbance(disturbance), number: exchange, times: times)
  }
}

/// The pending faults.
struct FaultPlan {
  /// The effects of the faults on one command.
  struct Effects {
    var isSilent = false
    var stalls = false
    var unplugs = false
    var corruptsChecksum = false
    var isStale = false
    var isShort = false
    var breaksOff = false
    var isRefused = false
    var status: UInt8?
    var delay: Duration = .zero
  }

  /// The effect of a fault on one exchange on the air.
  enum RadioEffect: Equatable {
    case removal(heard: Bool)
    case tear(WriteTear)
    case disturbance(Fault.Disturbance)
  }

  private var faults: [Fault] = []
  /// How often a fault has struck since the last `clear`.
  private(set) var strikes = 0

  mutating func add(_ fault: Fault) { faults.append(fault) }

  mutating func clear() { self = FaultPlan() }

  /// - Parameter command: the command; nil if the chip does not know its code.
  /// - Returns: the effects of the faults on the command.
  mutating func nextCommand(_ command: PN532Command?) -> Effects {
    let isExchange = command == .inDataExchange || command == .inCommunicateThru
    var effects = Effects()
    let struck = strike { fault in
      switch fault.kind {
      case .status: command?.answersWithStatus ?? false
      case .refusal(exchangesOnly: true): isExchange
      default: !fault.kind.isOnAir
      }
    }
    for fault in struck {
      switch fault.kind {
      case .silence: effects.isSilent = true
      case .stall: effects.stalls = true
      case .unplug: effects.unplugs = true
      case .corruptChecksum: effects.corruptsChecksum = true
      case .staleAnswer: effects.isStale = true
      case .shortAnswer: effects.isShort = true
      case .brokenOff: effects.breaksOff = true
      case .refusal: effects.isRefused = true
      case .status(let status): effects.status = status
      case .delay(let delay): effects.delay += delay
      case .removal, .tear, .disturbance: break
      }
    }
    return effects
  }

  /// - Returns: nil if no fault strikes.
  mutating func nextExchange() -> RadioEffect? {
    switch strike(where: \.kind.isOnAir).first?.kind {
    case .removal(let heard): .removal(heard: heard)
    case .tear(let tear): .tear(tear)
    case .disturbance(let disturbance): .disturbance(disturbance)
    default: nil
    }
  }

  /// Counts one event for each fault that `counts` selects, and returns the faults that strike at this event.
  private mutating func strike(where counts: (Fault) -> Bool) -> [Fault] {
    var struck: [Fault] = []
    var remaining: [Fault] = []
    for var fault in faults {
      guard counts(fault) else {
        remaining.append(fault)
        continue
      }
      guard fault.number <= 1 else {
        fault.number -= 1
        remaining.append(fault)
        continue
      }
      struck.append(fault)
      guard let times = fault.times else {
        remaining.append(fault)
        continue
      }
      guard times > 1 else { continue }
      fault.times = times - 1
      remaining.append(fault)
    }
    faults = remaining
    strikes += struck.count
    return struck
  }
}
