# Sourced by scripts that run tests. Prints the log of every process that a failed test started.
#
#     tiers="Fast System"                   # folders of Tests to build; this is the default
#     options+=(--sanitize=thread)          # for swift build and swift test
#     build_tests
#     run_tests "part" --filter NDEFTests   # as often as needed
#     finish_tests                          # ends the script

source Packaging/build.bash
options=("${debug_options[@]}")
tiers=${TAGROUTE_TESTS:-Fast System}
# How many tests run at once. Swift Testing starts every test at once. Then hundreds of processes share the processors,
# and the user runs out of inotify instances (128, and every dbus-daemon has one). Most of a test's time is waiting.
width=$((4 * $(nproc)))
[ $width -le 16 ] || width=16
status=0
logs=$(mktemp -d) || exit
touch "$logs/result"
# Programs that a test runs as another user must be able to reach its buses.
chmod 711 "$logs"
# Processes that a killed test left running have the folder's name on their command line.
trap 'pkill -KILL -f "$logs/" || true; rm -rf "$logs"' EXIT
export TAGROUTE_TEST_LOGS="$logs" TMPDIR="$logs"

build_tests() {
  describe_libraries
  export TAGROUTE_TESTS="$tiers"
  # The tests of values need no program.
  local all=(--build-tests)
  [ "$tiers" != Fast ] || all=(--product tagroutePackageTests)
  swift build "${options[@]}" "${all[@]}"
}

# A pattern for the tests in all targets of a tier.
tests_of() { printf '^(%s)\\.' "$(ls -d Tests/*/"$1"/* | xargs --max-args=1 basename | paste -sd '|')"; }

# Runs tests, named for the last lines. Fails if the filter fits no test, as after a target was renamed. Ends a test that waits
# for ever and ignores its time limit. Prints only the beginning of a line, because a test's argument may be a megabyte.
run_tests() {
  local name=$1 start=$SECONDS before
  shift
  before=$(grep -c 'Test run with [1-9]' "$logs/result" || true)
  SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="$width" \
    timeout --verbose 60m swift test --skip-build "${options[@]}" "$@" 2>&1 | stdbuf --output=L cut -c 1-1000 |
    tee --append "$logs/result" || status=$?
  if [ "$status" = 0 ] && [ "$(grep -c 'Test run with [1-9]' "$logs/result" || true)" = "$before" ]; then
    echo "error: no test fits: $*" | tee --append "$logs/result"
    status=1
  fi
  summary+=("$name: $((SECONDS - start)) s")
}
summary=()

# The names of failed tests, and of those that had not ended when a run was ended. A name of several words is in
# quotation marks.
name='("[^"]*"|[A-Za-z0-9_]+)'
failed_tests() {
  # Skip the closing line "✘ Test run with 9 tests".
  sed -nE "/✘ Test run with/d; s/^.*✘ Test $name.*\$/\\1/p" "$logs/result" | sort -u
}
unfinished_tests() {
  # A run that ended by itself has this line.
  [ "$(grep -c 'Test run with [0-9]* test' "$logs/result")" -lt ${#summary[@]} ] || return 0
  comm -23 \
    <(sed -nE "s/^.*◇ Test $name(\\(.*\\))? started\\.\$/\\1/p" "$logs/result" | sort -u) \
    <(sed -nE "s/^.*[✔✘➜] Test $name(\\(.*\\))? (with .* )?(passed after|failed after|skipped).*\$/\\1/p" "$logs/result" | sort -u)
}

# Prints what was left out, and the failures last: log viewers show the end of a long output.
finish_tests() {
  local left_out
  left_out=$(sed -nE 's/^.*➜ (Test|Suite) /left out: /p' "$logs/result")
  # In CI, a test that is left out is a failure, except one that a sanitizer or a missing libccid excludes.
  if [ "$status" = 0 ] && [ -n "${CI:-}" ] && grep -vE '^$|"a sanitizer |libccid is not installed' <<<"$left_out"; then
    echo "error: CI is set, and this machine cannot run these tests" | tee --append "$logs/result"
    status=1
  fi
  if [ "$status" != 0 ]; then
    { failed_tests; unfinished_tests; } | sort -u | while read -r test; do
      test=${test//\"/}
      # A log's name may also contain the arguments of the test. Then an underscore comes first.
      for log in "$logs/"{,_}"${test//[^A-Za-z0-9]/_}"[._]*.log; do
        [ -s "$log" ] || continue
        echo "--- $(basename "$log")"
        tail -n 40 "$log" | cut -c 1-400
      done
    done
    echo "=== failed"
    {
      grep -E '✘ (Test|Suite) |error:|timeout: sending|Fatal error|WARNING: ThreadSanitizer|SUMMARY: ' "$logs/result" ||
        true
    } | tail -n 60 | cut -c 1-400
    unfinished_tests | head -n 40 | sed 's/^/had not ended: /'
    echo "exit status $status"
  fi
  [ -z "$left_out" ] || echo "$left_out"
  printf '%s\n' "${summary[@]}"
  exit "$status"
}
