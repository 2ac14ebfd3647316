internal import CDBus

/// Owns one reference to a `DBusMessage` and drops it when it goes out of scope.
///
/// The caller has checked the names and paths that it passes in, and `WireCheck` has accepted `body`.
struct Message: ~Copyable {
  let pointer: OpaquePointer

  /// Takes over the caller's reference.
  init(adopting pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    dbus_message_unref(pointer)
  }

  static func call(
    _ destination: String, _ path: ObjectPath, _ interface: String, _ member: String, body: [Value]
  ) throws(BusError) -> Message {
    guard let pointer = dbus_message_new_method_call(destination, path.string, interface, member) else {
      throw .noMemory("call \(member)")
    }
    let message = Message(adopting: pointer)
    try message.append(body)
    return message
  }

  static func signal(
    _ path: ObjectPath, _ interface: String, _ member: String, destination: String?, body: [Value]
  ) throws(BusError) -> Message {
    guard let pointer = dbus_message_new_signal(path.string, interface, member) else {
      throw .noMemory("emit \(member)")
    }
    let message = Message(adopting: pointer)
    if let destination, dbus_message_set_destination(pointer, destination) == 0 { throw .noMemory("emit \(member)") }
    try message.append(body)
    return message
  }

  static func reply(to call: ReplyAddress, body: [Value]) throws(BusError) -> Message {
    let message = try reply(DBUS_MESSAGE_TYPE_METHOD_RETURN, to: call)
    try message.append(body)
    return message
  }

  static func error(_ error: BusError, to call: ReplyAddress) throws(BusError) -> Message {
    let message = try reply(DBUS_MESSAGE_TYPE_ERROR, to: call)
    let name = NameRules.isErrorName(error.name) ? error.name : BusError.Name.failed
    guard dbus_message_set_error_name(message.pointer, name) != 0 else { throw .noMemory("reply with \(name)") }
    let text = String(String.UnicodeScalarView(error.message.unicodeScalars.lazy.filter { $0 != "\0" }))
    try message.append([.string(text)])
    return message
  }

  private static func reply(_ type: Int32, to call: ReplyAddress) throws(BusError) -> Message {
    guard let pointer = dbus_message_new(type) else { throw .noMemory("reply") }
    let message = Message(adopting: pointer)
    guard dbus_message_set_reply_serial(pointer, call.serial) != 0,
      dbus_message_set_destination(pointer, call.sender) != 0
    else { throw .noMemory("reply") }
    dbus_message_set_no_reply(pointer, 1)
    return message
  }

  /// Sets whether the bus may start the destination. By default it may.
  func setAutoStart(_ allowed: Bool) {
    dbus_message_set_auto_start(pointer, allowed ? 1 : 0)
  }

  private func append(_ body: [Value]) throws(BusError) {
    try MessageWriter.append(body, to: pointer)
  }
}

/// Where the reply to a call goes. It does not keep the call's message alive.
struct ReplyAddress: Sendable {
  let sender: String
  let serial: UInt32
}

// The header fields of a received message. Strings are copied, because libdbus frees its own together with the message.
extension Message {
  enum Kind { case call, reply, error, signal, other }

  var kind: Kind {
    switch dbus_message_get_type(pointer) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL: .call
    case DBUS_MESSAGE_TYPE_METHOD_RETURN: .reply
    case DBUS_MESSAGE_TYPE_ERROR: .error
    case DBUS_MESSAGE_TYPE_SIGNAL: .signal
    default: .other
    }
  }

  var serial: UInt32 { dbus_message_get_serial(pointer) }
  var replySerial: UInt32 { dbus_message_get_reply_serial(pointer) }
  var carriesDescriptors: Bool { dbus_message_contains_unix_fds(pointer) != 0 }
  var wantsReply: Bool { dbus_message_get_no_reply(pointer) == 0 }
  var sender: String? { dbus_message_get_sender(pointer).map { String(cString: $0) } }
  var path: ObjectPath? { dbus_message_get_path(pointer).map { ObjectPath(validated: String(cString: $0)) } }
  var interface: String? { dbus_message_get_interface(pointer).map { String(cString: $0) } }
  var member: String? { dbus_message_get_member(pointer).map { String(cString: $0) } }
  var errorName: String? { dbus_message_get_error_name(pointer).map { String(cString: $0) } }
  var signature: String { dbus_message_get_signature(pointer).map { String(cString: $0) } ?? "" }

  /// The arguments. Fails with `limitsExceeded` if there are more than `limits` allows.
  func arguments(_ limits: DecodingLimits) throws(BusError) -> [Value] {
    var reader = MessageReader(limits)
    return try reader.read(pointer, signature: Signature(signature))
  }
}

/// Carries a message into a closure, which cannot capture a noncopyable value. Used within one task, on the loop.
final class SentMessage {
  let message: Message

  init(_ message: consuming Message) {
    self.message = message
  }
}
