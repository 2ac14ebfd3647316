import Glibc
import LibNFCReader

exit(ReaderProgram.run(CommandLine.arguments))
