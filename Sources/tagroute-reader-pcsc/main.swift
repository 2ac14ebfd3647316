import Glibc
import PCSCReader

let code = CardReaderProgram.run(CommandLine.arguments)
fflush(nil)
// Not `exit`: a thread may be in a call of libpcsclite, whose destructor frees the list of contexts.
_exit(code)
