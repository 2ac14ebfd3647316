import Bus
import TagrouteClient

/// Follows the daemon and the agent while a widget is on the screen.
final class ServiceWatch {
  enum Change {
    /// The daemon or a reader has changed, or the widget has just come to the screen.
    case daemon
    case agent(AgentClient.Event)
  }

  private let services: Services
  private let changed: (Change) -> Void
  private var tasks: [Task<Void, Never>] = []

  /// `changed` must not keep the owner of the widget.
  init(_ services: Services, while widget: Kept, _ changed: @escaping (Change) -> Void) {
    (self.services, self.changed) = (services, changed)
    widget.on("map") { [weak self] in self?.start() }
    widget.on("unmap") { [weak self] in self?.stop() }
  }

  isolated deinit { stop() }

  private func start() {
    stop()
    tasks = [
      Task { [services, changed] in
        do throws(BusError) {
          for await _ in try await services.daemon().changes() { changed(.daemon) }
        } catch {
          // Whoever asks the daemon now learns why it does not answer.
          changed(.daemon)
        }
      },
      Task { [services, changed] in
        guard let events = try? await services.agent().events() else { return }
        for await event in events { changed(.agent(event)) }
      },
    ]
  }

  private func stop() {
    for task in tasks { task.cancel() }
    tasks = []
  }
}
