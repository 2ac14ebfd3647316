import Demo
import Glibc
import ReaderSimulator

let arguments = Array(CommandLine.arguments.dropFirst())
let isDemo = arguments.first == "demo"
exit(await isDemo ? DemoProgram.main(Array(arguments.dropFirst())) : SimulatorProgram.main(arguments))
