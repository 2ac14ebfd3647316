/// What pcscd had a virtual reader do.
package struct CardExchange: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of requests that are recorded.
  package enum Kind: Sendable, Hashable {
    /// A command of a client, for the card or for the reader (SCardTransmit).
    case command
    /// A control code (SCardControl).
    case control(UInt32)
    /// The card was switched on or reset. The answer is the answer to reset.
    case powerUp
    /// The card was switched off.
    case powerDown
  }

  /// The kind of request.
  package let kind: Kind
  /// The card in the slot; nil if there was none.
  package let card: TagID?
  /// The command, or the data of a control code.
  package let command: [UInt8]
  /// The answer; nil if the request failed, or has not been answered yet.
  package internal(set) var answer: [UInt8]?

  /// Command and answer in hexadecimal digits.
  package var description: String {
    let what =
      switch kind {
      case .command: Hexadecimal.string(command)
      case .control(let code): "control \(String(code, radix: 16)) \(Hexadecimal.string(command))"
      case .powerUp: "power up"
      case .powerDown: "power down"
      }
    return "\(what) → \(answer.map(Hexadecimal.string) ?? "nothing")"
  }
}
