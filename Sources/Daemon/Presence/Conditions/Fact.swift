/// A fact about the desktop: yes, no, or unknown because no source can report it.
package enum Fact: Sendable, Hashable, CaseIterable {
  case yes
  case no
  case unknown

  /// A source's answer; `.unknown` if `value` is nil.
  package init(_ value: Bool?) {
    self =
      switch value {
      case .some(true): .yes
      case .some(false): .no
      case .none: .unknown
      }
  }

  /// Combines two sources: `.yes` if either says yes, `.no` if one says no and the other does not say yes.
  package func or(_ other: Fact) -> Fact {
    if self == .yes || other == .yes { return .yes }
    return self == .no || other == .no ? .no : .unknown
  }
}
