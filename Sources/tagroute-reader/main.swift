import Glibc
import Reader

exit(ReaderProgram.run(CommandLine.arguments))
