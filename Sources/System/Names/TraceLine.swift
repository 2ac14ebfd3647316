/// One line of a trace: what passed between a reader process and its reader (docs/traces.md).
///
/// The reader processes write these lines, `tagroute report` stores them, and the reader simulator repeats them.
package struct TraceLine: Sendable, Hashable {
  package enum Event: Sendable, Hashable {
    /// The first line: the reader program and what it stands on, with their versions.
    case header(program: String, library: String)
    /// The device was opened, or could not be for the reason `error`.
    case device(String, name: String?, error: String?)
    case exchange(Exchange)
    /// pcscd reported the state of the slot: the event word of SCardGetStatusChange, and the answer to reset.
    case slot(UInt32, answerToReset: [UInt8])
    case tap(Tap)
    case removed
    /// So many lines are missing here, because they came faster than they were stored.
    case lost(Int)
    /// Who published the recording.
    case source(String)
  }

  /// A command to a chip or to a card, or another call to pcscd.
  package struct Exchange: Sendable, Hashable {
    package enum Call: String, Sendable, Hashable, CaseIterable {
      case connect, transmit, control, attribute, reset, disconnect
      case connectReader = "connect-reader"
    }

    /// Nil for a command to a chip of libnfc.
    package var call: Call?
    /// Of a `control` or an `attribute`.
    package var code: UInt32?
    package var command: [UInt8]
    /// Nil if the call failed.
    package var answer: [UInt8]?
    /// libnfc's number for an error, or the error code of PC/SC; nil if the call succeeded.
    package var result: Int64?
    package var milliseconds: Double?
    /// Whether a client of a reader session decided what was sent.
    package var isOfSession = false

    package init(
      call: Call? = nil, code: UInt32? = nil, command: [UInt8], answer: [UInt8]?, result: Int64? = nil,
      milliseconds: Double? = nil
    ) {
      (self.call, self.code, self.command) = (call, code, command)
      (self.answer, self.result, self.milliseconds) = (answer, result, milliseconds)
    }
  }

  /// A tag as the daemon gets it.
  package struct Tap: Sendable, Hashable {
    /// As `TagType` names it.
    package var type: String
    package var uid: [UInt8]
    /// Nil if the tag has none, or it could not be read.
    package var message: [UInt8]?
    /// Why there is no message.
    package var problem: String?

    package init(type: String, uid: [UInt8], message: [UInt8]?, problem: String?) {
      (self.type, self.uid, self.message, self.problem) = (type, uid, message, problem)
    }
  }

  /// The format's version, for the header.
  package static let version = 1
  /// The most bytes of a line: an answer of 65,552 bytes and its command, in hexadecimal.
  package static let longest = 280 * 1024

  /// In seconds from the beginning of the trace; nil for the header and the source.
  package var time: Double?
  package var event: Event

  package init(_ event: Event, at time: Double? = nil) { (self.event, self.time) = (event, time) }
}

// MARK: As text

extension TraceLine {
  /// One line of JSON in UTF-8, without the line break.
  package var bytes: [UInt8] {
    let seconds = time.map { JSONTree.decimal(($0 * 1_000_000).rounded() / 1_000_000) }
    switch event {
    case .header(let program, let library):
      return JSONTree.record([
        "trace": .integer(Int128(Self.version)), "program": .string(program), "library": .string(library),
      ]).bytes
    case .device(let device, let name, let error):
      return JSONTree.record([
        "t": seconds, "device": .string(device), "name": name.map(JSONTree.string), "error": error.map(JSONTree.string),
      ]).bytes
    case .exchange(let exchange): return exchange.tree(at: seconds).bytes
    case .slot(let word, let answer):
      return JSONTree.record([
        "t": seconds, "slot": .integer(Int128(word)), "atr": answer.isEmpty ? nil : .string(Hexadecimal.text(answer)),
      ]).bytes
    case .tap(let tap):
      return JSONTree.record([
        "t": seconds, "tap": .string(tap.type), "uid": .string(Hexadecimal.text(tap.uid)),
        "message": tap.message.map { .string(Hexadecimal.text($0)) }, "problem": tap.problem.map(JSONTree.string),
      ]).bytes
    case .removed: return JSONTree.record(["t": seconds, "removed": .boolean(true)]).bytes
    case .lost(let count): return JSONTree.record(["t": seconds, "lost": .integer(Int128(count))]).bytes
    case .source(let source): return JSONTree.record(["source": .string(source)]).bytes
    }
  }

