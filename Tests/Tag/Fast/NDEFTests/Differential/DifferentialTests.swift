import NDEF
import Testing

/// Compares this decoder with ndeflib. The results of ndeflib are in a file that `Packaging/check-ndeflib` regenerates.
@Suite struct DifferentialTests {
  @Test func `every disagreement with ndeflib is deliberate`() throws {
    let vectors = try DifferentialVector.load()
    #expect(vectors.count > 1000)
    var seen: Set<String> = []
    for vector in vectors {
      for disagreement in vector.disagreements() {
        let explanations = DeliberateDifference.all.filter { $0.explains(disagreement) }
        #expect(!explanations.isEmpty, "\(vector.name) \(hex(vector.bytes.bytes)): \(disagreement)")
        seen.formUnion(explanations.map(\.name))
      }
    }
    for difference in DeliberateDifference.all {
      #expect(
        seen.contains(difference.name), "no vector shows the difference “\(difference.name)”: \(difference.reason)")
    }
  }

  @Test func `both decoders read the same Wi-Fi networks`() throws {
    var count = 0
    for vector in try DifferentialVector.load() {
      for theirs in vector.records ?? [] {
        guard let network = theirs.wifi else { continue }
        let record = try #require(try NDEFMessage(decoding: vector.bytes.bytes).records.first)
        let ours = try WiFiRecord(record).networks
        #expect(ours.map(\.ssid) == [network.ssid.bytes] && ours.map(\.key) == [network.key.bytes], "\(vector.name)")
        func number(_ bytes: [UInt8]) -> UInt16 { bytes.reduce(0) { $0 << 8 | UInt16($1) } }
        #expect(ours.map(\.authentication.rawValue) == [number(network.authentication.bytes)], "\(vector.name)")
        #expect(ours.map(\.encryption.rawValue) == [number(network.encryption.bytes)], "\(vector.name)")
        count += 1
      }
    }
    #expect(count == 40)
  }

  /// The comparison is useful only if the two agree on many messages.
  @Test func `both decoders accept and reject many of the same messages`() throws {
    let agreed = try DifferentialVector.load().filter { $0.disagreements().isEmpty }
    #expect(agreed.count { $0.records == nil } > 300)
    #expect(agreed.count { $0.records != nil } > 300)
    #expect(agreed.count { $0.records?.contains { $0.view != nil } ?? false } > 100)
    #expect(agreed.count { $0.records?.contains { $0.viewError != nil } ?? false } > 50)
  }
}
