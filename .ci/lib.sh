# What .ci/run and .ci/nightly share. Both start at the root of a clean clone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

logs=$(mktemp -d)
trap 'wait; rm -rf "$logs"' EXIT
failed=0
summary=()

# The browser is the system's own. Elsewhere than in continuous integration one may do without.
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

install_browser() {
  local as_root=() attempt
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  for attempt in 1 2 3; do
    if browser || ! command -v apt-get; then return; fi >/dev/null
    echo "+ apt-get install chromium ($attempt)"
    timeout 120 "${as_root[@]}" apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive timeout 300 "${as_root[@]}" \
        apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null || sleep 5
  done
}

# The test command is the one that the README gives, so that it cannot go stale.
test_command() {
  sed -n 's/^\(python3 -m venv .*pytest.*\)$/\1/p' README.md
}

# The last line of each step is said again at the end, where one looks for it.
conclude() {
  summary+=("$([ "$2" = 0 ] && echo ok || echo FAILED)  $1: $(tail -n 1 "$3")")
  [ "$2" = 0 ] || failed=1
}

step() {
  local name=$1 log status=0
  shift
  log="$logs/step${#summary[@]}"
  echo "+ $name"
  "$@" 2>&1 </dev/null | tee "$log" || status=$?
  conclude "$name" $status "$log"
}

wait_for() {
  local status=0
  wait "$2" || status=$?
  echo "+ $1"
  cat "$3"
  conclude "$1" $status "$3"
}

checks() {
  local check failed=0
  for check in "ruff check ." "ruff format --check ." "mypy" "lint-imports"; do
    echo "+ $check"
    .venv/bin/$check || { echo "FAILED: $check"; failed=1; }
  done
  [ $failed = 0 ] && echo "lint, types and layers hold"
  return $failed
}

finish() {
  printf '\n'
  printf '%s\n' "${summary[@]}"
  exit $failed
}
