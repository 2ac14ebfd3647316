import ReaderSimulator
import Tags
import Testing

@testable import Framing
@testable import LibNFCReader

/// Type 2 tags on the simulated chip.
@Suite struct Type2AccessTests {
  /// The longest message that fits on the model.
  static func capacity(_ model: SimulatedType2Model) -> Int { model.capacity - (model.capacity > 256 ? 4 : 2) }

  /// Sizes around every border: empty, one page, both forms of the length, the second sector, the full capacity.
  static func sizes(_ model: SimulatedType2Model) -> [Int] {
    [0, 3, 12, 13, 40, 254, 255, 300, 1000, 1010, 1500, capacity(model)].filter { $0 == 0 || $0 <= capacity(model) }
  }

  @Test(arguments: SimulatedType2Model.all) func `a written message is read back`(model: SimulatedType2Model) throws {
    let reader = try OpenReader()
    var findings: [String] = []
    for old in [0, Self.capacity(model)] {
      for size in Self.sizes(model) {
        let id = reader.place(try .type2(model, message: ndefMessage(ofSize: old), hasLockControl: false))
        var channel = try reader.select(.typeA)
        let message = ndefMessage(ofSize: size)
        let status = try channel.tag.queryNDEF(over: &channel)
        if status.access != .readWrite || status.capacity != Self.capacity(model) { findings.append("\(status)") }
        try channel.tag.writeNDEF(message, isVerifying: true, over: &channel)
        let content = try channel.tag.readNDEF(over: &channel)
        if size > 0, content != .message(message) { findings.append("\(size) over \(old): \(content)") }
        _ = reader.remove(id)
      }
    }
    #expect(findings.isEmpty)
  }

  @Test(arguments: SimulatedType2Model.all, [false, true])
  func `a locked tag cannot be written`(model: SimulatedType2Model, hasLockControl: Bool) throws {
    let message = ndefMessage(ofSize: 30)
    let reader = try OpenReader()
    var findings: [String] = []
    let id = reader.place(try .type2(model, message: message, hasLockControl: hasLockControl))
    var channel = try reader.select(.typeA)
    let tag = channel.tag
    try tag.lockNDEF(over: &channel)
    if try tag.queryNDEF(over: &channel).access != .readOnly { findings.append("not read-only") }
    if Self.refusal(of: { try tag.lockNDEF(over: &channel) }) != .readOnly { findings.append("locked again") }
    if Self.refusal(of: { try tag.writeNDEF([], over: &channel) }) != .readOnly { findings.append("written") }
    if try tag.readNDEF(over: &channel) != .message(message) { findings.append("another message") }
    // The tag itself rejects writes to every page with TLV blocks.
    let before = reader.memory(of: id)
    for page in 4..<min(256, 4 + model.capacity / 4) {
      channel = try reader.select(.typeA)
      _ = try Type2Framing().exchange([0xA2, UInt8(page), 9, 9, 9, 9], with: reader.device)
    }
    if reader.memory(of: id) != before { findings.append("pages can still be written") }
    #expect(findings.isEmpty)
  }

  /// If a block-locking bit has frozen the lock bits, the tag acknowledges a write but does not set them.
  @Test(arguments: [(.ultralight, 10, 0x02), (.ntag213, 162, 0x01)] as [(SimulatedType2Model, Int, UInt8)])
  func `frozen lock bits are noticed`(model: SimulatedType2Model, address: Int, bits: UInt8) throws {
    let reader = try OpenReader()
    let id = reader.place(try .type2(model, message: ndefMessage(ofSize: 30), uid: .fixed([4, 1, 2, 3, 4, 5, 6])))
    var image = reader.memory(of: id) ?? []
    _ = reader.remove(id)
    image[address] |= bits
    _ = reader.place(try .type2(model, memory: image))
    var channel = try reader.select(.typeA)
    let tag = channel.tag
    let refusals = Self.refusal(of: { try tag.lockNDEF(over: &channel) })
    guard case .cannotLock = refusals else {
      Issue.record("\(String(describing: refusals))")
      return
    }
  }

  private static func refusal(of body: () throws -> Void) -> TagWriteError? {
    do {
      try body()
      return nil
    } catch {
      return error as? TagWriteError
    }
  }

  @Test func `a tag that rejects FAST_READ is read with READ`() throws {
    // Some tags of this size support FAST_READ, but this one does not.
    let memory = [UInt8](repeating: 0, count: 64)
    let reader = try OpenReader()
    var image = memory
    let message = ndefMessage(ofSize: 30)
    image.replaceSubrange(0..<16, with: [4, 1, 2, 0x8F, 3, 4, 5, 6, 4, 0, 0, 0, 0xE1, 0x10, 0x10, 0x00])
    image.replaceSubrange(16..<48, with: [0x03, 30] + message)
    _ = reader.place(try .type2(.ultralight, memory: image))
    var channel = try reader.select(.typeA)
    _ = reader.takeCounters()
    #expect(try channel.tag.readNDEF(over: &channel) == .message(message))
    let counters = reader.takeCounters()
    // READ, FAST_READ, a retry because the first FAST_READ may have been lost, and two more READs.
    #expect(counters.exchanges == 5)
  }
}
