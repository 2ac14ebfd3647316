package import Routing
package import Settings

/// A file of rules for taps: `[Rule NAME]` groups.
///
/// A rule with a mistake is left out, and so is a rule with a line that is not understood: without that line, it might
/// match tags that it should not. The other rules of the file hold.
package struct RuleFile: Sendable {
  /// The most bytes of a file.
  package static let maximumSize = 64 << 10
  /// Further mistakes of a file are not reported, nor are those of further files.
  package static let maximumProblems = 100

  /// The valid rules, in their order.
  package private(set) var rules: [TapRule] = []
  /// The mistakes, in the order of their lines.
  package private(set) var problems: [KeyFileError] = []

  /// Reads the bytes of a file. Errors show the path `file`.
  package init(_ bytes: [UInt8], file: String, origin: TapRule.Origin) {
    guard bytes.count <= Self.maximumSize else {
      problems = [
        KeyFileError(
          file: file, line: nil, problem: "is larger than \(Self.maximumSize >> 10) KiB, so none of its rules holds",
          remedy: "divide it into several files")
      ]
      return
    }
    var problems: [KeyFileError] = []
    let keyFile = SalvagedKeyFile.read(bytes, file, &problems)
    if problems.count > SalvagedKeyFile.mostNamed {
      problems[SalvagedKeyFile.mostNamed] = KeyFileError(
        file: file, line: nil,
        problem: "has more than \(SalvagedKeyFile.mostNamed) wrong lines, so none of its rules holds",
        remedy: "fix these lines")
    }
    // A mistake without a line may be in any rule.
    let isWhole = problems.allSatisfy { $0.line != nil }
    let layout = RuleFileLayout(bytes)
    if let keyFile, isWhole {
      let broken = Set(problems.compactMap { $0.line.flatMap(layout.header) })
      for group in keyFile.groups {
        do throws(KeyFileError) {
          guard let name = try Self.name(of: group, file: file) else { continue }
          if let repetition = layout.repetition(of: group) {
            throw KeyFileError(
              file: file, line: repetition.line, problem: repetition.problem, remedy: repetition.remedy)
          }
          // Its mistake is in the list already.
          guard !broken.contains(group.line) else { continue }
          var reader = RuleReader(keyFile, group)
          rules.append(try reader.rule(named: name, origin: origin))
        } catch {
          problems.append(error)
        }
      }
    }
    self.problems = Array(
      problems.sorted { ($0.line ?? 0, $0.problem) < ($1.line ?? 0, $1.problem) }.prefix(Self.maximumProblems))
  }

  /// Throws if the group is not a rule.
  private static func name(of group: KeyFile.Group, file: String) throws(KeyFileError) -> String? {
    func mistake(_ problem: String, _ remedy: String) -> KeyFileError {
      KeyFileError(file: file, line: group.line, problem: problem, remedy: remedy)
    }
    guard group.name.hasPrefix("Rule ") else {
      throw mistake("there is no group [\(group.name.prefix(40))]", "write [Rule NAME]")
    }
    let name = group.name.dropFirst("Rule ".count).drop { $0 == " " }
    guard !name.isEmpty, name.utf8.count <= 100, name.unicodeScalars.allSatisfy(isPrintable) else {
      throw mistake("the rule's name is empty, longer than 100 bytes or not printable", "write [Rule NAME]")
    }
    return String(name)
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }
}
