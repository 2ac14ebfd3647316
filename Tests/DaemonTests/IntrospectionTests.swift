import Bus
import FoundationXML
import Names
import TestSupport
import Testing

import class Foundation.NSObject

/// The files in `Config/dbus/interfaces` are the authority: what the running daemon says of itself is the same.
@Suite(.timeLimit(.minutes(2))) struct IntrospectionTests {
  @Test func theRunningDaemonHasTheDocumentedInterfaces() async throws {
    let rig = try await DaemonRig()
    let agent = try await AgentDouble(on: rig.bus)
    for (path, name) in [
      (Names.Daemon.path, Names.Daemon.managerInterface),
      ("\(Names.Daemon.readersPath)/0", Names.Daemon.readerInterface),
    ] {
      let reply = try await agent.connection.call(
        Names.Daemon.busName, ObjectPath(path), "org.freedesktop.DBus.Introspectable", "Introspect")
      let running = try InterfaceReader.members(of: name, in: Array(#require(reply.first?.asString).utf8))
      let documented = try InterfaceReader.members(of: name, in: readFile("\(Self.interfaces)/\(name).xml"))
      #expect(!documented.isEmpty)
      #expect(running == documented)
    }
  }

  @Test func readersAreManagedObjectsAndChangeIsTold() async throws {
    let rig = try await DaemonRig()
    let agent = try await AgentDouble(on: rig.bus)
    let reader = try ObjectPath("\(Names.Daemon.readersPath)/0")
    let reply = try await agent.connection.call(
      Names.Daemon.busName, ObjectPath(Names.Daemon.path), "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
    guard case .dictionary(_, _, let objects) = reply.first else {
      Issue.record("GetManagedObjects answered \(reply)")
      return
    }
    #expect(objects.map(\.key.asObjectPath) == [reader])
    #expect(try await agent.property("Readers")?.asObjectPaths == [reader])
    let changes = try await agent.connection.signals(
      MatchRule(sender: Names.Daemon.busName, path: reader, member: "PropertiesChanged"))
    try await agent.register()
    for await change in changes {
      #expect(change.arguments[1].asDictionary?["State"]?.asString == "scanning")
      break
    }
  }

  private static let interfaces =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    + "/Config/dbus/interfaces"
}

/// Reads one interface of an introspection document: a line for each member, argument and annotation that clients see.
private final class InterfaceReader: NSObject, XMLParserDelegate {
  private let interface: String
  private var isInside = false
  private var member = ""
  private var members: Set<String> = []

  private init(_ interface: String) { self.interface = interface }

  static func members(of interface: String, in document: [UInt8]) throws -> Set<String> {
    let reader = InterfaceReader(interface)
    let parser = XMLParser(data: .init(document))
    parser.delegate = reader
    guard parser.parse() else { throw RigError("no XML: \(parser.parserError.map { "\($0)" } ?? "")") }
    return reader.members
  }

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    let text =
      "\(element) " + attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    switch element {
    case "interface": isInside = attributes["name"] == interface
    case "method", "signal", "property":
      member = text
      if isInside { members.insert(text) }
    case "arg", "annotation":
      if isInside { members.insert("\(member): \(text)") }
    default: break
    }
  }

  func parser(_ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?) {
    if element == "interface" { isInside = false }
  }
}
