import Bus
import Names
import Routing
import UniversalLinks

/// Speaks to an application that is activated over D-Bus (Desktop Entry Specification 1.5, "D-Bus Activation").
///
/// What an error means depends on who says it. An application that has taken the message and fails over a third program may answer with
/// the very words that the bus has for an application that is not there; to believe it would be to hand over twice.
struct BusHandOver {
  let connection: Connection
  let timeout: Duration
  let application: Application

  private var name: String { String(application.desktopID.dropLast(".desktop".count)) }

  /// Hands over by `HandleTag`; an application without our interface gets the URI by `org.freedesktop.Application.Open`.
  ///
  /// - Returns: nil where the bus cannot start the application, so that nothing of it can have been reached.
  func deliver(_ uri: URI, message: [UInt8]?, click: Launcher.Click) async -> HandOverOutcome? {
    var platformData: [String: Value] = [:]
    if let token = click.activationToken {
      platformData[Names.Handler.activationTokenKey] = .string(token)
      platformData[Names.Handler.startupIDKey] = .string(token)
    }
    do throws(BusError) {
      let path = try ObjectPath("/" + String(name.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
      if let message {
        var data = platformData
        if let tapID = click.tapID { data[Names.Handler.tapIDKey] = .string(tapID) }
        do throws(BusError) {
          let arguments: [Value] = [.string(uri.string), .bytes(message), .dictionary(data)]
          _ = try await connection.call(
            name, path, Names.Handler.interface, Names.Handler.handleTag, arguments, timeout: timeout)
          return .delivered
        } catch {
          guard error.saysThatItIsUnknown, await !declaresHandler(at: path) else { throw error }
          // It is there, and does not know tags.
        }
      }
      let arguments: [Value] = [.strings([uri.string]), .dictionary(platformData)]
      _ = try await connection.call(
        name, path, Names.Handler.applicationInterface, Names.Handler.open, arguments, timeout: timeout)
      return .delivered
    } catch {
      return outcome(of: error)
    }
  }

  /// Whether the application says that it has our interface, so that "unknown method" is not about ours.
  private func declaresHandler(at path: ObjectPath) async -> Bool {
    let reply = try? await connection.call(
      name, path, "org.freedesktop.DBus.Introspectable", "Introspect", timeout: Self.introspectionTimeout,
      autoStart: false)
    return reply?.first?.asString?.contains(Names.Handler.interface) ?? false
  }

  /// It has just answered.
  private static let introspectionTimeout = Duration.seconds(5)

  private func outcome(of error: BusError) -> HandOverOutcome? {
    switch error.speaker {
    case .peer: .failed(HandOverFailure(.handlerFailed, error.message, error: error.name))
    case .bus:
      switch error.name {
      case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner, BusError.Name.spawnExecFailed,
        BusError.Name.spawnServiceNotFound, BusError.Name.spawnFileInvalid:
        nil
      case BusError.Name.noReply: .unknown(HandOverDoubt(.leftWithoutAnswer))
      default: .failed(HandOverFailure(.notStarted, error.message, error: error.name))
      }
    case .thisSide:
      if error.isTimeout {
        .unknown(.unanswered(within: timeout))
      } else if error.isDisconnected {
        .unknown(HandOverDoubt(.busLost))
      } else {
        .failed(HandOverFailure(.notStarted, error.message, error: error.name))
      }
    }
  }
}

extension BusError {
  /// Whether the peer has no such method; GDBus says the one, others the other.
  fileprivate var saysThatItIsUnknown: Bool {
    speaker == .peer && [Name.unknownMethod, Name.unknownInterface].contains(name)
  }
}
