/// A text that patterns are tried on. All patterns share the intermediate results about it.
struct LinkPatternSubject: Sendable {
  private let scalars: [Unicode.Scalar]
  private let isCaseSensitive: Bool
  /// The positions of the first `mostPlaces` different scalars in the text.
  private let places: [Unicode.Scalar: PositionSet]
  /// Whether `places` has all scalars of the text.
  private let hasAllPlaces: Bool

  /// As many sets as a word has bits, so that the time to make them is in proportion to the length of the text.
  private static let mostPlaces = UInt64.bitWidth

  /// The steps that its creation took.
  var cost: Int { 8 + scalars.count + places.count * ((scalars.count + 64) / 64) }

  init(_ text: String, _ comparison: LinkPattern.Comparison) {
    scalars = comparison.prepared(text)
    isCaseSensitive = comparison.isCaseSensitive
    var places: [Unicode.Scalar: PositionSet] = [:]
    var hasAllPlaces = true
    for (position, scalar) in scalars.enumerated() {
      if places[scalar] != nil || places.count < Self.mostPlaces {
        places[scalar, default: PositionSet(count: scalars.count + 1)].insert(position)
      } else {
        hasAllPlaces = false
      }
    }
    self.places = places
    self.hasAllPlaces = hasAllPlaces
  }

  /// Whether the pattern covers the whole text. The pattern has to use the same comparison as this subject.
  ///
  /// `steps` grows by the words of sets and the characters that were examined. That is at most in proportion to the
  /// pattern's cost times the text's length. If the steps run out, ignore the result.
  func isCovered(by pattern: LinkPattern, steps: inout MatchingSteps) -> Bool {
    // Most patterns begin with characters that most links do not have. Comparing these first needs no sets.
    var start = 0
    while start < pattern.atoms.count, case .scalar(let scalar) = pattern.atoms[start] {
      steps.take(1)
      guard start < scalars.count, scalars[start] == scalar else { return false }
      start += 1
    }
    var positions = PositionSet(count: scalars.count + 1)
    positions.insert(start)
    steps.take(positions.wordCount)
    run(pattern.atoms[start...], &positions, &steps)
    return !steps.isOver && positions.contains(scalars.count)
  }

  /// Replaces `positions`, at which the atoms may begin, by the positions at which they may end.
  private func run(_ atoms: ArraySlice<LinkPattern.Atom>, _ positions: inout PositionSet, _ steps: inout MatchingSteps)
  {
    for atom in atoms {
      steps.take(2 * positions.wordCount)
      guard !positions.isEmpty, !steps.isOver else { return }
      switch atom {
      case .anyMany: positions.fillUp()
      case .anyOne: positions.advance()
      case .scalar(let scalar): positions.advance(where: places(of: scalar, &steps))
      case .oneOf(let kind):
        positions.advance(where: places(&steps) { kind.contains($0, isCaseSensitive: isCaseSensitive) })
      case .code(let list): positions = ends(of: list, from: positions, &steps)
      case .alternatives(let alternatives):
        var union = PositionSet(count: positions.count)
        for alternative in alternatives {
          var ends = positions
          run(alternative[...], &ends, &steps)
          union.formUnion(ends)
          steps.take(2 * positions.wordCount)
        }
        positions = union
      }
    }
  }

  private func places(of scalar: Unicode.Scalar, _ steps: inout MatchingSteps) -> PositionSet {
    if let known = places[scalar] { return known }
    if hasAllPlaces { return PositionSet(count: scalars.count + 1) }
    return places(&steps) { $0 == scalar }
  }

  private func places(_ steps: inout MatchingSteps, where isPlace: (Unicode.Scalar) -> Bool) -> PositionSet {
    var places = PositionSet(count: scalars.count + 1)
    for (position, scalar) in scalars.enumerated() where isPlace(scalar) { places.insert(position) }
    steps.take(scalars.count)
    return places
  }

  private func ends(of list: CodeList, from positions: PositionSet, _ steps: inout MatchingSteps) -> PositionSet {
    var ends = PositionSet(count: positions.count)
    positions.forEach { start in
      for length in list.lengths where start + length <= scalars.count {
        steps.take(length)
        if list.contains(scalars[start..<start + length], isCaseSensitive: isCaseSensitive) {
          ends.insert(start + length)
        }
      }
    }
    return ends
  }
}
