import Glibc
import LibNFCReader

exit(TargetReaderProgram.run(CommandLine.arguments))
