# fish completion for tagroute

set --local topics status doctor report monitor on off session read write info lock transceive run resolve handlers rules inbox demo
set --local commands $topics help
set --local handlers verify prefer block forget
set --local inbox show open dismiss export clear

# Whether the command line contains the first argument and, if there are more arguments, none of those.
function __tagroute_bare
    __fish_seen_subcommand_from $argv[1]; and not __fish_seen_subcommand_from $argv[2..]
end

# Prints the values of KEY in the JSON output of a tagroute command, one per line, or no values if there is no answer in
# time. A tap or a desktop entry may contain any text, so only plain words pass.
function __tagroute_values
    timeout 2 tagroute $argv[2] --json 2>/dev/null </dev/null |
        string replace --filter --regex "^ *\"$argv[1]\" : \"?([A-Za-z0-9._][A-Za-z0-9._-]*)\"?,?\$" '$1' | head -n 500
end

function __tagroute_handlers
    __tagroute_values id handlers | string replace --regex '\.desktop$' ''
end

# Whether the word before the completed one is one of the arguments.
function __tagroute_behind
    contains -- (commandline -xpc 2>/dev/null; or commandline -opc)[-1] $argv
end

complete -c tagroute -f
complete -c tagroute -l help -s h -d 'print the help'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -l version -d 'print the version'
complete -c tagroute -l json -d 'print JSON'

complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a status -d 'show whether the readers scan, and if not, why'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a doctor -d 'find problems and show how to fix them'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a report -d 'collect what a developer needs to find a fault'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a monitor -d 'print each change, and each tap of this session'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a on -d 'start scanning in the background'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a off -d 'stop scanning in the background until tagroute on'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a session -d 'report that the screen is locked or unlocked'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a read -d 'read a tag'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a write -d 'write a message on a tag'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a info -d 'show the type, identifiers and memory of a tag'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a lock -d 'make a tag read-only'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a transceive -d 'send commands to a tag and print its answers'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a run -d 'lend the reader to another program'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a resolve -d 'show what a tag would do, and why'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a handlers -d 'list and check the apps that take tags'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a rules -d 'list, check, add and remove the rules for tags'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a inbox -d 'list, open, export and remove taps'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a demo -d 'try Tagroute with a simulated reader'
complete -c tagroute -n "not __fish_seen_subcommand_from $commands" -a help -d 'explain a command'
complete -c tagroute -n "__tagroute_bare help $topics" -a "$commands"

complete -c tagroute -n '__fish_seen_subcommand_from doctor' -l verbose -d 'also list what is right'
complete -c tagroute -n '__fish_seen_subcommand_from doctor' -l watch -d 'say each step until a tag was read'
complete -c tagroute -n '__fish_seen_subcommand_from report' -F
complete -c tagroute -n '__fish_seen_subcommand_from report' -l minutes -x -d 'record for this many minutes'
complete -c tagroute -n '__fish_seen_subcommand_from report' -l with-contents -d 'keep identifiers, contents and names'
complete -c tagroute -n '__fish_seen_subcommand_from report' -l yes -d 'do not ask'
complete -c tagroute -n '__fish_seen_subcommand_from report' -l force -d 'overwrite the file'
complete -c tagroute -n '__tagroute_bare session lock unlock' -a 'lock unlock'

set --local tags '__fish_seen_subcommand_from read write info lock transceive; and not __fish_seen_subcommand_from session inbox handlers'
complete -c tagroute -n "$tags; or __fish_seen_subcommand_from run" -l reader -x -a '(__tagroute_values number status)' -d 'use this reader'
complete -c tagroute -n "$tags" -l timeout -x -d 'wait this many seconds for a tag'
complete -c tagroute -n '__fish_seen_subcommand_from read' -l follow -d 'read one tag after the other'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l uri -x -d 'write a link'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l text -x -d 'write a text'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l smart-poster -x -d 'write a link with a title'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l wifi -x -d 'write a Wi-Fi network'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l password-file -r -F -d 'read the password from a file'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l no-password -d 'the Wi-Fi network is open'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l vcard -r -F -d 'write a contact card'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l geo -x -d 'write a place'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l mime -x -d 'write a file with its media type'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l external -x -d 'write a file with an external type'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l external-text -x -d 'write a text with an external type'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l format -d 'format a blank tag first'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l count -x -d 'write this many tags'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l ndef -r -F -d 'write the bytes of a message'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l language -x -d 'language of texts and titles'
complete -c tagroute -n '__fish_seen_subcommand_from write' -l title -x -d 'title of the Smart Poster'
complete -c tagroute -n '__tagroute_bare lock session; or __fish_seen_subcommand_from clear' -l yes -d 'do not ask'
complete -c tagroute -n '__fish_seen_subcommand_from transceive' -l aid -x -d 'declare applications of ISO-DEP cards'
complete -c tagroute -n '__fish_seen_subcommand_from transceive' -l system-code -x -d 'declare systems of FeliCa cards'
complete -c tagroute -n '__fish_seen_subcommand_from transceive' -l write -d 'allow commands that change the tag'
complete -c tagroute -n '__fish_seen_subcommand_from transceive' -l answer-within -x -d 'wait this many milliseconds for an answer'
complete -c tagroute -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c tagroute -n '__fish_seen_subcommand_from resolve' -l explain -d 'print every step'
complete -c tagroute -n '__fish_seen_subcommand_from resolve' -l uid -x -d 'ask for the tag with this UID'
complete -c tagroute -n '__fish_seen_subcommand_from resolve' -l technology -x -d 'ask for a tag of this technology'
complete -c tagroute -n '__fish_seen_subcommand_from resolve' -l reader -x -a '(__tagroute_values number status)' -d 'ask for a tag on this reader'
complete -c tagroute -n '__fish_seen_subcommand_from resolve' -l type -x -d 'add an empty record of this media or external type'
complete -c tagroute -n '__fish_seen_subcommand_from resolve' -l message -r -F -d 'ask for a tag with this message'

