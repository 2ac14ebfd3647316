import Names
import Tags

/// The kinds of tags that are read; others are left alone.
struct Technologies: Equatable {
  static let all = Technologies(TagType.configurable)

  private let types: [TagType]

  private init(_ types: [TagType]) { self.types = types }

  /// - Parameter names: as in `Names.technologies`, none for all; those that are not known are nothing that could be found.
  init(names: [String]) {
    types = names.isEmpty ? TagType.configurable : TagType.configurable.filter { names.contains($0.description) }
  }

  /// What has to be looked for to find them.
  var modulations: Set<Modulation> { Set(types.flatMap(\.modulations)) }

  /// Another device is no kind of tag that anybody would name; whoever reads phones is told of it.
  func contains(_ type: TagType) -> Bool { types.contains(type) || type == .peer && types.contains(.type4A) }
}

extension TagType {
  /// What finds tags of this kind.
  fileprivate var modulations: [Modulation] {
    switch self {
    case .type1: [.jewel]
    case .type3: [.felica212, .felica424]
    case .type4B: [.typeB]
    default: [.typeA]
    }
  }
}
