import Bus
import Inbox
import Journal
import Names
import Settings

extension AgentInterface {
  nonisolated var exported: ExportedInterface {
    ExportedInterface(
      Names.Agent.interface,
      methods: [
        ExportedMethod("Resolve", in: [Argument("uri", "s")], out: [Argument("route", "a{sv}")]) {
          [weak self] _, call in
          [.dictionary(try await self?.resolve(try Self.string(call, 0)) ?? [:])]
        },
        ExportedMethod("ResolveTag", in: [Argument("tag", "a{sv}")], out: [Argument("route", "a{sv}")]) {
          [weak self] _, call in [.dictionary(try await self?.resolveTag(Self.options(call, 0)) ?? [:])]
        },
        ExportedMethod("ListHandlers", out: [Argument("handlers", "aa{sv}")]) { [weak self] _, _ in
          [.dictionaries(await self?.listHandlers() ?? [])]
        },
        ExportedMethod("ListInbox", in: [Argument("options", "a{sv}")], out: [Argument("taps", "aa{sv}")]) {
          [weak self] _, call in [.dictionaries(try await self?.listInbox(Self.options(call, 0)) ?? [])]
        },
        ExportedMethod("CountInbox", in: [Argument("options", "a{sv}")], out: [Argument("taps", "t")]) {
          [weak self] _, call in [.uint64(try await self?.countInbox(Self.options(call, 0)) ?? 0)]
        },
        ExportedMethod("Open", in: [Argument("id", "s"), Argument("options", "a{sv}")]) { [weak self] _, call in
          try await self?.open(try Self.string(call, 0), Self.options(call, 1))
          return []
        },
        ExportedMethod("Dismiss", in: [Argument("id", "s")]) { [weak self] _, call in
          try await self?.dismiss(try Self.string(call, 0))
          return []
        },
        ExportedMethod("Clear", in: [Argument("options", "a{sv}")], out: [Argument("removed", "u")]) {
          [weak self] _, call in [.uint32(try await self?.clear(Self.options(call, 0)) ?? 0)]
        },
        ExportedMethod("TakeOutgoing", in: [Argument("options", "a{sv}")], out: [Argument("taps", "aa{sv}")]) {
          [weak self] _, call in [.dictionaries(try await self?.takeOutgoing(Self.options(call, 0)) ?? [])]
        },
        ExportedMethod("AcknowledgeOutgoing", in: [Argument("ids", "as")]) { [weak self] _, call in
          guard let ids = call.arguments.first?.asStrings else { throw BusError.invalidArguments("ids is missing") }
          try await self?.acknowledgeOutgoing(ids)
          return []
        },
        ExportedMethod("Prefer", in: [Argument("handler", "s"), Argument("claim", "s")]) { [weak self] _, call in
          try await self?.prefer(try Self.string(call, 0), try Self.string(call, 1))
          return []
        },
        ExportedMethod("Block", in: [Argument("handler", "s"), Argument("claim", "s")]) { [weak self] _, call in
          try await self?.block(try Self.string(call, 0), try Self.string(call, 1))
          return []
        },
        ExportedMethod("Forget", in: [Argument("handler", "s"), Argument("claim", "s")]) { [weak self] _, call in
          try await self?.forget(try Self.string(call, 0), try Self.string(call, 1))
          return []
        },
        ExportedMethod("SetLocked", in: [Argument("locked", "b")]) { [weak self] loop, call in
          guard let locked = call.arguments.first?.asBool else { throw BusError.invalidArguments("locked is missing") }
          try await self?.declareLocked(loop, locked)
          return []
        },
        ExportedMethod("Identify", in: [Argument("options", "a{sv}")]) { [weak self] _, _ in
          await self?.identify()
          return []
        },
        ExportedMethod("GetSettings", out: [Argument("settings", "a{sv}")]) { [weak self] _, _ in
          [.dictionary(await self?.getSettings() ?? [:])]
        },
        ExportedMethod("ChangeSettings", in: [Argument("values", "a{ss}"), Argument("defaults", "as")]) {
          [weak self] _, call in
          guard let defaults = call.arguments.last?.asStrings else {
            throw BusError.invalidArguments("defaults is missing")
          }
          try await self?.changeSettings(Self.options(call, 0).compactMapValues(\.asString), defaults)
          return []
        },
        ExportedMethod("Reload") { [weak self] _, _ in
          try await self?.reload()
          return []
        },
        ExportedMethod("ReloadHandlers") { [weak self] _, _ in
          await self?.reloadHandlers()
          return []
        },
      ],
      properties: [
        ExportedProperty("Version", "s", emits: .const) { _ in .string(Names.version) },
        ExportedProperty("InterfaceVersion", "u", emits: .const) { _ in .uint32(Names.interfaceVersion) },
        ExportedProperty("Headless", "b", emits: .const) { [weak self] _ in
          .boolean(self?.isHeadless ?? false)
        },
        ExportedProperty("Registered", "b") { [weak self] _ in .boolean(await self?.registration.isAccepted ?? false) },
        ExportedProperty("RegistrationError", "(ss)") { [weak self] _ in
          let error = await self?.registration.error
          return .structure([.string(error?.name ?? ""), .string(error?.message ?? "")])
        },
        ExportedProperty("ConfigurationError", "s") { [weak self] _ in
          .string(await self?.configuration.mistake?.description ?? "")
        },
        ExportedProperty("ConfigurationTime", "t") { [weak self] _ in
          .uint64(UInt64(clamping: await self?.configuration.time.microseconds ?? 0))
        },
        ExportedProperty("Outgoing", "a{sv}", emits: .none) { [weak self] _ in
          .dictionary(await self?.outgoing() ?? [:])
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

  private nonisolated static func string(_ call: IncomingCall, _ index: Int) throws(BusError) -> String {
    guard call.arguments.indices.contains(index), let text = call.arguments[index].asString else {
      throw .invalidArguments("argument \(index + 1) must be a string")
    }
    return text
  }

  private static func options(_ call: IncomingCall, _ index: Int) -> [String: Value] {
    call.arguments.indices.contains(index) ? call.arguments[index].asDictionary ?? [:] : [:]
  }
}

/// Emits the signals of `org.tagroute.Agent1`.
struct AgentSignals: Sendable {
  let session: Connection
  let log: Log

  func emit(_ member: String, _ arguments: [Value]) async {
    do {
      try await session.emit(
        path: try ObjectPath(Names.Agent.path), interface: Names.Agent.interface, member: member, arguments)
    } catch { log(.debug, "\(member) was not sent: \(error)") }
  }

  func propertiesChanged(_ names: [String]) async {
    guard let path = try? ObjectPath(Names.Agent.path) else { return }
    await session.propertiesChanged(names, of: Names.Agent.interface, at: path)
  }
}
