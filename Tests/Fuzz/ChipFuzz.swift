// Modules: NDEF Names Tags PN53x
// Sources: Reader/LibNFCReader/Device/Modulation.swift Reader/LibNFCReader/Device/TargetList.swift Reader/LibNFCReader/Device/TagType+Modulations.swift

import Tags

@testable import PN53x

/// A hostile chip. It makes up the targets that it reports, and its answers to the commands for one exchange with each
/// kind of tag. The first byte of the input selects the test. The others are the chip's answers.
@c(LLVMFuzzerTestOneInput)
public func fuzzChip(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard input.count > 1 else { return 0 }
  let modulations = Modulation.allCases
  let choice = Int(input[0]) % (modulations.count + Exchange.all.count)
  let bytes = Array(input[1...])
  if choice < modulations.count {
    checkTargets(bytes, modulations[choice])
  } else {
    check(Exchange.all[choice - modulations.count], bytes)
  }
  return 0
}

private func checkTargets(_ bytes: [UInt8], _ modulation: Modulation) {
  guard let targets = try? TargetList.all(of: bytes, modulation) else { return }
  require(targets.count <= (modulation.mayBeTwo ? 2 : 1), "there are as many as can be told apart")
  require(targets.isEmpty == (bytes.first == 0), "there are some where the chip says so")
  for target in targets {
    require(target.modulation == modulation, "it is what was looked for")
    switch target {
    case .typeA(let tag): require(tag.atqa.count == 2 && (1...10).contains(tag.uid.count), "\(tag) is whole")
    case .typeB(let tag):
      require(tag.pupi.count == 4 && tag.applicationData.count == 4 && tag.protocolInfo.count == 3, "\(tag) is whole")
    case .felica(let tag):
      require(tag.idm.count == 8 && tag.pmm.count == 8 && (tag.systemCode?.count ?? 2) == 2, "\(tag) is whole")
    case .jewel(let tag): require(tag.atqa.count == 2 && tag.uid.count == 4, "\(tag) is whole")
    case .typeV: require(false, "a PN53x finds no such tag")
    }
    let said = targets.reduce(0) { $0 + $1.identifier.count }
    require(said <= bytes.count, "nothing is made up")
  }
}

/// A command to a tag, and how the chip sends it.
private struct Exchange: Sendable {
  let framing: any ChipFraming & Sendable
  let command: [UInt8]

  init(_ framing: any ChipFraming & Sendable, _ command: [UInt8]) {
    self.framing = framing
    self.command = command
  }

  static let all: [Exchange] = [
    Exchange(Type1Framing(), [0x00, 0, 0, 1, 2, 3, 4]),
    Exchange(Type1Framing(), [0x01, 8, 0, 1, 2, 3, 4]),
    Exchange(Type1Framing(), [0x53, 8, 1, 1, 2, 3, 4]),
    Exchange(Type1Framing(), [0x1A, 8, 1, 1, 2, 3, 4]),
    Exchange(Type1Framing(), [0x78]),
    Exchange(Type1Framing(), [0x10]),
    Exchange(Type1Framing(), [0x02, 16, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4]),
    Exchange(Type1Framing(), [0x54, 16, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4]),
    Exchange(Type1Framing(), [0x1B, 16, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4]),
    Exchange(Type2Framing(), [0x30, 3]),
    Exchange(Type2Framing(), [0xA2, 4, 1, 2, 3, 4]),
    Exchange(Type2Framing(), [0x60]),
    Exchange(Type2Framing(), [0x3A, 4, 60]),
    Exchange(Type2Framing(), [0xC2, 0xFF]),
    Exchange(Type2Framing(), [1, 0, 0, 0]),
    Exchange(FeliCaFraming(), [0x00, 0x12, 0xFC, 1, 0]),
    Exchange(FeliCaFraming(), [UInt8](repeating: 6, count: 300)),
    Exchange(MIFAREClassicFraming(), [0x60, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    Exchange(MIFAREClassicFraming(), [0x30, 1]),
    Exchange(FirmwareFraming(), [0x00, 0xA4, 0, 0]),
  ]
}

private func check(_ exchange: Exchange, _ bytes: [UInt8]) {
  let chip = HostileChip(script: bytes)
  guard case .bytes(let answer)? = try? exchange.framing.exchange(exchange.command, with: chip) else { return }
  require(answer.count <= chip.given + 1, "the tag has said no more than the chip")
}

/// Answers from the script, which starts over at its end.
private final class HostileChip: Chip {
  /// Includes the first command, those that wait for a write, and those that restore the chip's registers.
  private static let mostCommands = 24

  private let script: [UInt8]
  private var place = 0
  private var commands = 0
  /// Bytes of answers so far.
  private(set) var given = 0

  init(script: [UInt8]) { self.script = script }

  func exchange(_ command: [UInt8]) throws(ChipFailure) -> ChipAnswer { try answer() }

  func communicateThru(_ frame: [UInt8]) throws(ChipFailure) -> ChipAnswer { try answer() }

  func setAnswerTimeout(code: UInt8) throws(ChipFailure) { _ = try answer() }

  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(ChipFailure) { _ = try answer() }

  func readRegisters(_ addresses: [UInt16]) throws(ChipFailure) -> [UInt8] {
    guard case .bytes(let bytes) = try answer() else { return [] }
    // Either as many bytes as there are addresses, or none.
    return bytes.count < addresses.count ? [] : Array(bytes.suffix(addresses.count))
  }

  private func answer() throws(ChipFailure) -> ChipAnswer {
    commands += 1
    require(commands <= Self.mostCommands, "an exchange takes at most \(Self.mostCommands) commands")
    switch next() {
    case 0xFF: throw ChipFailure(reason: "script")
    case 0xFE: return .silence
    case 0xFD: return .wrongKey
    case 0xFC: return .refused(-1)
    case 0xFB: return .bytes([])
    case let count:
      let bytes = (0..<Int(count)).map { _ in next() }
      given += bytes.count
      return .bytes(bytes)
    }
  }

  private func next() -> UInt8 {
    defer { place = (place + 1) % script.count }
    return script[place]
  }
}

/// Ends the process, which the fuzzer reports as a failure.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
