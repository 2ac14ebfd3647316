/// How a tap ended, for the reader's LED and buzzer.
package enum Feedback: Sendable, Hashable, CaseIterable {
  /// One short beep, and a green light where the reader has one.
  case success
  /// Two beeps, or a long one if the reader cannot repeat it, and a red light where the reader has one.
  case failure

  /// A command to the reader. Its effect is over after half a second.
  package enum Command: Sendable, Hashable {
    /// An APDU for the connected card's slot. A reader that knows it answers 90 and a second byte, which is the state of
    /// its lights.
    case apdu([UInt8])
    /// For SCardControl: SCARD_CTL_CODE(1) with libccid, SCARD_CTL_CODE(3500) with ACS's own driver. libccid refuses it
    /// unless the administrator has allowed such commands.
    case escape([UInt8])
  }

  /// What a model has to show it with.
  package enum Means: Sendable, Hashable {
    case none
    /// `FF 00 40` (ACR122U API 2.04, 6.2).
    case lightAndBuzzer
    /// `FF 00 40` (ACM1252U-Y3 manual, 5.6.1), else a beep by an escape command.
    case lightOrBuzzer
    /// `E0 00 00 28`, with the time of the beep. The LED stays with the reader, which shows the presence of a card.
    case buzzer
    /// `E0 00 00 28`, with the times of beep and pause, and the number of beeps (ACR1552U manual, 6.2.5).
    case buzzerWithPause
  }
}
