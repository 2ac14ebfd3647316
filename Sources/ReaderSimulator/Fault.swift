/// Something that goes wrong, once or from now on.
public struct Fault: Sendable, Hashable {
  enum Kind: Hashable {
    case silence
    case stall
    case unplug
    case corruptChecksum
    case staleAnswer
    case status(UInt8)
    case delay(Duration)
    case removal(heard: Bool)
  }

  let kind: Kind
  /// It strikes at the how-manieth command, answer or exchange from now on.
  var number: Int
  /// How many times it strikes, nil for ever.
  var times: Int? = 1

  /// The chip does not hear the next commands: neither acknowledgement nor answer.
  ///
  /// - Parameter commands: how many, nil for all from now on.
  /// - Returns: the fault.
  public static func silence(commands: Int? = nil) -> Fault { Fault(kind: .silence, number: 1, times: commands) }

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

  /// A command whose answer has a status byte (exchanges, selects, releases, PowerDown) fails with this one, and
  /// nothing goes on the air. libnfc ends its process where bit 7 is set.
  ///
  /// - Parameters:
  ///   - status: the status byte.
  ///   - command: the how-manieth of those commands from now on, from 1.
  /// - Returns: the fault.
  public static func status(_ status: UInt8, command: Int = 1) -> Fault {
    Fault(kind: .status(status), number: command)
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
    var status: UInt8?
    var delay: Duration = .zero
  }

  private var faults: [Fault] = []

  mutating func add(_ fault: Fault) { faults.append(fault) }

  mutating func clear() { faults = [] }

  /// - Parameter hasStatus: whether the command's answer has a status byte.
  /// - Returns: what goes wrong with it.
  mutating func nextCommand(hasStatus: Bool) -> Effects {
    var effects = Effects()
    let struck = strike { fault in
      switch fault.kind {
      case .removal: false
      case .status: hasStatus
      default: true
      }
    }
    for fault in struck {
      switch fault.kind {
      case .silence: effects.isSilent = true
      case .stall: effects.stalls = true
      case .unplug: effects.unplugs = true
      case .corruptChecksum: effects.corruptsChecksum = true
      case .staleAnswer: effects.isStale = true
      case .status(let status): effects.status = status
      case .delay(let delay): effects.delay += delay
      case .removal: break
      }
    }
    return effects
  }

  /// - Returns: nil where the tags stay; else whether they still hear the frame.
  mutating func nextExchange() -> Bool? {
    let struck = strike { if case .removal = $0.kind { true } else { false } }
    guard case .removal(let heard)? = struck.first?.kind else { return nil }
    return heard
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
    return struck
  }
}
