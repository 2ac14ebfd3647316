import Names
import Presence

extension DesktopState {
  /// The known conditions, as `ReportConditions` has them. Unknown ones are missing.
  var report: [String: Bool] {
    [
      Names.Condition.locked: locked, Names.Condition.displayOff: displayOff, Names.Condition.camera: camera,
      Names.Condition.airplaneMode: airplaneMode,
    ].compactMapValues { fact in
      switch fact {
      case .yes: true
      case .no: false
      case .unknown: nil
      }
    }
  }

  /// The known conditions, for the log.
  var summary: String {
    let facts = report.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value ? "yes" : "no")" }
    let reasons = lockReasons.isEmpty ? "" : " (\(lockReasons.joined(separator: "; ")))"
    return (facts.isEmpty ? "nothing is known" : facts.joined(separator: " ")) + reasons
  }
}
