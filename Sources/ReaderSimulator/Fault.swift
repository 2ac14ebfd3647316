/// Something that goes wrong, once or from now on.
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

    /// Whether it strikes an exchange on the air, not a command of the host's.
    var isOnAir: Bool {
      switch self {
      case .removal, .tear, .disturbance: true
      default: false
      }
    }
  }

  /// What can happen to one exchange on the air while the tag stays where it is.
  public enum Disturbance: Sendable, Hashable {
    /// The tag does not hear the frame.
    case unheard
    /// The tag hears the frame with bits turned over.
    case garbledCommand
    /// The tag hears the frame and does what it says, but its answer is lost.
    case unanswered
    /// The tag does what it hears, and its answer arrives with bits turned over.
    case garbledAnswer
    /// The answer takes that much longer: where the chip does not wait for it, it is lost.
    case late(Duration)
  }

  let kind: Kind
  /// It strikes at the how-manieth command, answer or exchange from now on.
  var number: Int
  /// How many times it strikes, nil for ever.
  var times: Int? = 1

  /// The chip does not hear the next commands: neither acknowledgement nor answer.
  ///
  /// - Parameters:
  ///   - commands: how many, nil for all from then on.
  ///   - first: the how-manieth from now on is the first of them, from 1.
  /// - Returns: the fault.
  public static func silence(commands: Int? = nil, from first: Int = 1) -> Fault {
    Fault(kind: .silence, number: first, times: commands)
  }

  /// The chip acknowledges a command and then hangs until it is plugged in anew: no answer, no abort, no further
  /// acknowledgement.
  ///
  /// - Parameter command: the how-manieth from now on, from 1.
  /// - Returns: the fault.
  public static func stall(command: Int = 1) -> Fault { Fault(kind: .stall, number: command) }

  /// The line is cut when a command arrives.
  ///
  /// - Parameter command: the how-manieth from now on, from 1.
  /// - Returns: the fault.
  public static func unplug(command: Int = 1) -> Fault { Fault(kind: .unplug, number: command) }

  /// An answer's data checksum is wrong.
  ///
  /// - Parameter command: the how-manieth from now on, from 1.
  /// - Returns: the fault.
  public static func corruptChecksum(command: Int = 1) -> Fault { Fault(kind: .corruptChecksum, number: command) }

  /// The answer to a command is the one to the command before it, once more.
  ///
  /// - Parameter command: the how-manieth from now on, from 1.
  /// - Returns: the fault.
  public static func staleAnswer(command: Int = 1) -> Fault { Fault(kind: .staleAnswer, number: command) }

  /// An answer is well formed and holds only the first half of what it should.
  ///
  /// - Parameter command: the how-manieth from now on, from 1.
  /// - Returns: the fault.
  public static func shortAnswer(command: Int = 1) -> Fault { Fault(kind: .shortAnswer, number: command) }

  /// An answer breaks off half-way: the rest of its frame never comes.
  ///
  /// - Parameter command: the how-manieth from now on, from 1.
  /// - Returns: the fault.
  public static func brokenOff(command: Int = 1) -> Fault { Fault(kind: .brokenOff, number: command) }

  /// The chip answers the next commands with an error frame, and does nothing.
  ///
  /// - Parameters:
  ///   - commands: how many, nil for all from now on.
  ///   - exchangesOnly: only those that send something to a tag.
  /// - Returns: the fault.
  public static func refusal(commands: Int? = nil, exchangesOnly: Bool = false) -> Fault {
    Fault(kind: .refusal(exchangesOnly: exchangesOnly), number: 1, times: commands)
  }

  /// A command whose answer has a status byte (exchanges, selects, releases, PowerDown) fails with this one, and
  /// nothing goes on the air. libnfc ends its process where bit 7 is set.
  ///
  /// - Parameters:
  ///   - status: the status byte.
  ///   - command: the how-manieth of those commands from now on, from 1.
  ///   - times: how many of them fail, nil for all from then on.
  /// - Returns: the fault.
  public static func status(_ status: UInt8, command: Int = 1, times: Int? = 1) -> Fault {
    Fault(kind: .status(status), number: command, times: times)
  }

  /// An answer comes late.
  ///
  /// - Parameters:
  ///   - delay: by how much.
  ///   - command: the how-manieth from now on, from 1.
  /// - Returns: the fault.
  public static func delay(_ delay: Duration, command: Int = 1) -> Fault {
    Fault(kind: .delay(delay), number: command)
  }

  /// Every tag is taken away at an exchange.
  ///
  /// - Parameters:
  ///   - exchange: the how-manieth from now on, from 1.
  ///   - heard: whether the tag still hears the frame (a WRITE is done, say) and only its answer is lost.
  /// - Returns: the fault.
  public static func removal(exchange: Int = 1, heard: Bool = false) -> Fault {
    Fault(kind: .removal(heard: heard), number: exchange)
  }

  /// Every tag is taken away while it programs what an exchange has it write. One that has nothing to program hears the frame
  /// and is taken away.
  ///
  /// - Parameters:
  ///   - exchange: the how-manieth from now on, from 1.
  ///   - tear: how far it gets.
  /// - Returns: the fault.
  public static func tear(exchange: Int = 1, _ tear: WriteTear) -> Fault {
    Fault(kind: .tear(tear), number: exchange)
  }

  /// Something happens on the air. The chip says with the status of its answer that it got nothing (01) or something broken (02,
  /// 13), once it has tried again: where the host has told it to by RFConfiguration (MaxRtyCOM), and to an ISO-DEP card as the
  /// protocol demands.
  ///
  /// - Parameters:
  ///   - disturbance: what happens.
  ///   - exchange: the how-manieth from now on, from 1; the chip's own tries count.
  ///   - times: to how many in a row.
  /// - Returns: the fault.
  public static func radio(_ disturbance: Disturbance, exchange: Int = 1, times: Int = 1) -> Fault {
    Fault(kind: .disturbance(disturbance), number: exchange, times: times)
  }
}

/// The faults that are still to come.
struct FaultPlan {
  /// What is wrong with one command.
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

  /// What is wrong with one exchange on the air.
  enum RadioEffect: Equatable {
    case removal(heard: Bool)
    case tear(WriteTear)
    case disturbance(Fault.Disturbance)
  }

  private var faults: [Fault] = []
  /// How often one has struck since they were cleared.
  private(set) var strikes = 0

  mutating func add(_ fault: Fault) { faults.append(fault) }

  mutating func clear() { self = FaultPlan() }

  /// - Parameter command: the command; nil where it is none of the chip's.
  /// - Returns: what goes wrong with it.
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

  /// - Returns: nil where all goes well.
  mutating func nextExchange() -> RadioEffect? {
    switch strike(where: \.kind.isOnAir).first?.kind {
    case .removal(let heard): .removal(heard: heard)
    case .tear(let tear): .tear(tear)
    case .disturbance(let disturbance): .disturbance(disturbance)
    default: nil
    }
  }

  /// Counts one event for every fault that `counts` picks, and takes those whose turn it is.
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
