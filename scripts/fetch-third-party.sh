#!/usr/bin/env bash
# Fetches the programs of the suite third-party: the packages of npm and PyPI in packages.txt, generators of clients (Maven, Go), the
# judge of histories Porcupine (Go), and actionlint (Go), which reads workflows. The script names each tool that this machine cannot
# fetch; under CI, a fetch that fails is an error. The tools stay outside the repository, under the hash of the text that names their
# versions, so that the next clone finds them.
set -uo pipefail
cd "$(dirname "$0")/.."

wanted=test/third-party/tools
stored=${THIRD_PARTY_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/mailproof/third-party}
limit=${THIRD_PARTY_SECONDS:-900}
mkdir -p "$stored"
failed=0

# What is stopped takes along what it has begun.
work=
trap 'kill $work 2>/dev/null; echo "It was stopped: what is not named above is left out."; exit 1' TERM

# The line of packages.txt for the tool.
line_of() { grep "^$1 " "$wanted/packages.txt"; }

# fetch NAME TEXT INSTALL COMMAND...: INSTALL is a function that fills the folder in its first argument; TEXT names the versions.
fetch() {
  local name=$1 install=$3 folder
  folder=$stored/$name-$(sha256sum <<<"$2" | cut -c -12)
  shift 3
  [ -d "$folder" ] && echo "$name is already there." && return
  for command in "$@"; do
    command -v "$command" >/dev/null || { echo "$name is left out: there is no $command."; return; }
  done
  local draft=$folder.$$
  mkdir -p "$draft"
  export wanted
  export -f line_of "$install"
  timeout "$limit" bash -euc "$install \"\$@\"" _ "$draft" "$name" >"$draft.log" 2>&1 &
  work=$!
  if ! wait "$work"; then
    echo "$name is left out: it could not be fetched within $limit seconds. The end of what was printed:"
    tail -n 5 "$draft.log" | sed 's/^/  /'
    rm -rf "$draft" "$draft.log"
    failed=1
    return
  fi
  # Named last, so that half a tool is none.
  mv -T "$draft" "$folder" 2>/dev/null || rm -rf "$draft"
  rm -f "$draft.log"
  echo "$name is in $folder."
}

# packages.txt pins the package itself, the date its dependencies.
install_npm() {
  local flags=(--ignore-scripts)
  # The runtime client builds itself.
  [ "$2" = runtime_client ] && flags=(--foreground-scripts)
  # shellcheck disable=SC2046
  npm install --prefix "$1" --no-package-lock --before 2026-11-01 "${flags[@]}" $(line_of "$2" | cut -d ' ' -f 2-)
}

# The tool python uses the versions that the machine's own Python has already.
install_python() {
  local sites=()
  [ "$2" = python ] && sites=(--system-site-packages)
  python3 -m venv "${sites[@]}" "$1"
  # shellcheck disable=SC2046
  "$1/bin/python" -m pip install --quiet --disable-pip-version-check $(line_of "$2" | cut -d ' ' -f 2-)
}

install_java_generators() {
  mvn --batch-mode --quiet --file "$wanted/generators/java/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DoutputDirectory="$1/provided" -DincludeScope=provided
}

# The modules of the client lie beside the generator, for a build without a network.
install_go_generators() {
  (cd "$wanted/generators/go" && export GOMODCACHE="$1/modules" GOFLAGS=-modcacherw &&
    go build -trimpath -o "$1/oapi-codegen" github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen && go mod download)
}

install_porcupine() {
  (cd "$wanted/porcupine" && go build -trimpath -o "$1/run" .)
}

install_actionlint() {
  (cd "$wanted/actionlint" && go build -trimpath -o "$1/run" github.com/rhysd/actionlint/cmd/actionlint)
}

for tool in newman vendor_sdks; do
  fetch "$tool" "$(line_of "$tool")" install_npm npm
done
for tool in joserfc checkdmarc parsedmarc pyevp python python_generators vendor_sdks_py zizmor; do
  fetch "$tool" "$(line_of "$tool")" install_python python3
done
fetch java_generators "$(cat $wanted/generators/java/pom.xml)" install_java_generators java mvn
fetch go_generators "$(cat $wanted/generators/go/go.sum)" install_go_generators go
fetch porcupine "$(cat $wanted/porcupine/main.go)" install_porcupine go
fetch actionlint "$(cat $wanted/actionlint/go.sum)" install_actionlint go
# The runtime client builds itself for a minute on two processors, so it comes last.
fetch runtime_client "$(line_of runtime_client)" install_npm npm cmake make g++

[ -z "${CI:-}" ] || exit "$failed"
