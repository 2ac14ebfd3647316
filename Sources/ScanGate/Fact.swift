/// Something about the desktop that may not be known: no source for it, or a source that cannot tell.
public enum Fact: Sendable, Hashable, CaseIterable {
  case yes
  case no
  case unknown

  /// What a source said, nil where it said nothing.
  public init(_ value: Bool?) {
    self =
      switch value {
      case .some(true): .yes
      case .some(false): .no
      case .none: .unknown
      }
  }

  /// What two sources say together: yes where one says so, no where one does and the other does not contradict it.
  public func or(_ other: Fact) -> Fact {
    if self == .yes || other == .yes { return .yes }
    return self == .no || other == .no ? .no : .unknown
  }
}
