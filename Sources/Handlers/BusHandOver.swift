import Bus
import Names
import Routing
import UniversalLinks

/// Speaks to an application that is activated over D-Bus (Desktop Entry Specification 1.5, "D-Bus Activation").
struct BusHandOver {
  let connection: Connection
  let timeout: Duration
  let application: Application

  /// Hands over by `HandleTag`; an application without our interface gets the URI by `org.freedesktop.Application.Open`.
  ///
  /// - Returns: nil where the bus cannot start the application, so that nothing of it can have been reached.
  func deliver(_ uri: URI, message: [UInt8]?, click: Launcher.Click) async -> HandOverOutcome? {
    let name = String(application.desktopID.dropLast(".desktop".count))
    var platformData: [String: Value] = [:]
    if let token = click.activationToken {
      platformData[Names.Handler.activationTokenKey] = .string(token)
      platformData[Names.Handler.startupIDKey] = .string(token)
    }
    do {
      let path = try ObjectPath("/" + String(name.map { $0 == "." ? "/" : $0 == "-" ? "_" : $0 }))
      if let message {
        var data = platformData
        if let tapID = click.tapID { data[Names.Handler.tapIDKey] = .string(tapID) }
        do {
          let arguments: [Value] = [.string(uri.string), .bytes(message), .dictionary(data)]
          _ = try await connection.call(
            name, path, Names.Handler.interface, Names.Handler.handleTag, arguments, timeout: timeout)
          return .delivered
        } catch  where error.name == BusError.Name.unknownMethod || error.name == BusError.Name.unknownInterface {
          // It is there, and does not know tags.
        }
      }
      let arguments: [Value] = [.strings([uri.string]), .dictionary(platformData)]
      _ = try await connection.call(
        name, path, Names.Handler.applicationInterface, Names.Handler.open, arguments, timeout: timeout)
      return .delivered
    } catch  where error.name == BusError.Name.serviceUnknown || error.name == BusError.Name.nameHasNoOwner {
      return nil
    } catch  where error.isTimeout {
      return .unknown(.unanswered(within: timeout))
    } catch  where error.name == BusError.Name.noReply {
      return .unknown(HandOverDoubt(.leftWithoutAnswer))
    } catch  where error.isDisconnected {
      return .unknown(HandOverDoubt(.busLost))
    } catch {
      return .failed(HandOverFailure(.handlerFailed, error.message, error: error.name))
    }
  }
}
