/// How long a reader process may take for what it does, and who waits for it how long: every number of that kind, and why.
///
/// A chip that answers does so within milliseconds. What is bounded here is a chip that does not, or late: libnfc cannot be
/// interrupted while it waits, and who ends a process too early leaves its field on, or starts a working reader anew.
public struct ReaderTiming: Sendable, Hashable {
  /// What libnfc is told to wait for the chip at most, in each step of a command.
  public static let longestWait = Duration.milliseconds(700)
  /// How often a process that works says that it lives.
  public static let beatInterval = Duration.milliseconds(400)
  /// A sleep that beats before and after it cover without a word of its own.
  public static let shortSleep = Duration.milliseconds(200)
  /// What the daemon adds to the time that a process names for its next word: the machine may be busy.
  public static let grace = Duration.milliseconds(400)
  /// From the field's coming on, to look for tags, to the next time, where nothing else is configured.
  public static let pollInterval = Duration.milliseconds(125)
  /// The same where nothing has happened for minutes.
  public static let idlePollInterval = Duration.milliseconds(250)
  /// The longest pause between two looks that can be configured.
  public static let longestPause = Duration.seconds(10)
  /// The longest time for its next word that a process is allowed to name: a pause, and a command of the slowest driver.
  public static let longestPromise = Duration.seconds(20)
  /// How long a process may take from its start to its first word.
  public static let start = Duration.seconds(5)
  /// How long a process that sleeps may take to answer a command: it says that it lives before it does anything.
  public static let answer = Duration.seconds(1)
  /// What libnfc is told to wait where no tag has to answer first: for a look, or the chip alone.
  public static let shortWait = Duration.milliseconds(400)
  /// How long a process may take to end once it is told, all in all, as long as it goes on saying that it lives: the exchange
  /// that is under way, closing, and opening again where the chip has not switched its field off. A good one takes milliseconds.
  /// With `kill` and what the bus takes it stays far below the 90 seconds that systemd gives a service (`TimeoutStopSec`).
  public static let stop = Duration.seconds(15)
  /// How long an operation on a tag of a reader session may take.
  public static let operation = Duration.seconds(30)
  /// How long a killed process is waited for in the end. One that is inside of a driver that hangs dies only when that
  /// returns, which may be never.
  public static let kill = Duration.seconds(2)
  /// After how many seconds a process is gone that got SIGTERM, or whose daemon is gone, where it is stuck in what it was doing then:
  /// more than it may have promised.
  public static var secondsAfterSignal: UInt32 { secondsUntilAlarm(longestPromise) }

  /// After how many seconds such a process is stuck that has begun something which takes `promise` at most.
  ///
  /// All of its way to the end has no number: a command that fails, closing, opening again and closing take an ACR122U 30 seconds,
  /// which is more than `stop`, and each of them may come late without anything being stuck.
  public static func secondsUntilAlarm(_ promise: Duration) -> UInt32 {
    UInt32(clamping: Int(((promise + grace) / .seconds(1)).rounded(.up)))
  }

  /// The most that libnfc may take for one command to the chip.
  public let command: Duration
  /// The most that it may take to open the device and set the chip up.
  public let opening: Duration
  /// The most that switching the field off and closing the device may take.
  public let closing: Duration

  /// - Parameter device: a libnfc connection string; nil is a device that libnfc is to find, of whichever driver.
  public init(device: String?) {
    // Read in libnfc 1.8.0: what a driver waits for in turn, each time up to `longestWait` (W) or its own second.
    switch device.map({ $0.prefix { $0 != ":" } }) {
    case "acr122_usb", nil:
      // W to write and W for an empty packet, W to read; a second to write and one to read for an answer in two parts
      // (acr122_usb_send_apdu), and as much to cancel a command that failed (acr122_usb_ack), which closing does, too. Opening
      // resets the port, switches a card on and sets the reader up before the chip hears its first command.
      self.init(command: Self.longestWait * 3 + .seconds(4), opening: .seconds(12), closing: .seconds(6))
    case "pn53x_usb":
      // W each to write, for the acknowledgement, to refuse it and to read; a second to cancel (pn53x_usb_ack).
      self.init(command: Self.longestWait * 4 + .seconds(1), opening: .seconds(8), closing: .seconds(4))
    default:
      // On a serial line, SPI or I2C: W for the acknowledgement and W for the answer. Opening a silent chip takes 1.4 s.
      self.init(command: Self.longestWait * 2, opening: .seconds(5), closing: .seconds(2))
    }
  }

  private init(command: Duration, opening: Duration, closing: Duration) {
    self.command = command
    self.opening = opening
    self.closing = closing
  }

  /// What a heartbeat promises: one is sent before a command where the last is `beatInterval` old, or before a short sleep.
  public var promise: Duration { Self.beatInterval + Self.shortSleep + command }

  /// How long a process with a device may look for tags, or not, against what it was told: the command that is under way, and
  /// closing the device where that one fails.
  public var obedience: Duration { command + closing }

  /// How long a process may take to break an operation off: an exchange with a tag that is slow, or that has much to say, is one command
  /// to libnfc, and is promised as such.
  public var breakingOff: Duration { obedience + Self.longestPromise }
}
