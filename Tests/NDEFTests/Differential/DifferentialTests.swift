import NDEF
import Testing

/// This decoder against ndeflib, on messages whose ndeflib verdicts are checked in (Packaging/check-ndeflib makes them again).
@Suite struct DifferentialTests {
  @Test func everyDisagreementIsDeliberate() throws {
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

  /// The comparison means nothing if the two do not agree on much.
  @Test func mostVectorsAreAgreedUponBothWays() throws {
    let agreed = try DifferentialVector.load().filter { $0.disagreements().isEmpty }
    #expect(agreed.count { $0.records == nil } > 300)
    #expect(agreed.count { $0.records != nil } > 300)
    #expect(agreed.count { $0.records?.contains { $0.view != nil } ?? false } > 100)
    #expect(agreed.count { $0.records?.contains { $0.viewError != nil } ?? false } > 50)
  }
}
