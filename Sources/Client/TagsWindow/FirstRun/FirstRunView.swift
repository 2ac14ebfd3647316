import CGTK
import TagrouteClient
import TagsPages

/// The page of the first run. It shows what `FirstRun` has, and follows the system by itself.
final class FirstRunView {
  let widget: Kept
  private let status: Kept
  private let examiner: Examiner
  private let findings: FindingList
  private var watch: ServiceWatch?
  private var firstRun = FirstRun()

  init(_ services: Services, _ toasts: Toasts) {
    let builder = Builder("first-run.ui")
    status = builder["page"]
    widget = status
    examiner = Examiner(services, while: widget)
    findings = FindingList(builder["rows"], toasts)
    examiner.examined = { [weak self] checkup in self?.show(FirstRun.Checklist(checkup.findings)) }
    watch = ServiceWatch(services, while: widget) { [weak self] change in
      switch change {
      case .daemon, .agent(.appeared), .agent(.disappeared): self?.examiner.handle(.changed)
      case .agent: break
      }
    }
    // Translators: a list of what has to work before a tag can be read.
    Widgets.nameLists(in: builder["rows"].widget, translated("Preparation"))
    show(FirstRun.Checklist(nil))
  }

  /// Returns whether the page takes the place of the list.
  func handle(_ event: FirstRun.Event) -> Bool {
    firstRun.handle(event)
    return firstRun.isShown
  }

  private func show(_ checklist: FirstRun.Checklist) {
    adw_status_page_set_title(status.opaque, checklist.title)
    adw_status_page_set_description(status.opaque, Widgets.escaped(checklist.text))
    findings.show(checklist.rows)
  }
}
