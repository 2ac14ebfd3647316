import Bus
import CShims
import EventLoop
import Glibc
import Journal
import Names
import Session

extension DaemonService {
  func inhibit(_ call: IncomingCall) async throws -> [Value] {
    guard let connection, call.arguments.count == 2, let who = call.arguments[0].asString,
      let why = call.arguments[1].asString
    else { throw BusError.invalidArguments("who and why are missing") }
    let credentials = try await connection.credentials(of: call.sender)
    guard state.mayInhibit(credentials.uid, await logins?.state) else {
      throw BusError(
        name: Names.Errors.notAuthorized, message: "user \(credentials.uid) has no active session at this machine")
    }
    let (ours, theirs) = try pipe()
    let inhibitor: InhibitorList.Inhibitor
    do throws(InhibitorList.Refusal) {
      inhibitor = try inhibitors.add(who: who, why: why, uid: credentials.uid, pid: credentials.pid)
    } catch {
      switch error {
      case .invalid(let reason): throw BusError(name: Names.Errors.invalidArgument, message: reason)
      case .tooMany(let reason): throw BusError(name: Names.Errors.tooMany, message: reason)
      }
    }
    do throws(SystemError) {
      // Nobody writes into it: readable means that the last copy of the other end is closed, or that it is misused.
      inhibitorWatches[inhibitor.id] = try DescriptorWatch(ours, on: loop) { [weak self] in
        self?.assumeIsolated { $0.release(inhibitor) }
      }
    } catch {
      inhibitors.remove(inhibitor.id)
      throw BusError(name: Names.Errors.failed, message: "\(error)")
    }
    log(.info, "\(who) (user \(credentials.uid)) inhibits scanning: \(why)")
    handle(.inhibited(true))
    return [.unixFD(theirs)]
  }

  func listInhibitors() -> [Value] {
    let entries = inhibitors.inhibitors.map { inhibitor in
      Value.structure([
        .string(inhibitor.who), .string(inhibitor.why), .uint32(inhibitor.uid), .uint32(inhibitor.pid),
      ])
    }
    return [.array(element: "(ssuu)", entries)]
  }

  private func release(_ inhibitor: InhibitorList.Inhibitor) {
    inhibitorWatches.removeValue(forKey: inhibitor.id)?.cancel()
    inhibitors.remove(inhibitor.id)
    log(.info, "\(inhibitor.who) (user \(inhibitor.uid)) inhibits scanning no more")
    handle(.inhibited(!inhibitors.inhibitors.isEmpty))
  }

  private func pipe() throws -> (FileDescriptor, FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else {
      throw BusError(name: Names.Errors.failed, message: "\(SystemError("make a pipe"))")
    }
    return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }
}
