import ReaderSimulator
import Tags

@testable import Reader

/// Tears a tag away within each write: while its memory programs a page, a block or what else one exchange writes.
///
/// Every number of bytes that may be new is tried, and for the others every remainder: what was there, and what a memory
/// holds that erases before it programs.
extension TearWalk {
  /// Reading the tag afterwards yields the old message where nothing has changed, else none or the new one.
  ///
  /// - Parameters:
  ///   - message: what is written.
  ///   - old: what is on the tag.
  ///   - remainders: what bytes may hold that are not programmed any more.
  /// - Returns: how many exchanges write, and what should not have happened.
  /// - Throws: where there is no tag or the reader fails.
  func tearingWrites(
    of message: [UInt8], over old: [UInt8], remainders: [WriteTear.Remainder] = WriteTear.Remainder.allCases
  ) async throws -> Report {
    try await withOpenReader { reader in
      var report = Report()
      // One tag for all: a UID that is made up anew would pass for something that was written.
      let original = try makeTag()
      let before = reader.memory(of: original)
      var seen: Set<[UInt8]> = [before]
      var undone = before
      for number in 1...Self.most {
        // What the exchanges up to here leave, torn or not, is the other walk's: it is not read.
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
            if Self.holds(content, message) { continue }
            report.findings.append(
              "a tag torn away at exchange \(number) with \(bytes) bytes new, \(remainder), holds \(content)")
          }
        }
      }
      if report.exchanges == 0 { report.findings.append("nothing was written") }
      return report
    }
  }

  /// Each byte of a block, and some of what an APDU writes.
  private static let prefixes = Array(0...16) + [17, 48, 100, 200, 300]

  /// - Returns: the tag that was torn away, and its memory; nil where the fault has not struck: it is over before.
  private func tear(
    _ original: SimulatedTag, _ reader: borrowing OpenReader, _ message: [UInt8], _ fault: Fault
  ) throws -> (tag: SimulatedTag, memory: [UInt8])? {
    // Whether it fails, and how, is the other walk's.
    let attempt = try reader.attempt(on: original, modulation, fault) { try $0.tag.writeNDEF(message, over: &$0) }
    return attempt.isStruck ? (attempt.tag, reader.memory(of: attempt.tag)) : nil
  }
}
