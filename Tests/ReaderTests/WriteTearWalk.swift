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
      var seen: Set<[UInt8]> = []
      for number in 1...Self.most {
        guard let done = try tear(reader, message, .removal(exchange: number, heard: true)) else { break }
        guard let undone = try tear(reader, message, .removal(exchange: number)), undone.memory != done.memory else {
          continue
        }
        report.exchanges += 1
        for remainder in remainders {
          for bytes in Self.prefixes {
            let fault = Fault.tear(exchange: number, WriteTear(bytes: bytes, remainder: remainder))
            guard let torn = try tear(reader, message, fault), torn.memory != done.memory else { break }
            guard seen.insert(torn.memory).inserted else { continue }
            let isOld = torn.memory == torn.before && Self.holds(torn.content, old)
            if isOld || torn.isWithoutMessage || Self.holds(torn.content, message) { continue }
            report.findings.append(
              "a tag torn away at exchange \(number) with \(bytes) bytes new, \(remainder), holds \(torn.content)")
          }
        }
      }
      if report.exchanges == 0 { report.findings.append("nothing was written") }
      return report
    }
  }

  private struct Torn {
    let before: [UInt8]
    let memory: [UInt8]
    let content: TagContent
    var isWithoutMessage: Bool { if case .problem = content { true } else { false } }
  }

  /// Each byte of a block, and some of what an APDU writes.
  private static let prefixes = Array(0...16) + [17, 48, 100, 200, 300]

  /// - Returns: nil where the fault has not struck: it is over before.
  private func tear(_ reader: borrowing OpenReader, _ message: [UInt8], _ fault: Fault) throws -> Torn? {
    let id = reader.place(try makeTag())
    let before = reader.memory(of: id) ?? []
    var channel = try reader.select(modulation)
    reader.add(fault)
    // Whether it fails, and how, is the other walk's.
    try? channel.tag.writeNDEF(message, over: &channel)
    reader.clearFaults()
    let isTorn = reader.memory(of: id) == nil
    guard let tag = reader.remove(id) else { throw OpenReader.NoTag() }
    guard isTorn else { return nil }
    let again = reader.place(tag)
    defer { _ = reader.remove(again) }
    channel = try reader.select(modulation)
    let content = try channel.tag.readNDEF(over: &channel)
    return Torn(before: before, memory: reader.memory(of: again) ?? [], content: content)
  }
}
