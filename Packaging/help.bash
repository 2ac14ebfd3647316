# Sourced first by each script: prints the comment at the start of the script if an argument is --help.

help_text=$(sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0")
for argument; do
  case $argument in
    --help | -h)
      printf '%s\n' "$help_text"
      exit
      ;;
  esac
done

# Ends the script, because its arguments are wrong.
usage() {
  printf '%s\n' "$help_text" >&2
  exit 64
}
