import NDEF
import Tags
import Testing

/// A message whose encoding has exactly so many bytes: none, or 3 and more; fewer are bytes that are no message.
func ndefMessage(ofSize size: Int, filledWith byte: UInt8 = 0x41) -> [UInt8] { ndefMessage(ofSize: size) { _ in byte } }

/// The same, of which no piece that goes over the air is like the one before it: what it holds repeats itself after a prime
/// number of bytes.
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

/// Expects what a tag that was written with these bytes is read as.
func expect(_ content: TagContent, holds bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
  switch content {
  case .message(let message): #expect(message == bytes, sourceLocation: sourceLocation)
  case .problem(let problem):
    let isMessage = (try? NDEFMessage(decoding: bytes)) != nil
    let expected: TagProblem.Code = bytes.isEmpty ? .empty : .damaged
    #expect(!isMessage && problem.code == expected, "\(problem)", sourceLocation: sourceLocation)
  }
}

/// Why there is no message, nil where there is one.
func problem(of content: TagContent) -> String? {
  if case .problem(let problem) = content { problem.description } else { nil }
}
