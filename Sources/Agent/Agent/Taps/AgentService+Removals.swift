import Bus
import Handlers
import Journal

/// The end of a tap's placement.
extension AgentService {
  /// Handles the daemon's report that the tag of a tap was removed. Nothing runs behind a lock, and it is not made up for
  /// later.
  func tagRemoved(_ id: String) async {
    await emit("TagRemoved", [.string(id)])
    let isLocked = await isLocked()
    if isLocked { log(.debug, "the tag of tap \(id) was removed while the session was locked") }
    begin(removals.handle(isLocked ? .forgotten(id) : .removed(id)))
  }

  /// Begins actions, unless the session is locked. Their failure concerns no tap that is on the screen, so it is only
  /// logged.
  func begin(_ actions: [TagRemovals.Action]) {
    for action in actions {
      Task {
        // A late answer may come minutes after the removal.
        guard await !isLocked() else {
          log(.info, "the removal of a tag has no effect: the session is locked")
          return
        }
        switch action {
        case .run(let command, let click):
          let outcome = await launcher.run(command, message: [], click: click)
          let program = "the program of OnRemove= of the rule “\(command.rule)”"
          if case .failed(let failure) = outcome {
            log(.warning, "\(program) was not started: \(failure.code.rawValue)")
          } else {
            log(.info, "\(program) was started: the tag was removed")
          }
        case .report(let application, let click): await launcher.reportRemoval(to: application, click: click)
        }
      }
    }
  }
}
