import Bus
import Names
import Routing

/// Hands a message over to an application that is activated over D-Bus (Desktop Entry Specification 1.5, "D-Bus
/// Activation").
///
/// The meaning of an error depends on its sender. An application may take the message and then fail to call a third
/// program. It may reply with the error that the bus sends for a missing application. Trusting that error would hand
/// the message over twice.
struct BusHandOver {
  let connection: Connection
  let timeout: Duration
  let application: Application

  private var name: String { AppID.text(application.desktopID) }

  private var path: ObjectPath {
    get throws(BusError) { try ObjectPath("/" + String(name.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 })) }
  }

  /// Calls `TagRemoved`. The method is optional, and an application that has ended is not started for it.
  func reportRemoval(_ click: Launcher.Click) async throws(BusError) {
    guard let tapID = click.tapID else { return }
    _ = try await connection.call(
      name, try path, Names.Handler.interface, Names.Handler.tagRemoved,
      [.string(tapID), .dictionary(click.tag?.platformData ?? [:])], timeout: timeout, autoStart: false)
  }

  /// Calls `HandleTag` for a message. An application without our interface gets the link by
  /// `org.freedesktop.Application.Open`, as it gets a link alone and a file. Returns nil if the bus cannot start the
  /// application, so the message cannot have reached it.
  func deliver(_ contents: HandOverContents, click: Launcher.Click) async -> HandOverOutcome? {
    var platformData: [String: Value] = [:]
    if let token = click.activationToken {
      platformData[Names.Handler.activationTokenKey] = .string(token)
      platformData[Names.Handler.startupIDKey] = .string(token)
    }
    do throws(BusError) {
      let path = try path
      if let message = contents.wholeMessage {
        var data = platformData
        if let tapID = click.tapID { data[Names.Handler.tapIDKey] = .string(tapID) }
        if let tag = click.tag { data.merge(tag.platformData) { $1 } }
        do throws(BusError) {
          let arguments: [Value] = [.string(contents.address ?? ""), .bytes(message), .dictionary(data)]
          _ = try await connection.call(
            name, path, Names.Handler.interface, Names.Handler.handleTag, arguments, timeout: timeout)
          return .delivered
        } catch {
          // Without a link, there is nothing else to give it.
          guard contents.address != nil, error.saysThatItIsUnknown, await !declaresHandler(at: path) else {
            throw error
          }
          // The application runs, but does not handle tags.
        }
      }
      let arguments: [Value] = [.strings([contents.address].compactMap(\.self)), .dictionary(platformData)]
      _ = try await connection.call(
        name, path, Names.Handler.applicationInterface, Names.Handler.open, arguments, timeout: timeout)
      return .delivered
    } catch {
      return outcome(of: error)
    }
  }

  /// Whether the application exports our interface, so that an "unknown method" error was about another call.
  private func declaresHandler(at path: ObjectPath) async -> Bool {
    let reply = try? await connection.call(
      name, path, "org.freedesktop.DBus.Introspectable", "Introspect", timeout: Self.introspectionTimeout,
      autoStart: false)
    return reply?.first?.asString?.contains(Names.Handler.interface) ?? false
  }

  /// Short, because the application has just replied.
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
  /// Whether the peer replied that it has no such method. GDBus uses one of the two errors, other libraries the other.
  fileprivate var saysThatItIsUnknown: Bool {
    speaker == .peer && [Name.unknownMethod, Name.unknownInterface].contains(name)
  }
}
