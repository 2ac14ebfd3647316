import Names
import Notifications
import ReaderModels
package import TagrouteClient

/// What the window shows of one reader. All texts are safe to show, and of bounded length.
package struct ReaderSummary: Sendable, Hashable {
  package struct Row: Sendable, Hashable {
    package let title: String
    package let text: String
  }

  /// Whether another program can have the reader's device.
  package enum Loan: Sendable, Hashable {
    /// The reader cannot be lent now.
    case notPossible
    case possible
    /// The daemon is closing the device.
    case starting
    /// The window has borrowed the device for another program.
    case held
  }

  /// The object path.
  package let path: String
  package let name: String
  package let rows: [Row]
  /// Since the daemon started.
  package let counters: [Row]
  package let loan: Loan
  /// What a loan is, or how to use it.
  package let loanText: String

  /// `loan` is the window's own; nil if it has none.
  package init(_ reader: ReaderStatus, loan: Loan?) {
    path = reader.path
    let device = DisplayText(reader.device).string
    // For a device on a serial line, libnfc uses the connection string as the name.
    let isNamed = !reader.name.isEmpty && reader.name != reader.device
    name = isNamed ? DisplayText(reader.name, limit: 100).string : device.isEmpty ? translated("Reader") : device
    self.loan = loan ?? (["ready", "scanning"].contains(reader.state) ? .possible : .notPossible)
    loanText =
      switch self.loan {
      case .notPossible: translated("Not possible now")
      case .possible, .starting: translated("Tags are not read until you take it back or close this window")
      // Translators: {device} is what the other program needs to find the reader.
      case .held: translated("Another program can open it as {device}", ["device": device])
      }
    let reason = DisplayText(reader.stateReason, limit: 500, lines: 5).string
    let kinds = reader.technologies.map { DisplayText(TapWords.technology($0), limit: 60).string }
    rows = [
      Row(title: translated("State"), text: ReaderWords.state(reader.state)),
      // Translators: above the reason for the state of a reader.
      Row(title: translated("Reason"), text: reason),
      Row(title: translated("Model"), text: Self.model(reader.device) ?? ""),
      // Translators: the program that controls a reader.
      Row(title: translated("Driver"), text: ReaderWords.driver(reader.device)),
      Row(title: translated("Device"), text: isNamed ? device : ""),
      // Translators: the place at a computer with several screens and keyboards that a reader belongs to.
      Row(title: translated("Seat"), text: DisplayText(reader.seat, limit: 60).string),
      Row(title: translated("Kinds of tags"), text: kinds.joined(separator: ", ")),
    ].filter { !$0.text.isEmpty }
    counters = [
      ("placements", translated("Tags held to it")), ("messages", translated("Messages read")),
      ("problems", translated("Tags that could not be read")),
      // Translators: how often the program for this reader was started again.
      ("restarts", translated("Restarts")),
    ].compactMap { key, title in reader.counters[key].map { Row(title: title, text: "\($0)") } }
  }

  /// Nil if it is not known. libnfc's names have the model already.
  private static func model(_ device: String) -> String? {
    Names.PCSC.readerName(inDevice: device).map { ReaderModel.find(readerName: $0)?.title ?? translated("Not known") }
  }
}
