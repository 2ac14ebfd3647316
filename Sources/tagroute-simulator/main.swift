import ReaderSimulator

await SimulatorProgram.main(Array(CommandLine.arguments.dropFirst()))
