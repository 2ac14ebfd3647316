import Testing

@testable import ReaderSimulator

/// A contactless slot without pcscd.
struct SlotDriver {
  var interface: ContactlessInterface

  /// Puts a tag on a reader of this model. Fails if the reader does not find it.
  init(_ model: CardReaderModel, _ tag: SimulatedTag) throws {
    interface = ContactlessInterface(model: model)
    guard interface.place(.contactless(tag.tag), as: TagID(number: 1)), interface.powerUp() != nil else {
      throw SimulatorError("\(model.name) does not find the tag")
    }
  }

  /// The answer to a command, both in hexadecimal digits with spaces anywhere; "failed" if the exchange fails.
  mutating func send(_ command: String) throws -> String {
    guard let bytes = Hexadecimal.bytes(command.filter { $0 != " " }) else {
      throw SimulatorError("\(command): not hexadecimal")
    }
    let answer = interface.transmit(bytes)
    return answer.response == .success ? Hexadecimal.string(answer.data) : "failed"
  }

  /// Requires these answers to these commands, in order.
  mutating func expect(_ exchanges: [(String, String)], sourceLocation: SourceLocation = #_sourceLocation) throws {
    for (command, expected) in exchanges {
      let answer = try send(command)
      #expect(answer == expected, "\(command)", sourceLocation: sourceLocation)
    }
  }
}