complete -c tagroute -n '__tagroute_bare rules add remove' -a 'add remove'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l uid -x -d 'the tag with this UID'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l handler -x -a '(__tagroute_handlers)' -d 'all tags that this app opens'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l reader -x -a '(__tagroute_values number status)' -d 'use this reader'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l timeout -x -d 'wait this many seconds for a tag'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l wait -d 'wait for the tag'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l contents -d 'only with the message that it holds now'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l open -x -a '(__tagroute_handlers)' -d 'open the link in this app'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l run -r -d 'run a program'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l show -d 'show what is on the tag'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l ignore -d 'do nothing'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l no-ask -d 'without a click'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __fish_seen_subcommand_from add' -l before -x -a '(__tagroute_values name rules)' -d 'write it before this rule'
complete -c tagroute -n '__tagroute_bare rules add remove' -l check -F -d 'print only errors'
complete -c tagroute -n '__fish_seen_subcommand_from rules; and __tagroute_behind remove' -a '(__tagroute_values name rules)'

complete -c tagroute -n "__tagroute_bare handlers $handlers" -a "$handlers"
complete -c tagroute -n "__tagroute_bare handlers $handlers" -l check -F -d 'print only errors'
complete -c tagroute -n '__fish_seen_subcommand_from handlers; and __tagroute_behind verify prefer block forget' -a '(__tagroute_handlers)'
complete -c tagroute -n '__fish_seen_subcommand_from verify' -l server -x -d 'ask this server instead of the domains'
complete -c tagroute -n '__fish_seen_subcommand_from verify' -l authorities -r -F -d 'use these certificate authorities'
complete -c tagroute -n '__fish_seen_subcommand_from verify' -l due -d 'ask all domains with an expired answer'
complete -c tagroute -n '__fish_seen_subcommand_from forget' -l domain -x -d 'undo the choices about such links'
complete -c tagroute -n '__fish_seen_subcommand_from forget export clear' -l all -d 'apply to all'

complete -c tagroute -n "__tagroute_bare inbox $inbox" -a "$inbox"
complete -c tagroute -n "__tagroute_bare inbox $inbox" -l state -x -d 'only taps in this state' \
    -a 'received shown opening delivered dismissed failed expired'
complete -c tagroute -n "__tagroute_bare inbox $inbox" -l limit -x -d 'list at most this many'
complete -c tagroute -n "__tagroute_bare inbox $inbox" -l before -x -a '(__tagroute_values id inbox)' -d 'only taps before this one'
complete -c tagroute -n '__fish_seen_subcommand_from inbox; and __fish_seen_subcommand_from open' -l handler -x -a '(__tagroute_handlers)' -d 'open it with this app'
complete -c tagroute -n '__fish_seen_subcommand_from inbox; and begin; __tagroute_behind show open dismiss export; or __fish_seen_subcommand_from clear; end' \
    -a '(__tagroute_values id inbox)'
complete -c tagroute -n '__fish_seen_subcommand_from export' -l force -d 'overwrite the file'
complete -c tagroute -n '__fish_seen_subcommand_from export' -l record -x -d 'export the data of this record'
complete -c tagroute -n '__fish_seen_subcommand_from export' -F
complete -c tagroute -n '__fish_seen_subcommand_from clear' -l older-than -x -d 'only taps older than this many days'

complete -c tagroute -n '__fish_seen_subcommand_from demo' -l pcsc -d 'simulate a reader of pcscd'
complete -c tagroute -n '__fish_seen_subcommand_from demo' -l unattended -d 'also click'
complete -c tagroute -n '__fish_seen_subcommand_from demo' -l examples -x -a '(__fish_complete_directories)' -d 'use the sample app from this folder'
complete -c tagroute -n '__fish_seen_subcommand_from demo' -l screenshot -r -F -d 'store a picture of the notification'
complete -c tagroute -n '__fish_seen_subcommand_from demo' -l uri -x -d 'tap a tag with this link, for an app of yours'
complete -c tagroute -n '__fish_seen_subcommand_from demo' -l handler -x -a '(__tagroute_handlers)' -d 'open it with this app'
