import Glibc
import PCSCReader

exit(CardReaderProgram.run(CommandLine.arguments))
