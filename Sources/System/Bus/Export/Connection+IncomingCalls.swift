/// The calls that are being answered, and the calls that wait for their turn.
struct IncomingCalls {
  /// Starts to answer a call.
  typealias Start = @Sendable (isolated Connection) -> Void

  var admission = CallAdmission()
  private var tasks: [UInt64: Task<Void, Never>] = [:]
  /// In the order of their arrival. `admission` bounds their number.
  private var waiting: [(sender: String, start: Start)] = []
  /// The peer with precedence that had the last turn.
  private var lastPreferred: String?
  private var isTurnOfOthers = false

  /// Whether calls wait for their turn.
  var areWaiting: Bool { !waiting.isEmpty }

  var isEmpty: Bool { tasks.isEmpty && waiting.isEmpty && admission.isEmpty }

  mutating func wait(_ sender: String, _ start: @escaping Start) { waiting.append((sender, start)) }

  /// Removes and returns the call that has the next turn. Peers with precedence take turns. Between two of their turns,
  /// one call of another peer has its turn, because a peer with precedence (an agent) may be hostile too. Nil if no
  /// call waits.
  mutating func next() -> (sender: String, start: Start)? {
    func index(_ isMeant: (String) -> Bool) -> Int? { waiting.firstIndex { isMeant($0.sender) } }
    let preferred =
      index { admission.hasPrecedence($0) && $0 != lastPreferred } ?? index { admission.hasPrecedence($0) }
    let other = index { !admission.hasPrecedence($0) }
    guard let index = isTurnOfOthers ? other ?? preferred : preferred ?? other else { return nil }
    isTurnOfOthers = index == preferred
    if index == preferred { lastPreferred = waiting[index].sender }
    return waiting.remove(at: index)
  }

  /// Forgets all peers because the bus is gone, and drops their waiting calls. The next bus gives the same names to
  /// other peers.
  mutating func forgetPeers() {
    for call in waiting { admission.answered(call.sender) }
    waiting = []
    admission.setPrecedence([])
    admission.forgetUsers()
  }

  mutating func add(_ task: Task<Void, Never>, _ token: UInt64) { tasks[token] = task }

  /// The answering of one of the calls; nil if none is being answered.
  var oneTask: Task<Void, Never>? { tasks.values.first }

  mutating func remove(_ token: UInt64, from sender: String) {
    guard tasks.removeValue(forKey: token) != nil else { return }
    admission.answered(sender)
  }

  mutating func cancelAll() {
    for task in tasks.values { task.cancel() }
    self = IncomingCalls()
  }
}

extension Connection {
  /// Gives these peers precedence: their calls are answered no matter how many calls of other peers wait.
  ///
  /// - Parameter senders: unique names. They replace the names of the previous call.
  public func setPrecedence(of senders: Set<String>) { incoming.admission.setPrecedence(senders) }

  /// Returns when no call is being answered. Before ``close()``, this sends the answers of calls that have just ended.
  public func answerCalls() async {
    while let task = incoming.oneTask { await task.value }
  }

  /// Queues a call to be answered in its turn, or refuses it.
  ///
  /// Refusing a call is cheap: it is neither decoded nor looked up.
  func receiveCall(_ message: borrowing Message) {
    guard let sender = message.sender else { return }
    let address = message.wantsReply ? ReplyAddress(sender: sender, serial: message.serial) : nil
    // Decoding duplicates descriptors. A thousand calls with many each would use up all that a process may have.
    guard !message.carriesDescriptors else {
      return reply(.failure(.invalidArguments("no method takes a file descriptor")), to: address, generation)
    }
    switch incoming.admission.call(from: sender) {
    case .refuse:
      return reply(.failure(.limitsExceeded("too many calls wait for an answer")), to: address, generation)
    case .answer(let isToIdentify):
      if isToIdentify { identify(sender) }
    }
    guard let path = message.path, let member = message.member else { return incoming.admission.answered(sender) }
    let answer: @Sendable (isolated Connection) async throws -> [Value]
    do throws(BusError) {
      answer = try makeAnswer(message, sender: sender, path: path, member: member)
    } catch {
      incoming.admission.answered(sender)
      return reply(.failure(error), to: address, generation)
    }
    let token = makeToken()
    let generation = generation
    if !incoming.areWaiting { enqueue { $0.startNextCall() } }
    incoming.wait(sender) { connection in
      let task = Task {
        let result = await connection.outcome(of: answer)
        connection.incoming.remove(token, from: sender)
        connection.reply(result, to: address, generation)
      }
      connection.incoming.add(task, token)
    }
  }

