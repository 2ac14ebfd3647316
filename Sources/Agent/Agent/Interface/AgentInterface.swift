import Bus
import Inbox
import Names

/// `org.tagroute.Agent1` as it is exported. Config/dbus/interfaces documents each member.
enum AgentInterface {
  static func exported(by service: AgentService) -> ExportedInterface {
    ExportedInterface(
      Names.Agent.interface,
      methods: [
        ExportedMethod("Resolve", in: [Argument("uri", "s")], out: [Argument("route", "a{sv}")]) {
          [weak service] _, call in
          [.dictionary(try await service?.resolve(try string(call, 0)) ?? [:])]
        },
        ExportedMethod("ResolveTag", in: [Argument("tag", "a{sv}")], out: [Argument("route", "a{sv}")]) {
          [weak service] _, call in [.dictionary(try await service?.resolveTag(options(call, 0)) ?? [:])]
        },
        ExportedMethod("ListHandlers", out: [Argument("handlers", "aa{sv}")]) { [weak service] _, _ in
          [.dictionaries(await service?.listHandlers() ?? [])]
        },
        ExportedMethod("ListInbox", in: [Argument("options", "a{sv}")], out: [Argument("taps", "aa{sv}")]) {
          [weak service] _, call in [.dictionaries(try await service?.listInbox(options(call, 0)) ?? [])]
        },
        ExportedMethod("Open", in: [Argument("id", "s"), Argument("options", "a{sv}")]) { [weak service] _, call in
          try await service?.open(try string(call, 0), options(call, 1))
          return []
        },
        ExportedMethod("Dismiss", in: [Argument("id", "s")]) { [weak service] _, call in
          try await service?.dismiss(try string(call, 0))
          return []
        },
        ExportedMethod("Clear", in: [Argument("options", "a{sv}")], out: [Argument("removed", "u")]) {
          [weak service] _, call in [.uint32(try await service?.clear(options(call, 0)) ?? 0)]
        },
        ExportedMethod("TakeOutgoing", in: [Argument("options", "a{sv}")], out: [Argument("taps", "aa{sv}")]) {
          [weak service] _, call in [.dictionaries(try await service?.takeOutgoing(options(call, 0)) ?? [])]
        },
        ExportedMethod("AcknowledgeOutgoing", in: [Argument("ids", "as")]) { [weak service] _, call in
          guard let ids = call.arguments.first?.asStrings else { throw BusError.invalidArguments("ids is missing") }
          try await service?.acknowledgeOutgoing(ids)
          return []
        },
        ExportedMethod("Prefer", in: [Argument("handler", "s"), Argument("claim", "s")]) { [weak service] _, call in
          try await service?.prefer(try string(call, 0), try string(call, 1))
          return []
        },
        ExportedMethod("Block", in: [Argument("handler", "s"), Argument("claim", "s")]) { [weak service] _, call in
          try await service?.block(try string(call, 0), try string(call, 1))
          return []
        },
        ExportedMethod("Forget", in: [Argument("handler", "s"), Argument("claim", "s")]) { [weak service] _, call in
          try await service?.forget(try string(call, 0), try string(call, 1))
          return []
        },
        ExportedMethod("SetLocked", in: [Argument("locked", "b")]) { [weak service] loop, call in
          guard let locked = call.arguments.first?.asBool else { throw BusError.invalidArguments("locked is missing") }
          try await service?.declareLocked(loop, locked)
          return []
        },
        ExportedMethod("Identify", in: [Argument("options", "a{sv}")]) { [weak service] _, _ in
          await service?.identify()
          return []
        },
        ExportedMethod("Reload") { [weak service] _, _ in
          try await service?.reload()
          return []
        },
        ExportedMethod("ReloadHandlers") { [weak service] _, _ in
          await service?.reloadHandlers()
          return []
        },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(Names.version) },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(Names.interfaceVersion) },
        ExportedProperty("Headless", "b", emits: .const) { [weak service] _ in
          .boolean(service?.isHeadless ?? false)
        },
        ExportedProperty("Registered", "b") { [weak service] _ in .boolean(await service?.isRegistered ?? false) },
        ExportedProperty("RegistrationError", "(ss)") { [weak service] _ in
          let error = await service?.registrationError
          return .structure([.string(error?.name ?? ""), .string(error?.message ?? "")])
        },
        ExportedProperty("ConfigurationError", "s") { [weak service] _ in
          .string(await service?.configurationError ?? "")
        },
        ExportedProperty("ConfigurationTime", "t") { [weak service] _ in
          .uint64(UInt64(clamping: await service?.configurationTime.microseconds ?? 0))
        },
        ExportedProperty("Outgoing", "a{sv}", emits: .none) { [weak service] _ in
          .dictionary(await service?.outgoing() ?? [:])
        },
      ],
      signals: [
        ExportedSignal("TapReceived", [Argument("id", "s")]),
        ExportedSignal("TapClosed", [Argument("id", "s"), Argument("state", "s")]),
        ExportedSignal("TagRemoved", [Argument("id", "s")]),
        ExportedSignal("TapsCleared", [Argument("count", "u")]),
        ExportedSignal("OutgoingAvailable"),
      ])
  }

  private static func string(_ call: IncomingCall, _ index: Int) throws(BusError) -> String {
    guard call.arguments.indices.contains(index), let text = call.arguments[index].asString else {
      throw .invalidArguments("argument \(index + 1) must be a string")
    }
    return text
  }

  private static func options(_ call: IncomingCall, _ index: Int) -> [String: Value] {
    call.arguments.indices.contains(index) ? call.arguments[index].asDictionary ?? [:] : [:]
  }
}
