import ReaderSimulator
import Tags

@testable import LibNFCReader
@testable import LibNFCReaderTests

/// Tears a tag away during each write, while its memory programs the page or block of one exchange.
///
/// This tries every number of new bytes. The other bytes hold each remainder in turn: the old values, and those of a
/// memory that erases before it programs.
extension TearWalk {
  /// Checks that a read afterwards returns the old message, the new one or none. The length of the old one may be too
  /// great by then, if zeros follow.
  ///
  /// - Parameters:
  ///   - message: The message to write.
  ///   - old: The message on the tag.
  ///   - remainders: The possible values of bytes that were not programmed.
  /// - Returns: The number of exchanges that write, and all violations.
  /// - Throws: An error if there is no tag or the reader fails.
  func tearingWrites(
    of message: [UInt8], over old: [UInt8], remainders: [WriteTear.Remainder] = WriteTear.Remainder.allCases
  ) throws -> Report {
    let reader = try OpenReader()
    var report = Report()
    // Use one tag for all attempts. A new UID would look like a written byte.
    let original = try makeTag()
    let before = original.memory
    var seen: Set<[UInt8]> = [before]
    var undone = before
    for number in 1...Self.most {
      // `writing` checks the memory after complete exchanges, so it is not read here.
      guard let (_, done) = try tear(original, reader, message, .removal(exchange: number, heard: true)) else {
        break
      }
      defer { undone = done }
      guard done != undone else { continue }
      seen.formUnion([undone, done])
      report.exchanges += 1
      for remainder in remainders {
        for bytes in Self.prefixes {
          let fault = Fault.tear(exchange: number, WriteTear(bytes: bytes, remainder: remainder))
          guard let (tag, memory) = try tear(original, reader, message, fault), memory != done else { break }
          guard seen.insert(memory).inserted else { continue }
          let content = try reader.withTag(tag, modulation) { try $0.tag.readNDEF(over: &$0) }
          if case .problem = content { continue }
          if Self.holds(content, message) || Self.holds(content, old) { continue }
          report.findings.append(
            "a tag torn away at exchange \(number) with \(bytes) bytes new, \(remainder), holds \(content)")
        }
      }
    }
    if report.exchanges == 0 { report.findings.append("no exchange wrote to the tag") }
    return report
  }

  /// Each number of bytes in a block, and some numbers of bytes in an APDU.
  private static let prefixes = Array(0...16) + [17, 48, 100, 200, 300]

  /// - Returns: The tag that was torn away, and its memory; nil if the write ended before the fault.
  private func tear(
    _ original: SimulatedTag, _ reader: OpenReader, _ message: [UInt8], _ fault: Fault
  ) throws -> (tag: SimulatedTag, memory: [UInt8])? {
    // `writing` checks the failure itself.
    let attempt = try reader.attempt(on: original, modulation, fault) { try $0.tag.writeNDEF(message, over: &$0) }
    return attempt.isStruck ? (attempt.tag, attempt.tag.memory) : nil
  }
}