  /// Starts to answer one call. Between two calls the loop reads incoming messages: a reply, a signal, a call with
  /// precedence.
  private func startNextCall() {
    incoming.next()?.start(self)
    if incoming.areWaiting { enqueue { $0.startNextCall() } }
  }

  /// Asks the bus for the user behind a sender.
  private func identify(_ sender: String) {
    do throws(BusError) {
      try send(
        try Message.call(Bus.name, Bus.path, Bus.interface, "GetConnectionUnixUser", body: [.string(sender)]),
        expecting: .user(of: sender), from: Bus.name, timeout: nil)
    } catch {
      incoming.admission.identified(sender, as: nil)
    }
  }

  /// Finds the called method. Decodes the arguments, up to the limits of the interface, only if they have the declared
  /// types.
  private func makeAnswer(
    _ message: borrowing Message, sender: String, path: ObjectPath, member: String
  ) throws(BusError) -> @Sendable (isolated Connection) async throws -> [Value] {
    let name = message.interface
    func call(
      _ interface: String, declared: String, _ limits: CallLimits = .small
    ) throws(BusError) -> IncomingCall {
      guard message.signature == declared else {
        throw .invalidArguments(
          "\(interface).\(member) takes arguments of the signature \(declared.debugDescription), not "
            + message.signature.debugDescription)
      }
      return IncomingCall(
        sender: sender, path: path, interface: interface, member: member,
        arguments: try message.arguments(DecodingLimits(limits)))
    }
    if let standard = StandardMethod(interface: name, member: member),
      standard.applies(to: objects.object(path, for: sender))
    {
      let call = try call(standard.interface, declared: standard.inputSignature)
      return { connection in try await connection.answer(standard, call) }
    }
    guard let object = objects.object(path, for: sender) else {
      guard objects.hasNode(path, for: sender) else {
        throw BusError(name: BusError.Name.unknownObject, message: "there is no object \(path)")
      }
      throw .unknownMethod("the object \(path) has no method \(member)")
    }
    if let name, object.interface(name) == nil {
      throw BusError(name: BusError.Name.unknownInterface, message: "the object \(path) has no interface \(name)")
    }
    // A call without an interface goes to the first interface with such a method ("Message Types" in the
    // specification).
    for interface in object.interfaces where name == nil || interface.name == name {
      guard let method = interface.methods.first(where: { $0.name == member }) else { continue }
      let call = try call(interface.name, declared: method.inputSignature, interface.limits)
      return { connection in try await connection.answer(method, call) }
    }
    throw .unknownMethod("the object \(path) has no method \(name.map { $0 + "." } ?? "")\(member)")
  }

  private func answer(_ method: ExportedMethod, _ call: IncomingCall) async throws -> [Value] {
    let values = try await method.handler(self, call)
    let signature = try WireCheck.signature(of: values)
    guard signature.string == method.outputSignature else {
      throw BusError.failed(
        "\(call.interface).\(call.member) would have answered with \(signature.string.debugDescription) instead of "
          + method.outputSignature.debugDescription)
    }
    return values
  }

  private func outcome(
    of answer: @Sendable (isolated Connection) async throws -> [Value]
  ) async -> Result<[Value], BusError> {
    do {
      return .success(try await answer(self))
    } catch let error as BusError {
      return .failure(error)
    } catch {
      // Send only the type of the error. The error may quote private data, and any peer may be the caller.
      return .failure(.failed("the call failed: \(type(of: error))"))
    }
  }

  /// Sends the answer. If the connection that the call came on is gone, its caller cannot be reached on a later one.
  private func reply(_ result: Result<[Value], BusError>, to address: ReplyAddress?, _ generation: UInt64) {
    guard let address, generation == self.generation, let native else { return }
    do throws(BusError) {
      let values = try result.get()
      try checkSendable(values)
      try checkUsable()
      _ = try native.send(Message.reply(to: address, body: values))
    } catch {
      _ = try? native.send(Message.error(error, to: address))
    }
  }
}
