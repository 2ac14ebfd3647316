import Glibc
import Mqtt

let code = await MqttProgram.run(CommandLine.arguments)
fflush(nil)
// Not exit: it runs OpenSSL's destructor while the broker's thread may still be in OpenSSL.
_exit(code)
