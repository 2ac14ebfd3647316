import Glibc
import ReaderSimulator

exit(await SimulatorProgram.main(Array(CommandLine.arguments.dropFirst())))
