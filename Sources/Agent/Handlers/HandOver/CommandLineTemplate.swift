/// The `Exec` key of a desktop entry, parsed once and filled in at each start.
///
/// Desktop Entry Specification 1.5, "The Exec key". No text is ever passed to a shell. Quotes are undone first. Field
/// codes are filled in after that, each within its own argument.
struct CommandLineTemplate: Sendable, Hashable {
  struct Fields {
    var uri: String?
    var name: String
    var icon: String?
    var file: String
    /// The path of a local file, which is also in `uri`. Nil if there is only a link.
    var path: String? = nil
  }

  private enum Piece: Sendable, Hashable {
    case text(String)
    case code(Character)
  }

  /// The first argument is the program.
  private let arguments: [[Piece]]

  /// The escapes of key files are undone already.
  init(_ exec: String) throws(CommandLineError) {
    var reader = Reader(rest: exec.unicodeScalars[...])
    arguments = try reader.arguments()
    guard case .text(let program)? = arguments.first?.first, !program.isEmpty, arguments[0].count == 1 else {
      throw CommandLineError("it does not begin with a program")
    }
    let codes = arguments.joined().filter { [.code("u"), .code("U"), .code("f"), .code("F")].contains($0) }
    guard codes.count <= 1 else { throw CommandLineError("it has more than one of %u, %U, %f and %F") }
  }

  /// Whether the command has a place for a link. GIO treats a command without `%u` and `%U` as if it had `%f`: it
  /// passes local files only. If there are none, GIO starts the program without arguments.
  var takesLink: Bool { arguments.joined().contains { [.code("u"), .code("U")].contains($0) } }

  private var takesFile: Bool {
    takesLink || arguments.joined().contains { [.code("f"), .code("F")].contains($0) }
  }

  var program: String? {
    guard case .text(let program)? = arguments.first?.first else { return nil }
    return program
  }

  /// `%f` and `%F` stand for local files. A tag's link is never one, so they are dropped, like the deprecated codes. As
  /// in GIO, a file is the last argument of a command without a place for it.
  func filled(with fields: Fields) -> [String] {
    let filled = pieces(filledWith: fields)
    guard let path = fields.path, !takesFile else { return filled }
    return filled + [path]
  }

  private func pieces(filledWith fields: Fields) -> [String] {
    arguments.flatMap { pieces -> [String] in
      if pieces == [.code("i")] {
        guard let icon = fields.icon, !icon.isEmpty else { return [] }
        return ["--icon", icon]
      }
      var text = ""
      for piece in pieces {
        switch piece {
        case .text(let literal): text += literal
        case .code("u"), .code("U"): text += fields.uri ?? ""
        case .code("f"), .code("F"): text += fields.path ?? ""
        case .code("c"): text += fields.name
        case .code("k"): text += fields.file
        case .code: break
        }
      }
      if case .code? = pieces.first, pieces.count == 1, text.isEmpty { return [] }
      return [text]
    }
  }

  /// Splits the text, undoes quotes, and finds the field codes.
  private struct Reader {
    var rest: Substring.UnicodeScalarView

    mutating func arguments() throws(CommandLineError) -> [[Piece]] {
      var result: [[Piece]] = []
      while true {
        while let next = rest.first, Reader.isSpace(next) { rest.removeFirst() }
        guard !rest.isEmpty else { return result }
        result.append(try argument())
      }
    }

    private mutating func argument() throws(CommandLineError) -> [Piece] {
      var pieces: [Piece] = []
      var text = String.UnicodeScalarView()
      var hasText = false
      while let next = rest.first, !Reader.isSpace(next) {
        rest.removeFirst()
        switch next {
        case "\"", "'":
          hasText = true
          try quoted(until: next, into: &text)
        case "\\":
          guard let escaped = rest.popFirst() else { throw CommandLineError("it ends in a backslash") }
          text.append(escaped)
        case "%":
          guard let code = rest.popFirst() else { throw CommandLineError("it ends in a %") }
          if code == "%" {
            text.append("%")
            continue
          }
          guard "uUfFickdDnNvm".unicodeScalars.contains(code) else {
            throw CommandLineError("%\(code.isASCII ? String(code) : "…") is not a field code")
          }
          if !text.isEmpty { pieces.append(.text(String(text))) }
          text = .init()
          pieces.append(.code(Character(code)))
        default: text.append(next)
        }
      }
      if !text.isEmpty || (hasText && pieces.isEmpty) { pieces.append(.text(String(text))) }
      return pieces
    }

    private mutating func quoted(
      until quote: Unicode.Scalar, into text: inout String.UnicodeScalarView
    ) throws(CommandLineError) {
      while let next = rest.popFirst() {
        if next == quote { return }
        if next == "\\", quote == "\"", let escaped = rest.first, "\"`$\\".unicodeScalars.contains(escaped) {
          text.append(rest.removeFirst())
        } else if next == "%" {
          guard rest.popFirst() == "%" else { throw CommandLineError("it has a field code inside quotes") }
          text.append("%")
        } else {
          text.append(next)
        }
      }
      throw CommandLineError("it has a quote that is never closed")
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" || scalar == "\n" }
  }
}

/// The description is the end of a sentence.
struct CommandLineError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
