/// A handler that the agent knows.
public struct HandlerDescription: BusRecord, Sendable, Hashable {
  /// The desktop id.
  public var id = ""
  /// The app's name, for a person.
  public var name = ""
  /// The desktop entry's file.
  public var path = ""
  /// The domains it takes. A domain starts with `*.` if the handler takes its subdomains.
  public var domains: [String] = []
  /// The schemes it takes.
  public var schemes: [String] = []
  /// The media types of records that it takes, each exact or `type/*`.
  public var mimeTypes: [String] = []
  /// The external types of records that it takes.
  public var externalTypes: [String] = []
  /// Whether it needs no permission: only root can change its entry, and the entry does not come from a store.
  public var trusted = false
  /// The origin of its entry: `system`, `store` or `user`; empty with a `problem`.
  public var origin = ""
  /// The claims that it opens by the user's preference.
  public var preferred: [String] = []
  /// The claims that the user has allowed its entry to open.
  public var allowed: [String] = []
  /// The claims that the user has blocked for it, or `*` for all.
  public var blocked: [String] = []
  /// The error in the entry, and how to fix it. An element with a problem has only the problem; another element has the
  /// valid claims.
  public var problem: String?
  /// The line of the problem, from 1; nil if it has none.
  public var line: UInt32?
  /// The column of the problem, from 1; nil if it has none.
  public var column: UInt32?

  package init() {}

  package init(id: String, path: String, problem: String, line: Int?, column: Int?) {
    (self.id, self.path, self.problem) = (id, path, problem)
    self.line = line.map(UInt32.init(clamping:))
    self.column = column.map(UInt32.init(clamping:))
  }

  package static var fields: [BusField<Self>] {
    [
      .text("id", \.id), .text("name", \.name), .text("path", \.path), .texts("domains", \.domains),
      .texts("schemes", \.schemes), .texts("mime-types", \.mimeTypes), .texts("external-types", \.externalTypes),
      .flag("trusted", \.trusted), .text("origin", \.origin),
      .texts("preferred", \.preferred), .texts("allowed", \.allowed), .texts("blocked", \.blocked),
      .text("problem", \.problem), .number("line", \.line), .number("column", \.column),
    ]
  }

  /// `FILE:LINE:COLUMN`, as compilers print it and editors understand it.
  package var place: String { path + [line, column].compactMap { $0.map { ":\($0)" } }.joined() }
}
