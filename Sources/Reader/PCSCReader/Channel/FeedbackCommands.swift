import ReaderModels

extension ReaderModel {
  /// The commands that show how a tap ended; empty if the model has no means for it. Try them in this order until the
  /// reader accepts one.
  func commands(for feedback: Feedback) -> [Feedback.Command] {
    switch self.feedback {
    case .none: []
    case .lightAndBuzzer: [.apdu(feedback.lightAndBuzzer)]
    case .lightOrBuzzer: [.apdu(feedback.lightAndBuzzer), .escape(feedback.buzzer)]
    case .buzzer: [.escape(feedback.buzzer)]
    case .buzzerWithPause: [.escape(feedback.buzzerWithPause)]
    }
  }
}

extension Feedback {
  /// Bits of P2, in pairs for red and green, from bit 0 on: the final state, whether it changes, the first state, whether
  /// it blinks. The data are the two parts of a blink in units of 100 ms, the number of blinks, and where to beep. 01 is
  /// the first part.
  fileprivate var lightAndBuzzer: [UInt8] {
    switch self {
    case .success: PseudoAPDU(0x00, 0x40, 0b1010_1110, data: [0x01, 0x00, 0x01, 0x01]).bytes
    case .failure: PseudoAPDU(0x00, 0x40, 0b0101_0100, data: [0x01, 0x01, 0x02, 0x01]).bytes
    }
  }

  /// In units of 10 ms.
  fileprivate var buzzer: [UInt8] { [0xE0, 0x00, 0x00, 0x28, 0x01, self == .success ? 10 : 40] }

  fileprivate var buzzerWithPause: [UInt8] { [0xE0, 0x00, 0x00, 0x28, 0x03, 10, 10, self == .success ? 1 : 2] }
}
