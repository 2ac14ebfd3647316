import Glibc
import PCSCReader

let code = CardReaderProgram.run(CommandLine.arguments)
fflush(nil)
// Not `exit`: it lets libpcsclite free its list of contexts while a thread may be in a call.
_exit(code)
