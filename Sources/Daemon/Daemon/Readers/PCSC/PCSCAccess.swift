import EventLoop
import Names
import ReaderProtocol

/// How this daemon reaches pcscd: the socket, the program that speaks with pcscd, and the watch of its list.
struct PCSCAccess {
  /// How long pcscd's list may lack a device for which pcscd has a driver. pcscd takes a second to start. An ACR122U that
  /// does not answer its first command takes five.
  static let patience = Duration.seconds(10)

  /// pcscd's socket, if the environment names it; nil for the standard one.
  let socket: String?
  /// The path of `tagroute-reader-pcsc`; nil if it is not installed.
  var program: String?
  /// The watch of pcscd's list; nil while no list is needed.
  var watch: PCSCWatch?
  /// The task that receives its events.
  var task: Task<Void, Never>?
  /// What the list should show soon, and when the daemon stops waiting for it.
  var awaited: Set<String> = []
  var timer: LoopTimer?
  /// Bounds the lines about problems of pcscd.
  var lines = LineBudget(most: 60)

  init(environment: [String: String] = ProcessEnvironment.current) {
    socket = environment[Names.PCSC.socketVariable].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The environment of the programs that speak with pcscd.
  var environment: [String] { socket.map { ["\(Names.PCSC.socketVariable)=\($0)"] } ?? [] }
}
