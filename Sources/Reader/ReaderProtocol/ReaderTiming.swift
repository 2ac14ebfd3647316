/// The time limits of a reader process, how long the daemon waits for it, and the reason for each number.
///
/// A chip that answers does so within milliseconds. The limits are for a chip that answers late or not at all. libnfc
/// cannot be interrupted while it waits, and its thread has the link, too. Ending a process too early leaves its field
/// on, or restarts a working reader.
package struct ReaderTiming: Sendable, Hashable {
  /// The longest time that libnfc may wait for the chip, in each step of a command.
  package static let longestWait = Duration.milliseconds(700)
  /// How often a working process sends a heartbeat.
  package static let beatInterval = Duration.milliseconds(400)
  /// It needs no heartbeat of its own, because the heartbeats before and after cover it.
  package static let shortSleep = Duration.milliseconds(200)
  /// The daemon adds this to the time that a process promises for its next message, because the machine may be busy.
  package static let grace = Duration.milliseconds(400)
  /// The default time between two polls: from the moment at which the field comes on to the next such moment.
  package static let pollInterval = Duration.milliseconds(125)
  /// The same after minutes without a change.
  package static let idlePollInterval = Duration.milliseconds(250)
  package static let longestPause = Duration.seconds(10)
  /// The longest time that a process may promise for its next message: a pause, and a command of the slowest driver.
  package static let longestPromise = Duration.seconds(20)
  /// How long a process may take from its start to its first message.
  package static let start = Duration.seconds(5)
  /// How long a sleeping process may take to answer a command. It sends a heartbeat before it does anything else.
  package static let answer = Duration.seconds(1)
  /// How long libnfc may wait if no tag has to answer first: during a poll, or for the chip alone.
  package static let shortWait = Duration.milliseconds(400)
  /// How long a process may take to exit after it was asked to, if its heartbeats continue. This covers the current
  /// exchange, closing the device, and opening it again if the chip has not turned its field off. A good process takes
  /// milliseconds. With `kill` and the time for the bus, this is far below the 90 seconds that systemd gives a service
  /// (`TimeoutStopSec`).
  package static let stop = Duration.seconds(15)
  /// On a tag of a reader session.
  package static let operation = Duration.seconds(30)
  /// How long the daemon finally waits for a killed process. A process inside a driver that hangs dies only when the
  /// driver returns, which may be never.
  package static let kill = Duration.seconds(2)
  /// The seconds until the alarm ends a process that got SIGTERM, or lost its daemon, and is stuck in its work of that
  /// moment. This is more than the process may have promised.
  package static var secondsAfterSignal: UInt32 { secondsUntilAlarm(longestPromise) }

  /// The seconds until the alarm ends such a process if it has started work that takes at most `promise`.
  ///
  /// There is no limit for the complete exit. With an ACR122U, a failing command, closing, opening again and closing
  /// take 30 seconds. That is more than `stop`, and each step may be late although the process is not stuck.
  package static func secondsUntilAlarm(_ promise: Duration) -> UInt32 {
    UInt32(clamping: Int(((promise + grace) / .seconds(1)).rounded(.up)))
  }

  /// The longest time that libnfc may take for one command to the chip.
  package let command: Duration
  /// The longest time for opening the device and setting the chip up.
  package let opening: Duration
  /// The longest time for turning the field off and closing the device.
  package let closing: Duration

  /// `pn532_uart:/dev/ttyUSB0` or `pcsc:NAME`; nil for a device of any of libnfc's drivers.
  package init(device: String?) {
    // From the source of libnfc 1.8.0: each driver waits in several steps, each for up to `longestWait` (W) or its own
    // second.
    switch device.map({ $0.prefix { $0 != ":" } }) {
    case "acr122_usb", nil:
      // W to write, W for an empty packet and W to read. An answer in two parts takes a second to write and one to read
      // (acr122_usb_send_apdu). Cancelling a failed command takes as much (acr122_usb_ack), and closing also cancels.
      // Opening resets the port, switches a card on and sets the reader up before the chip gets its first command.
      self.init(command: Self.longestWait * 3 + .seconds(4), opening: .seconds(12), closing: .seconds(6))
    case "pn53x_usb":
      // W each to write, for the acknowledgement, to reject it and to read; a second to cancel (pn53x_usb_ack).
      self.init(command: Self.longestWait * 4 + .seconds(1), opening: .seconds(8), closing: .seconds(4))
    case "pcsc":
      // pcscd can take any time: it waits for the reader, and for another program's transaction. So another thread makes
      // each call, and the one with the link sends heartbeats meanwhile. These limits are for what remains: a second is
      // far more than any step between two looks at the link takes. Opening includes the start of pcscd by its socket,
      // closing the wait for a call that ends by itself.
      self.init(command: .seconds(1), opening: .seconds(5), closing: .seconds(2))
    default:
      // On a serial line, SPI or I2C: W for the acknowledgement and W for the answer. A silent chip takes 1.4 s
      // to open. On a serial line, looking for it at other rates takes 0.4 s, and raising its rate at most 1.5 s.
      self.init(command: Self.longestWait * 2, opening: .seconds(5), closing: .seconds(2))
    }
  }

  private init(command: Duration, opening: Duration, closing: Duration) {
    self.command = command
    self.opening = opening
    self.closing = closing
  }

  /// The time that a heartbeat promises. A process sends one before a short sleep, and before a command if the last
  /// heartbeat is `beatInterval` old.
  package var promise: Duration { Self.beatInterval + Self.shortSleep + command }

  /// How long a process with a device may take to start or stop polling: until the current command ends, and until the
  /// device is closed if that command fails.
  package var obedience: Duration { command + closing }

  /// How long a process may take to abort an operation. An exchange with a tag that is slow, or sends much, is one
  /// command to libnfc. The process promises the time for it.
  package var breakingOff: Duration { obedience + Self.longestPromise }
}
