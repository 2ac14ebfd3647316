import NDEF
import Tags
import Testing

/// A message that encodes to exactly `size` bytes: 0, or at least 3. For 1 and 2 the bytes are not a message.
func ndefMessage(ofSize size: Int, filledWith byte: UInt8 = 0x41) -> [UInt8] { ndefMessage(ofSize: size) { _ in byte } }

/// A message like `ndefMessage(ofSize:)`, but no piece of it equals the piece before it in a transfer. Its payload
/// repeats after a prime number of bytes.
func variedMessage(ofSize size: Int) -> [UInt8] { ndefMessage(ofSize: size) { UInt8($0 % 251) } }

private func ndefMessage(ofSize size: Int, _ byte: @escaping (Int) -> UInt8) -> [UInt8] {
  let record: (Int, Bool) -> [UInt8]? = { payload, isShort in
    guard payload >= 0, !isShort || payload < 0x100 else { return nil }
    let length = UInt32(payload)
    let lengthBytes =
      isShort ? [UInt8(payload)] : (0..<4).reversed().map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
    return [isShort ? 0xD1 : 0xC1, 0x01] + lengthBytes + [UInt8(ascii: "T")] + (0..<payload).map(byte)
  }
  switch size {
  case 0: return []
  case 1, 2: return (0..<size).map(byte)
  case 3: return [0xD0, 0x00, 0x00]
  default: return record(size - 4, true) ?? record(size - 7, false) ?? []
  }
}

/// Expects the content that is read from a tag with these bytes as its message.
func expect(_ content: TagContent, holds bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
  switch content {
  case .message(let message): #expect(message == bytes, sourceLocation: sourceLocation)
  case .problem(let problem):
    let isMessage = (try? NDEFMessage(decoding: bytes)) != nil
    let expected: TagProblem.Code = bytes.isEmpty ? .empty : .damaged
    #expect(!isMessage && problem.code == expected, "\(problem)", sourceLocation: sourceLocation)
  }
}

/// The problem as text; nil if there is a message.
func problem(of content: TagContent) -> String? {
  if case .problem(let problem) = content { problem.description } else { nil }
}
