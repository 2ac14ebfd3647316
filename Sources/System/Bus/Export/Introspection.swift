/// The answer to `Introspect` ("Introspection Data Format" in the specification).
enum Introspection {
  /// The XML document for a node. `object` is nil if the node only has children.
  static func document(_ object: ExportedObjects.Object?, children: [String]) -> String {
    var lines = [
      #"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN""#,
      #" "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">"#,
      "<node>",
    ]
    var standard = [peer, introspectable]
    if object != nil { standard.append(properties) }
    if object?.isObjectManager == true { standard.append(objectManager) }
    for interface in standard.compactMap({ standardInterfaces[$0] }) + (object?.interfaces ?? []) {
      lines += describe(interface)
    }
    for child in children { lines.append(#" <node name="\#(escape(child))"/>"#) }
    lines.append("</node>\n")
    return lines.joined(separator: "\n")
  }

  private static func describe(_ interface: ExportedInterface) -> [String] {
    var lines = [#" <interface name="\#(escape(interface.name))">"#]
    for method in interface.methods {
      let arguments =
        method.input.map { argument($0, direction: "in") } + method.output.map { argument($0, direction: "out") }
      lines += element("method", method.name, arguments)
    }
    for property in interface.properties {
      let access = property.set == nil ? "read" : "readwrite"
      let emits = #""org.freedesktop.DBus.Property.EmitsChangedSignal" value="\#(property.emits.rawValue)""#
      let attributes = #"" type="\#(property.signature)" access="\#(access)"#
      lines.append(#"  <property name="\#(escape(property.name))\#(attributes)">"#)
      lines.append("   <annotation name=\(emits)/>")
      lines.append("  </property>")
    }
    for signal in interface.signals {
      lines += element("signal", signal.name, signal.arguments.map { argument($0, direction: nil) })
    }
    lines.append(" </interface>")
    return lines
  }

  private static func element(_ kind: String, _ name: String, _ content: [String]) -> [String] {
    content.isEmpty
      ? [#"  <\#(kind) name="\#(escape(name))"/>"#]
      : [#"  <\#(kind) name="\#(escape(name))">"#] + content + ["  </\(kind)>"]
  }

  private static func argument(_ argument: Argument, direction: String?) -> String {
    let direction = direction.map { #" direction="\#($0)""# } ?? ""
    return #"   <arg name="\#(escape(argument.name))" type="\#(argument.signature)"\#(direction)/>"#
  }

  private static func escape(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
