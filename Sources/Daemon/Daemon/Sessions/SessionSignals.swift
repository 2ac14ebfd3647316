import Bus
import Journal
import Names

/// Only the client of the session gets them.
@DaemonLoop struct SessionSignals {
  let core: DaemonCore

  func send(_ member: String, _ arguments: [Value] = [], ofSession id: UInt64) {
    guard let session = core.state.sessions[id] else { return }
    send(member, arguments, of: session)
  }

  func send(_ member: String, _ arguments: [Value], of session: SessionRecord) {
    do {
      try core.connection?.assumeIsolated {
        try $0.emit(
          path: session.path, interface: Names.Daemon.readerSessionInterface, member: member, arguments,
          destination: session.client)
      }
    } catch {
      core.log(.debug, "cannot send \(member) of reader session \(session.id): \(error)")
    }
  }

  func sendChanges(of properties: [String], of session: SessionRecord) {
    Task {
      await core.connection?.propertiesChanged(
        properties, of: Names.Daemon.readerSessionInterface, at: session.path)
    }
  }
}
