import Dispatch
public import Foundation

/// The commands with a configuration, of iOS 11.
extension NFCISO15693Tag {
  /// Sends a command of the IC's manufacturer at the high data rate, again if the tag does not answer.
  ///
  /// Fails with code 300 if a value of the configuration is out of range, and with 101 if the last retry fails too.
  ///
  /// - Parameters:
  ///   - commandConfiguration: the command, and how often it is sent again.
  ///   - completionHandler: gets the bytes after the response flags, or the error.
  @preconcurrency
  public func sendCustomCommand(
    commandConfiguration: NFCISO15693CustomCommandConfiguration,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    let (code, manufacturer) = (commandConfiguration.customCommandCode, commandConfiguration.manufacturerCode)
    guard let attempts = Attempts(commandConfiguration, self), (0xA0...0xDF).contains(code),
      (0...0xFF).contains(manufacturer)
    else { return refuseConfiguration(completionHandler) }
    let parameters = commandConfiguration.requestParameters
    let tag = OnQueue(self as any NFCISO15693Tag)
    attempts.run(completionHandler) { handler in
      guard manufacturer != tag.value.icManufacturerCode else {
        return tag.value.customCommand(
          requestFlags: .highDataRate, customCommandCode: code, customRequestParameters: parameters,
          completionHandler: handler)
      }
      tag.value.request(.highDataRate, { try $0.custom(code, manufacturer: manufacturer, parameters) }) { result in
        handler((try? result.get()) ?? Data(), result.errorOrNil)
      }
    }
  }

  /// The `async` form.
  public func sendCustomCommand(commandConfiguration: NFCISO15693CustomCommandConfiguration) async throws -> Data {
    try await fromHandler { sendCustomCommand(commandConfiguration: commandConfiguration, completionHandler: $0) }
  }

  /// Reads blocks at the high data rate with several commands, each sent again if the tag does not answer.
  ///
  /// Fails with code 300 if a value of the configuration is out of range, and with 101 if the last retry fails too.
  ///
  /// - Parameters:
  ///   - readConfiguration: 1 to 256 blocks, and how many one command reads.
  ///   - completionHandler: gets all blocks as one, or the error.
  @preconcurrency
  public func readMultipleBlock(
    readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration,
    completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    let (range, size) = (readConfiguration.range, readConfiguration.chunkSize)
    guard let attempts = Attempts(readConfiguration, self), (0..<0x100).contains(range.location),
      (1...0x100 - range.location).contains(range.length), size > 0
    else { return refuseConfiguration(completionHandler) }
    let end = range.location + range.length
    let chunks = stride(from: range.location, to: end, by: size).map {
      NSRange(location: $0, length: min(size, end - $0))
    }
    readChunks(chunks[...], Data(), of: OnQueue(self as any NFCISO15693Tag), attempts, completionHandler)
  }

  /// The `async` form.
  public func readMultipleBlock(readConfiguration: NFCISO15693ReadMultipleBlocksConfiguration) async throws -> Data {
    try await fromHandler { readMultipleBlock(readConfiguration: readConfiguration, completionHandler: $0) }
  }

  private func refuseConfiguration(_ completionHandler: @escaping Handler<Data>) {
    callbackQueue.async { completionHandler(Data(), NFCReaderError(.tagCommandConfigurationErrorInvalidParameters)) }
  }
}

/// Reads one chunk after the other. `data` is what was read so far.
private func readChunks(
  _ chunks: ArraySlice<NSRange>, _ data: Data, of tag: OnQueue<any NFCISO15693Tag>, _ attempts: Attempts,
  _ completionHandler: @escaping Handler<Data>
) {
  guard let chunk = chunks.first else { return completionHandler(data, nil) }
  attempts.run { more, error in
    if let error { return completionHandler(Data(), error) }
    readChunks(chunks.dropFirst(), data + more, of: tag, attempts, completionHandler)
  } _: { handler in
    tag.value.readMultipleBlocks(
      requestFlags: .highDataRate, blockRange: chunk, completionHandler: { handler(Data($0.joined()), $1) })
  }
}

/// Sends a command again if the tag does not answer.
private struct Attempts: Sendable {
  /// How often the command is sent again.
  private let retries: Int
  /// The time before the command is sent again, in seconds.
  private let interval: TimeInterval
  private let tag: OnQueue<any NFCISO15693Tag>

  /// Nil if a value of the configuration is out of range.
  init?(_ configuration: NFCTagCommandConfiguration, _ tag: any NFCISO15693Tag) {
    guard configuration.maximumRetries >= 0, configuration.retryInterval >= 0, configuration.retryInterval.isFinite
    else { return nil }
    retries = configuration.maximumRetries
    interval = configuration.retryInterval
    self.tag = OnQueue(tag)
  }

  func run(
    _ completionHandler: @escaping Handler<Data>, _ send: @escaping @Sendable (@escaping Handler<Data>) -> Void
  ) {
    run(left: retries, completionHandler, send)
  }

  private func run(
    left: Int, _ completionHandler: @escaping Handler<Data>,
    _ send: @escaping @Sendable (@escaping Handler<Data>) -> Void
  ) {
    send { data, error in
      guard let error, Self.isTransient(error), retries > 0 else { return completionHandler(data, error) }
      guard left > 0 else { return completionHandler(Data(), NFCReaderError(.readerTransceiveErrorRetryExceeded)) }
      pause { error in
        if let error { return completionHandler(Data(), error) }
        run(left: left - 1, completionHandler, send)
      }
    }
  }

  /// Waits before the command is sent again.
  ///
  /// On a tag of a session, the pause is a call to the tag. So the session answers it before its end, and later calls
  /// wait for it.
  private func pause(_ completion: @escaping Handler<>) {
    guard let detected = tag.value as? DetectedTag, let session = detected.owner else {
      return tag.value.callbackQueue.asyncAfter(deadline: .now() + interval) { completion(nil) }
    }
    // No session is as long as an hour, and a `Duration` cannot hold every interval.
    let pause = Duration.seconds(min(interval, 3600))
    session.run.perform(.command, on: detected.tag, { completion($0.errorOrNil) }) { _ in
      do {
        try await Task.sleep(for: pause)
      } catch {
        throw NFCReaderError(.readerTransceiveErrorSessionInvalidated)
      }
    }
  }

  /// Whether another attempt may succeed: the tag has not answered, or its answer was disturbed.
  private static func isTransient(_ error: any Error) -> Bool {
    guard let error = error as? NFCReaderError else { return false }
    return error.code == .readerTransceiveErrorTagResponseError
      && error._nsError.userInfo[NFCISO15693TagResponseErrorKey] == nil
  }
}
