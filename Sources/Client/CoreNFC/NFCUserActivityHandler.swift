import Bus
import Foundation
import NDEF
import TagrouteClient

/// Delivers what tags, links and the desktop open a program for (an addition on this system).
///
/// It takes the place of `application(_:continue:restorationHandler:)` of iOS, whose body can be used as it is. There
/// are two ways, as the program's desktop entry says:
///
/// - With `DBusActivatable=true`, the program is called over D-Bus: ``serve(_:_:)``.
/// - With `Exec=menu %u`, the program is started for each tap, with the link as its argument and the message on its
///   standard input: ``fromStandardInput(uri:)``.
///
/// A program with both looks at its arguments:
///
///     if CommandLine.arguments.count > 1 {
///       _ = open(try NFCUserActivityHandler.fromStandardInput())
///     } else {
///       try await NFCUserActivityHandler.serve("org.example.Menu") { userActivity in open(userActivity) }
///     }
///
///     func open(_ userActivity: NSUserActivity) -> Bool {
///       guard userActivity.activityType == NSUserActivityTypeBrowsingWeb else { return false }
///       let message = userActivity.ndefMessagePayload
///       guard let record = message.records.first, record.typeNameFormat != .empty else { return false }
///       show(message)
///       return true
///     }
public enum NFCUserActivityHandler {
  /// Serves activities until the task is cancelled or the session bus is gone.
  ///
  /// The program's desktop entry has `DBusActivatable=true` and `Implements=org.tagroute.Handler1;`. The bus starts the
  /// program if there is a D-Bus service file for it.
  ///
  /// - Parameters:
  ///   - id: the program's id: the name of its desktop entry without `.desktop`. It is also its bus name.
  ///   - continueActivity: takes each activity, one after the other, and returns soon, because the user waits. True:
  ///     the program has used the activity. If it returns false for a tap, or throws, the tap has failed. Then the user
  ///     sees the text of the error.
  /// - Throws: `CancellationError` if the task is cancelled, else `NFCReaderError`:
  ///   - 3: the id is not a bus name.
  ///   - 202: the bus cannot be reached or has gone.
  ///   - 203: the program runs already.
  public static func serve(
    _ id: String, _ continueActivity: (_ userActivity: NSUserActivity) async throws -> Bool
  ) async throws {
    try await serve(id, on: .session, continueActivity)
  }

  static func serve(
    _ id: String, on address: BusAddress, _ continueActivity: (NSUserActivity) async throws -> Bool
  ) async throws {
    do {
      try await TagHandler.serve(id, on: address) { opening in
        let isUsed: Bool
        do {
          isUsed = try await continueActivity(NSUserActivity(opening))
        } catch {
          throw ActivityFailure(error)
        }
        guard isUsed || !opening.isByTag else { throw ActivityFailure("the program did not use the tag") }
      }
    } catch let error as BusError {
      throw NFCReaderError(serving: error)
    }
  }

  /// The activity for which the `Exec` of a desktop entry has started this program, for example `Exec=menu %u`.
  ///
  /// Blocks until the standard input ends. A terminal is not read. Without input, the message has one empty record.
  ///
  /// - Parameter uri: the link; by default the program's first argument.
  /// - Returns: the activity.
  /// - Throws: `NFCReaderError`: code 3 if the input is not a message or longer than 1 MiB, 202 if it cannot be read.
  public static func fromStandardInput(
    uri: String? = CommandLine.arguments.dropFirst().first
  ) throws -> NSUserActivity {
    do {
      return NSUserActivity(try TagOpening.fromStandardInput(uri: uri))
    } catch let error as NDEFError {
      throw NFCReaderError(
        .readerErrorInvalidParameter, "The standard input is not an NDEF message: \(error.reason).", error)
    } catch {
      throw NFCReaderError(
        .readerSessionInvalidationErrorSessionTerminatedUnexpectedly, "The standard input cannot be read: \(error).",
        error)
    }
  }
}

/// What the user sees after a tap that the program has not used.
struct ActivityFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The text of a program's error. Errors of iOS have it in their localized description, and plain errors of Swift
  /// only in their description.
  init(_ error: any Error) {
    if let text = (error as? any LocalizedError)?.errorDescription {
      description = text
    } else if error is any CustomNSError || type(of: error) is NSError.Type {
      description = error.localizedDescription
    } else {
      description = "\(error)"
    }
  }
}

extension NFCReaderError {
  /// Why a program does not serve, or serves no more.
  fileprivate init(serving error: BusError) {
    let code: Code =
      switch error.name {
      case BusError.Name.invalidArguments: .readerErrorInvalidParameter
      case BusError.Name.prefix + "NameExists": .readerSessionInvalidationErrorSystemIsBusy
      default: .readerSessionInvalidationErrorSessionTerminatedUnexpectedly
      }
    self.init(code, error.message, error)
  }

  /// An error with a text of its own instead of that of its code.
  fileprivate init(_ code: Code, _ text: String, _ underlying: any Error) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: text, NSUnderlyingErrorKey: underlying])
  }
}

extension NSUserActivity {
  /// The type of an activity that starts the program and opens nothing.
  static let activationType = "org.freedesktop.Application.Activate"

  /// The activity for an opening by the agent or the desktop.
  convenience init(_ opening: TagOpening) {
    self.init(
      activityType: opening.uri != nil || opening.isByTag
        ? NSUserActivityTypeBrowsingWeb : NSUserActivity.activationType)
    webpageURL = opening.uri.flatMap { URL(string: $0) }
    ndefMessagePayload = NFCNDEFMessage(opening.message)
    activationToken = opening.activationToken
    tapIdentifier = opening.tapID
    tagIdentifier = opening.uid.isEmpty ? nil : Data(opening.uid)
    tagTechnology = opening.technology.isEmpty ? nil : opening.technology
    readerIdentifier = opening.reader.isEmpty ? nil : opening.reader
    tagDate = opening.time.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
  }
}

extension TagOpening {
  /// Whether a tag has opened the program. A message on standard input has no tap id.
  var isByTag: Bool { tapID != nil || message != .empty }
}
