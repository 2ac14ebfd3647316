import CGTK
import Doctor
import EventLoop
import TagsPages

/// Examines the system while a widget is on the screen. It carries out what `Checkup` decides.
final class Examiner {
  private(set) var checkup = Checkup()
  private let services: Services
  private let widget: Kept
  private var pause: Task<Void, Never>?
  /// Called with new findings, and when the user begins to wait for them.
  var examined: (Checkup) -> Void = { _ in }

  init(_ services: Services, while widget: Kept) { (self.services, self.widget) = (services, widget) }

  isolated deinit { pause?.cancel() }

  func handle(_ event: Checkup.Event) {
    for action in checkup.handle(event) {
      switch action {
      case .examine:
        Task { [weak self, services] in
          let findings = await Self.findings(services.loop)
          self?.handle(.examined(findings))
        }
      case .pause(let length):
        pause?.cancel()
        // A widget that comes back to the screen has the daemon's changes again.
        guard gtk_widget_get_mapped(widget.widget) != 0 else { break }
        pause = Task { [weak self] in
          guard (try? await Task.sleep(for: length)) != nil, let self, gtk_widget_get_mapped(widget.widget) != 0 else {
            return
          }
          handle(.pauseEnded)
        }
      case .show: examined(checkup)
      }
    }
  }

  /// Off the main actor: an examination reads files.
  @concurrent nonisolated private static func findings(_ loop: EventLoop) async -> [Finding] {
    Diagnosis(await Examination.make(on: loop)).findings
  }
}
