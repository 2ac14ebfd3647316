import Notifications
import Records

/// What the window shows of a run that writes tags. All texts are safe to show.
package struct WritingScene: Sendable, Hashable {
  package enum Button: Sendable, Hashable, CaseIterable {
    case keep
    case replace
    /// Tries again, or goes on with the batch.
    case again
    case writeBack
    case stop
    /// Leads back to the form.
    case done
  }

  /// A tag that is done.
  package struct Result: Sendable, Hashable {
    package let title: String
    package let text: String
    package let isGood: Bool
  }

  package let title: String
  package let text: String
  /// The name of a symbolic icon; nil while something moves.
  package let icon: String?
  /// What the tag holds now, if the user is asked about it.
  package var held: [String] = []
  /// In the order of importance: the first one gets the focus.
  package let buttons: [Button]

  private init(_ title: String, _ text: String = "", icon: String?, _ buttons: [Button]) {
    (self.title, self.text, self.icon, self.buttons) = (title, text, icon, buttons)
  }

  /// Nil if there is only the form to show.
  package init?<Tag>(_ run: WritingRun<Tag>) {
    let counter = run.order.isBatch ? Self.counter(run.written) : ""
    switch run.state {
    case .idle: return nil
    case .starting: self.init(translated("Waiting for the Reader"), counter, icon: nil, [.stop])
    case .holding:
      let warning = run.order.locks ? translated("It is locked after writing. This cannot be undone.") : ""
      self.init(
        translated("Hold a Tag to the Reader"), Self.joined(counter, warning), icon: Self.tag, [.stop])
    case .several:
      self.init(
        translated("More Than One Tag"), translated("Take all but one away."), icon: "dialog-warning-symbolic", [.stop])
    case .examining: self.init(translated("Reading the Tag"), translated("Do not move it."), icon: nil, [.stop])
    case .asking(let contents):
      self.init(
        translated("Replace What Is on the Tag?"), Self.joined(run.currentName, counter),
        icon: "dialog-question-symbolic", run.order.isBatch ? [.keep, .replace, .stop] : [.keep, .replace])
      held = Self.lines(contents)
    case .writing:
      let text = run.isStopping ? translated("This is the last tag.") : translated("Do not move it.")
      self.init(translated("Writing the Tag"), text, icon: nil, run.isStopping ? [] : [.stop])
    case .resting:
      let result = run.entries.last.map(Self.result)
      self.init(
        translated("Take the Tag Away"), Self.joined(result?.text ?? "", counter),
        icon: result?.isGood == false ? "dialog-warning-symbolic" : "object-select-symbolic", [.stop])
    case .over(let problem):
      guard problem != nil || !run.entries.isEmpty else { return nil }
      if run.order.isBatch {
        self.init(
          counter, problem?.words ?? "", icon: problem == nil ? "object-select-symbolic" : "dialog-warning-symbolic",
          problem == nil ? [.done] : [.again, .done])
      } else {
        self.init(over: run, problem)
      }
    }
  }

  /// The end of a run with one tag.
  private init<Tag>(over run: WritingRun<Tag>, _ problem: WritingRun<Tag>.Problem?) {
    let back: [Button] = run.orderToWriteBack == nil ? [] : [.writeBack]
    switch run.entries.last?.outcome {
    case .written(let isLocked):
      let text =
        isLocked
        ? translated("The message was read back from the tag, and the tag is locked.")
        : translated("The message was read back from the tag.")
      self.init(
        run.order.isReturn ? translated("Former Message Written Back") : translated("Tag Written"),
        Self.joined(run.currentName, text), icon: "object-select-symbolic", [.done] + back)
    case .kept:
      self.init(translated("Tag Not Changed"), run.currentName, icon: "dialog-information-symbolic", [.done])
    case .failed(let problem):
      let isWritten = run.entries.last?.isWritten == true
      self.init(
        isWritten ? translated("Tag Not Locked") : translated("Tag Not Written"),
        Self.joined(run.currentName, problem.words), icon: "dialog-warning-symbolic", [.again, .done] + back)
    case nil:
      self.init(
        translated("Nothing Was Written"), problem?.words ?? "", icon: "dialog-warning-symbolic", [.again, .done])
    }
  }

  private static let tag = "org.tagroute.Tags-symbolic"
  private static let mostLines = 20

  /// For the list of a batch.
  package static func result<Tag>(_ entry: WritingRun<Tag>.Entry) -> Result {
    let text =
      switch entry.outcome {
      case .written(isLocked: true): translated("Written and locked")
      case .written(isLocked: false): translated("Written")
      case .kept: translated("Not changed")
      case .failed(let problem): problem.words
      }
    return Result(title: entry.name, text: text, isGood: entry.isWritten)
  }

  private static func counter(_ count: Int) -> String {
    count == 1 ? translated("1 tag written") : translated("{number} tags written", ["number": "\(count)"])
  }

  private static func lines<Tag>(_ contents: WritingRun<Tag>.Contents) -> [String] {
    guard case .message(let message) = contents else { return [translated("The contents are damaged.")] }
    let records = RecordReport.all(in: message)
    guard !records.isEmpty else { return [translated("The contents are damaged.")] }
    let lines = records.prefix(mostLines).map { DisplayText($0.line, limit: 1000).string }
    let rest = records.count - lines.count
    return rest > 0 ? lines + [translated("{number} more records", ["number": "\(rest)"])] : lines
  }

  private static func joined(_ texts: String...) -> String {
    texts.filter { !$0.isEmpty }.joined(separator: "\n")
  }
}
