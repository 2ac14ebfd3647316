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
}
