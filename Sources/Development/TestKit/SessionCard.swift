package import Bus
import Names

/// A card for `ReaderSessionStandIn`: its description, its contents, and its answers.
package struct SessionCard: Sendable {
  /// The technology, by the daemon's name for it.
  package var technology = "type-2"
  /// UID, PUPI or IDm.
  package var uid: [UInt8] = [0x04, 0xA1, 0xB2, 0xC3, 0xD4, 0xE5, 0xF6]
  /// The properties besides those two.
  package var properties: [String: Value] = [:]
  /// `not-supported`, `read-write` or `read-only`.
  package var status = "read-write"
  /// The length of the longest message, in bytes.
  package var capacity: UInt32 = 137
  /// The message on the card; nil if it is empty.
  package var message: [UInt8]?
  /// The error of every operation; nil if operations succeed.
  package var failure: BusError?
  /// Whether operations never end.
  package var isSilent = false
  /// The card's answer to a command.
  package var answer: @Sendable ([UInt8]) throws -> [UInt8] = { _ in
    throw BusError(name: Names.Errors.notSupported, message: "this tag takes no commands")
  }
  /// The progress that an operation reports before it is done, in bytes.
  package var progress: [UInt64] = []

  /// An NTAG213. It is empty if the message is nil.
  package init(message: [UInt8]? = nil) {
    self.message = message
    properties = ["ATQA": .bytes([0x00, 0x44]), "SAK": .byte(0)]
  }

  /// A transit card, with the blocks of its history in service 090F of system 0003. It returns at most 12 of them at a
  /// time. The IDm has eight bytes, and each block 16.
  package static func transit(idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8], blocks: [[UInt8]]) -> SessionCard {
    var card = SessionCard()
    card.technology = "type-3"
    card.uid = idm
    card.status = "not-supported"
    card.capacity = 0
    card.properties = ["IDm": .bytes(idm), "PMm": .bytes(Array(repeating: 0xFF, count: 8)), "SystemCode": .uint16(3)]
    card.answer = { command in
      guard command.count >= 9, Array(command[1..<9]) == idm else {
        throw BusError(name: Names.Errors.timedOut, message: "the tag does not answer")
      }
      switch (command[0], Array(command[9...])) {
      case (0x02, [0x01, 0x0F, 0x09]): return [0x03] + idm + [0x01, 0x00, 0x00]
      case (0x02, _): return [0x03] + idm + [0x01, 0xFF, 0xFF]
      case (0x32, [0x01, 0x0F, 0x09]): return [0x33] + idm + [0, 0, 0x41, 0x01, 0x00, 0x00, 0x00, 0x00]
      case (0x3C, [0, 0]): return [0x3D] + idm + [0, 0, 0x00, 0x21, 0x01, 0]
      case (0x3E, [0, 0]): return [0x3F] + idm + [0, 0]
      case (0x06, let body) where body.prefix(3) == [0x01, 0x0F, 0x09] && body.count > 3:
        let elements = Array(body[4...])
        let numbers = stride(from: 1, to: elements.count, by: 2).map { Int(elements[$0]) }
        guard (1...12).contains(numbers.count), numbers.count == Int(body[3]), elements.count == 2 * numbers.count,
          numbers.allSatisfy(blocks.indices.contains)
        else { return [0x07] + idm + [0xFF, 0xA2] }
        return [0x07] + idm + [0, 0, body[3]] + numbers.flatMap { blocks[$0] }
      default: return [0x07] + idm + [0xFF, 0xA6]
      }
    }
    return card
  }
}
