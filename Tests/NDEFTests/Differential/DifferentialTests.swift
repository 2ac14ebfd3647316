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

  /// The comparison is useful only if the two agree on many messages.
  @Test func `both decoders accept and reject many of the same messages`() throws {
    let agreed = try DifferentialVector.load().filter { $0.disagreements().isEmpty }
    #expect(agreed.count { $0.records == nil } > 300)
    #expect(agreed.count { $0.records != nil } > 300)
    #expect(agreed.count { $0.records?.contains { $0.view != nil } ?? false } > 100)
    #expect(agreed.count { $0.records?.contains { $0.viewError != nil } ?? false } > 50)
  }
}
