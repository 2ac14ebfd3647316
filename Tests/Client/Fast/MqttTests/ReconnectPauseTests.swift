import Rig
import Testing

@testable import Mqtt

@Suite struct ReconnectPauseTests {
  @Test func `each pause is a random part of a back-off from one second to two minutes`() {
    var random = SeededGenerator(seed: 1)
    var longest = [Duration](repeating: .zero, count: 10)
    var shortest = [Duration](repeating: .seconds(1000), count: 10)
    for _ in 0..<300 {
      var pause = ReconnectPause()
      for index in longest.indices {
        let next = pause.next(after: .lost("cut"), connectedFor: nil, using: &random)
        longest[index] = max(longest[index], next)
        shortest[index] = min(shortest[index], next)
      }
    }
    let limits: [Duration] = [1, 2, 4, 8, 16, 32, 64, 120, 120, 120].map { .seconds($0) }
    for (index, limit) in limits.enumerated() {
      #expect(shortest[index] >= .zero)
      // The whole range is used: with 300 attempts, each end is reached to within a tenth.
      #expect(shortest[index] < limit / 10)
      #expect(longest[index] <= limit)
      #expect(longest[index] > limit * 9 / 10)
    }
  }

  @Test(arguments: [(29.9, 4.0), (30.0, 1.0)])
  func `only a connection that lasted starts again with the shortest`(lifetime: Double, limit: Double) {
    var random = SeededGenerator(seed: 2)
    var longest = Duration.zero
    for _ in 0..<300 {
      var pause = ReconnectPause()
      _ = pause.next(after: .lost("cut"), connectedFor: nil, using: &random)
      _ = pause.next(after: .lost("cut"), connectedFor: nil, using: &random)
      longest = max(longest, pause.next(after: .lost("cut"), connectedFor: .seconds(lifetime), using: &random))
    }
    #expect(longest <= .seconds(limit))
    #expect(longest > .seconds(limit * 0.9))
  }

  @Test func `after a refusal the pause is the longest`() {
    var random = SeededGenerator(seed: 3)
    var pause = ReconnectPause()
    #expect(pause.next(after: .refused(code: 0x86), connectedFor: nil, using: &random) == .seconds(120))
    #expect(pause.next(after: .refused(code: 0x88), connectedFor: nil, using: &random) <= .seconds(2))
  }
}