  /// Reads one line. Nil if its keys are unknown, as those of a later version may be. Fails if it is not a JSON object or
  /// a value of a known key has another form.
  package static func read(_ line: [UInt8]) throws(TraceError) -> TraceLine? {
    guard line.count <= longest else { throw TraceError("a line has more than \(longest) bytes") }
    let value: JSONValue
    do throws(JSONError) { value = try JSONReader.value(of: line) } catch {
      throw TraceError("\(error.message), at byte \(error.offset)")
    }
    guard case .object = value.content else { throw TraceError("the line is not a JSON object") }
    let fields = Fields(value: value)
    guard let event = try fields.event() else { return nil }
    return TraceLine(event, at: try fields.time("t"))
  }
}

extension TraceLine.Exchange {
  fileprivate func tree(at seconds: JSONTree?) -> JSONTree {
    let hasCommand = call.map { [.transmit, .control].contains($0) } ?? true
    let failure = result.map { result -> JSONTree in
      call == nil ? .integer(Int128(result)) : .string(Hexadecimal.text(UInt32(truncatingIfNeeded: result)))
    }
    return .record([
      "t": seconds, "call": call.map { .string($0.rawValue) }, "code": code.map { .integer(Int128($0)) },
      "to": hasCommand ? .string(Hexadecimal.text(command)) : nil,
      "from": answer.flatMap { hasCommand || !$0.isEmpty ? .string(Hexadecimal.text($0)) : nil },
      "result": failure, "ms": milliseconds.map { .decimal(($0 * 1_000).rounded() / 1_000) },
      "session": isOfSession ? .boolean(true) : nil,
    ])
  }
}

/// What is wrong with a trace.
package struct TraceError: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// The values of a line by their keys.
private struct Fields {
  let value: JSONValue

  func event() throws(TraceError) -> TraceLine.Event? {
    if let version = try number("trace") {
      guard version == Double(TraceLine.version) else { throw TraceError("this is version \(version) of the format") }
      return .header(program: try text("program") ?? "", library: try text("library") ?? "")
    }
    if let device = try text("device") { return .device(device, name: try text("name"), error: try text("error")) }
    if let call = try text("call") {
      guard let call = TraceLine.Exchange.Call(rawValue: call) else { return nil }
      return .exchange(try exchange(call))
    }
    if value["to"] != nil { return .exchange(try exchange(nil)) }
    if let word = try integer("slot", UInt32.self) { return .slot(word, answerToReset: try bytes("atr") ?? []) }
    if let type = try text("tap") {
      return .tap(
        TraceLine.Tap(
          type: type, uid: try bytes("uid") ?? [], message: try bytes("message"), problem: try text("problem")))
    }
    if let lost = try integer("lost", Int.self) { return .lost(lost) }
    if let source = try text("source") { return .source(source) }
    return value["removed"] == .boolean(true) ? .removed : nil
  }

  private func exchange(_ call: TraceLine.Exchange.Call?) throws(TraceError) -> TraceLine.Exchange {
    let result: Int64?
    if call == nil {
      result = try integer("result", Int64.self)
    } else {
      result = try text("result").map { (text) throws(TraceError) in
        guard let code = UInt32(text, radix: 16) else { throw TraceError("\"result\" is not a hexadecimal number") }
        return Int64(code)
      }
    }
    let command = try bytes("to") ?? []
    let answer = try bytes("from") ?? (result == nil ? [] : nil)
    var exchange = TraceLine.Exchange(
      call: call, code: try integer("code", UInt32.self), command: command, answer: answer, result: result,
      milliseconds: try time("ms"))
    exchange.isOfSession = value["session"] == .boolean(true)
    return exchange
  }

  private func text(_ key: String) throws(TraceError) -> String? {
    switch value[key] {
    case .text(let text): return text
    case nil: return nil
    default: throw TraceError("\"\(key)\" is not a string")
    }
  }

  /// Empty for an empty text.
  private func bytes(_ key: String) throws(TraceError) -> [UInt8]? {
    guard let text = try text(key) else { return nil }
    if text.isEmpty { return [] }
    guard !text.contains(":"), let bytes = Hexadecimal.bytes(text) else {
      throw TraceError("\"\(key)\" is not made of pairs of hexadecimal digits")
    }
    return bytes
  }

  /// In seconds or milliseconds. Within the bounds, no rounding and no conversion to `Duration` overflows.
  func time(_ key: String) throws(TraceError) -> Double? {
    let time = try number(key)
    if let time, !(0...1e9).contains(time) { throw TraceError("\"\(key)\" is not from 0 to 1e9") }
    return time
  }

  private func number(_ key: String) throws(TraceError) -> Double? {
    switch value[key] {
    case .number(let number?): return number
    case nil: return nil
    default: throw TraceError("\"\(key)\" is not a number")
    }
  }

  private func integer<Number: FixedWidthInteger>(_ key: String, _ type: Number.Type) throws(TraceError) -> Number? {
    guard let number = try number(key) else { return nil }
    guard let integer = Number(exactly: number) else { throw TraceError("\"\(key)\" is not a whole number in range") }
    return integer
  }
}
