package import Doctor

/// The page of the first run, in place of an empty list of tags: what is still missing until a tag can be read. The first
/// tag ends it. Pure.
package struct FirstRun: Sendable {
  package enum Event: Sendable {
    /// What the list of tags shows.
    case listed(InboxList.Phase, isFiltered: Bool)
    /// A tag was read.
    case tapped
  }

  private var isOver = false
  /// Whether the page takes the place of the list.
  package private(set) var isShown = false

  package init() {}

  package mutating func handle(_ event: Event) {
    switch event {
    case .tapped, .listed(.list, _): (isOver, isShown) = (true, false)
    // It is not known yet.
    case .listed(.loading, isFiltered: false): break
    // An agent that does not run is one of the things that the page explains.
    case .listed(.empty, let isFiltered), .listed(.unreachable, let isFiltered): isShown = !isOver && !isFiltered
    case .listed(.loading, isFiltered: true): isShown = false
    }
  }

  /// What has to work before a tag can be read.
  package struct Checklist: Sendable, Hashable {
    package let rows: [FindingRow]
    /// Whether a tag would be read now.
    package let isReady: Bool

    package var title: String {
      isReady
        ? translated("Hold a Tag to the Reader") : rows.isEmpty ? translated("One Moment") : translated("Not Ready Yet")
    }

    package var text: String {
      isReady
        ? translated("What is on it appears here, and as a notification.")
        : rows.isEmpty
          ? translated("Looking for your reader.")
          : translated("When nothing is missing any more, this page asks for a tag by itself.")
    }

    /// Nil findings are those of an examination that has not ended yet.
    package init(_ findings: [Finding]?) {
      let findings = findings ?? []
      rows = [
        Self.row(translated("Reader"), Self.reader, translated("It looks for tags."), findings),
        Self.row(translated("Agent"), Self.agent, translated("It gets your tags, and keeps them."), findings),
        Self.row(
          translated("Notifications"), [.notifications], translated("Your desktop shows them, with buttons."), findings),
      ].compactMap(\.self)
      isReady =
        findings.contains { $0.subject == .scanning && $0.verdict == .right }
        && findings.contains { $0.subject == .agent && $0.verdict != .wrong }
        && !rows.prefix(2).contains { $0.verdict == .wrong }
    }

    private static let reader: Set<Finding.Subject> = [
      .systemBus, .configuration, .policy, .daemonUnit, .daemon, .kernelModule, .pcscd, .reader, .scanning,
    ]
    private static let agent: Set<Finding.Subject> = [.sessionBus, .agentConfiguration, .station, .agentUnit, .agent]
    /// Notes that say why no tag is read now. Others can wait until a tag was read.
    private static let obstacles: Set<Finding.Subject> = [.pcscd, .reader, .scanning, .station, .agent]

    /// The first obstacle on a tap's way; nil if nothing was examined.
    private static func row(
      _ title: String, _ subjects: Set<Finding.Subject>, _ right: String, _ findings: [Finding]
    ) -> FindingRow? {
      let findings = findings.filter { subjects.contains($0.subject) }
      guard !findings.isEmpty else { return nil }
      let first =
        findings.first { $0.verdict == .wrong }
        ?? findings.first { $0.verdict == .note && obstacles.contains($0.subject) }
      return first.map { FindingRow($0, title: title) } ?? FindingRow(title: title, verdict: .right, text: right)
    }
  }
}
