internal import EventLoop

/// A call that was sent and not yet answered.
struct PendingCall {
  let token: UInt64
  let target: ReplyTarget
  /// The only peer besides the bus that may answer; nil if any peer may.
  let sender: String?
  let timer: LoopTimer?
}

/// The receiver of a reply.
enum ReplyTarget {
  case caller(CheckedContinuation<Result<[Value], BusError>, Never>)
  case hello
  /// A match or a name that is requested again after a reconnection. If the request fails, the connection is dropped as
  /// incomplete.
  case restoration
  case owner(name: String)
  case user(of: String)
}

extension Connection {
  /// Calls a method.
  ///
  /// - Parameters:
  ///   - destination: a unique or well-known bus name.
  ///   - path: the object.
  ///   - interface: the interface.
  ///   - member: the method.
  ///   - arguments: the arguments, in order.
  ///   - timeout: how long to wait for the reply. A later reply is dropped. nil waits until the destination replies or
  ///     leaves the bus.
  ///   - autoStart: whether the bus may start the destination.
  /// - Returns: the values of the reply.
  /// - Throws: `BusError`: the peer's error, or an error of this side. After `timedOut`, `disconnected` or `cancelled`
  ///   (the task was cancelled), it is unknown whether the method ran. `invalidValue` means that no message was sent.
  public func call(
    _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [Value] = [],
    timeout: Duration? = .seconds(25), autoStart: Bool = true
  ) async throws(BusError) -> [Value] {
    let message = try makeCall(destination, path, interface, member, arguments)
    message.setAutoStart(autoStart)
    try checkUsable()
    guard !Task.isCancelled else { throw .cancelled("\(interface).\(member) was not called: the task is cancelled") }
    // The reply to a call by well-known name comes from its owner's unique name, which we do not know.
    let isUnique = destination.hasPrefix(":") || destination == Bus.name
    return try await send(message, from: isUnique ? destination : nil, timeout: timeout).get()
  }

  /// Calls a method of the bus itself.
  func callBus(_ member: String, _ arguments: [Value]) async throws(BusError) -> [Value] {
    try await call(Bus.name, Bus.path, Bus.interface, member, arguments)
  }

  private func makeCall(
    _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [Value]
  ) throws(BusError) -> Message {
    try NameRules.requireBusName(destination)
    try NameRules.requireInterface(interface)
    try NameRules.requireMember(member)
    try checkSendable(arguments)
    return try Message.call(destination, path, interface, member, body: arguments)
  }

  private func send(
    _ message: consuming Message, from sender: String?, timeout: Duration?
  ) async -> Result<[Value], BusError> {
    let token = makeToken()
    let pointer = SentMessage(message)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do throws(BusError) {
          try send(pointer.message, expecting: .caller(continuation), from: sender, timeout: timeout, token: token)
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    } onCancel: {
      // No other job runs on the loop before the call is registered, so this cannot run too early.
      enqueue { $0.giveUp(token, .cancelled()) }
    }
  }

  /// Sends a call and registers the receiver of its reply.
  func send(
    _ message: borrowing Message, expecting target: ReplyTarget, from sender: String?, timeout: Duration?,
    token: UInt64? = nil
  ) throws(BusError) {
    guard let native else { throw .disconnected() }
    let token = token ?? makeToken()
    let serial = try native.send(message)
    let timer = timeout.map {
      loop.schedule(after: $0) { [weak self] in
        self?.assumeIsolated { $0.giveUp(token, .timedOut()) }
      }
    }
    serials[token] = serial
    pending[serial] = PendingCall(token: token, target: target, sender: sender, timer: timer)
  }

  /// Throws if `values` cannot be sent on this connection.
  func checkSendable(_ values: [Value]) throws(BusError) {
    let signature = try WireCheck.signature(of: values)
    try checkDescriptors(in: signature, values)
  }

  /// Throws if the connection is down or too much data waits to be sent already.
  func checkUsable() throws(BusError) {
    switch phase {
    case .ready: break
    case .closed(let reason): throw reason
    case .idle, .connecting, .greeting, .waiting: throw .disconnected()
    }
    guard let native, native.outgoingLength < Self.maximumOutgoingLength else {
      throw .limitsExceeded("too much waits to be sent to the bus already")
    }
  }

  /// In bytes. Bounds the memory that messages take if the bus does not read.
  private static let maximumOutgoingLength = 64 << 20

  func receiveReply(_ message: borrowing Message) {
    let serial = message.replySerial
    guard let call = pending[serial] else { return }
    // Only the called peer, or the bus in its place, may answer. Ignore a reply of another peer that guessed the serial
    // number.
    if let expected = call.sender, let sender = message.sender, sender != expected, sender != Bus.name { return }
    pending[serial] = nil
    serials[call.token] = nil
    finish(call, result(of: message))
  }

  private func result(of message: borrowing Message) -> Result<[Value], BusError> {
    // The bus itself sets the sender.
    let speaker: BusError.Speaker = message.sender == Bus.name ? .bus : .peer
    do throws(BusError) {
      let values = try message.arguments(.reply)
      guard message.kind == .error else { return .success(values) }
      let name = message.errorName ?? BusError.Name.failed
      return .failure(
        BusError(name: name, message: values.first?.asString ?? "the peer gave no reason", speaker: speaker))
    } catch {
      return .failure(BusError(name: error.name, message: error.message, speaker: speaker))
    }
  }

  private func giveUp(_ token: UInt64, _ reason: BusError) {
    guard let serial = serials.removeValue(forKey: token), let call = pending.removeValue(forKey: serial) else {
      return
    }
    finish(call, .failure(reason))
  }

  func failPending(_ reason: BusError) {
    let calls = pending.values
    pending = [:]
    serials = [:]
    let disconnected = BusError.disconnected(reason.message)
    for call in calls {
      call.timer?.cancel()
      guard case .caller(let continuation) = call.target else { continue }
      continuation.resume(returning: .failure(disconnected))
    }
  }

  private func finish(_ call: PendingCall, _ result: Result<[Value], BusError>) {
    call.timer?.cancel()
    switch call.target {
    case .caller(let continuation): continuation.resume(returning: result)
    case .hello: helloAnswered(result)
    case .restoration: if case .failure(let error) = result { lost(generation, error) }
    case .owner(let name): ownerAnswered(name, result)
    case .user(let sender): incoming.admission.identified(sender, as: (try? result.get())?.first?.asUInt32)
    }
  }
}

extension Connection {
  /// Throws if `values` contain file descriptors and the transport does not pass them.
  func checkDescriptors(in signature: Signature, _ values: [Value]) throws(BusError) {
    guard values.contains(where: \.hasFileDescriptor) else { return }
    if let native, uniqueName != nil, !native.passesFileDescriptors {
      throw BusError(name: BusError.Name.notSupported, message: "the bus at \(address) does not pass file descriptors")
    }
  }
}

extension Value {
  fileprivate var hasFileDescriptor: Bool {
    switch self {
    case .unixFD: true
    case .array(_, let elements): elements.contains(where: \.hasFileDescriptor)
    case .dictionary(_, _, let entries): entries.contains { $0.key.hasFileDescriptor || $0.value.hasFileDescriptor }
    case .structure(let members): members.contains(where: \.hasFileDescriptor)
    case .variant(let content): content.hasFileDescriptor
    default: false
    }
  }
}
