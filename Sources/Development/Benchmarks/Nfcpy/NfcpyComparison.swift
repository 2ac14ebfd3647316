import Glibc
import Names
import ReaderSimulator
import TestKit

/// nfcpy as referee: it reads the messages on simulated tags, and Tagroute reads the messages that nfcpy has written.
struct NfcpyComparison {
  func run() async throws {
    try await BenchmarkPrograms.build()
    let kinds = BenchmarkTag.all.filter(\.isKnownToNfcpy)
    let clock = MachineClock()
    let reader = try await SimulatedReader.start(clock: clock)
    var wrong: [String] = []
    var checked = 0
    for kind in kinds {
      for size in kind.sizes {
        checked += 1
        let written = try BenchmarkTag.message(size: size)
        let read = try await outcome(
          NfcpyContender(reader, ["--interval", "0"]), try kind.make(written), reader, clock
        ).outcome
        if read != .message(written) { wrong.append("\(kind.name), \(size) bytes: nfcpy has read: \(read)") }

        let writer = try await NfcpyContender(reader, ["--interval", "0", "--write", Hexadecimal.text(written)])
        let (said, tag) = try await outcome(
          writer, try kind.make(BenchmarkTag.message(size: size, of: "b")), reader, clock)
        guard said == .written, let tag else {
          wrong.append("\(kind.name), \(size) bytes: nfcpy has not written: \(said)")
          continue
        }
        let readBack = try await outcome(TagrouteContender(reader), tag, reader, clock).outcome
        if readBack != .message(written) {
          wrong.append("\(kind.name), \(size) bytes: nfcpy wrote, we read: \(readBack)")
        }
      }
    }
    await reader.stop()
    guard wrong.isEmpty else { throw RigError("nfcpy \(Nfcpy.version) disagrees:\n" + wrong.joined(separator: "\n")) }
    print("nfcpy \(Nfcpy.version): \(checked) messages on \(kinds.count) kinds of tag read, and written and read again")
  }

  /// The program's outcome for the tag, and the tag afterwards.
  private func outcome(
    _ contender: any ReadingContender, _ tag: SimulatedTag, _ reader: SimulatedReader, _ clock: MachineClock
  ) async throws -> (outcome: ReadOutcome, tag: SimulatedTag?) {
    try await contender.start()
    let placed = clock.now
    let id = await reader.place(tag)
    let isFound = try await reader.detection(since: placed, by: clock) != nil
    let outcome = isFound ? try await contender.outcome() : .failure("not found")
    await contender.stop()
    return (outcome, await reader.remove(id))
  }
}

/// nfcpy, installed by Packaging/python-package, and the small program that runs it.
enum Nfcpy {
  static let version = "1.0.4"
  static let script = "Sources/Development/Benchmarks/Nfcpy/nfcpy-reader.py"

  /// The Python interpreter that has nfcpy. If it is missing, the error has the installation command.
  static func python() throws -> String {
    let path = ".build/nfcpy-\(version)/bin/python3"
    guard access(path, X_OK) == 0, access(script, R_OK) == 0 else {
      throw RigError("nfcpy is not here: in the package's folder, Packaging/python-package nfcpy \(version) nfc")
    }
    return path
  }

  /// The outcome for a tag in a line that `nfcpy-reader.py` has printed; nil if the line reports none.
  static func outcome(_ line: String) -> ReadOutcome? {
    let words = line.split(separator: " ", maxSplits: 1)
    let rest = words.count > 1 ? String(words[1]) : ""
    switch words.first {
    case "message": return rest.isEmpty ? .message([]) : Hexadecimal.bytes(rest).map(ReadOutcome.message)
    case "written": return .written
    case "no-message", "error": return .failure(line)
    default: return nil
    }
  }
}
