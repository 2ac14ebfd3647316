import Daemon
import Glibc

exit(await DaemonProgram.run(CommandLine.arguments))
