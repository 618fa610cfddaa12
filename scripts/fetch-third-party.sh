#!/usr/bin/env bash
# Fetches what the suite third-party runs: AWS's runtime client (npm; it builds itself), Postman's runner of collections, newman (npm), moto and cfn-lint (PyPI), one that
# reads DMARC reports, parsedmarc (PyPI), one that checks domains, checkdmarc (PyPI), one that checks receipts, joserfc (PyPI), one that makes proofs of control, PyEVP (PyPI), two that sign mail, dkimpy (PyPI) and go-msgauth (Go), generators of clients
# (PyPI, Maven, Go), one that judges histories, Porcupine (Go), and two that read workflows, zizmor (PyPI) and actionlint (Go). What the machine has nothing to fetch with is left out with its reason; under CI, what could be fetched
# and was not is a failure. They are stored outside the repository, under the hash of the file that names their versions, so
# that the next clone finds them.
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

# fetch NAME FILE COMMAND...: each in the function fetch_NAME, which fills the folder it is given.
fetch() {
  local name=$1 file=$wanted/$2 folder reason
  shift 2
  folder=$stored/$name-$(sha256sum "$file" | cut -c -12)
  [ -d "$folder" ] && echo "$name is already there." && return
  for command in "$@"; do
    command -v "$command" >/dev/null || { echo "$name is left out: there is no $command."; return; }
  done
  local draft=$folder.$$
  mkdir -p "$draft"
  export -f "fetch_$name"
  timeout "$limit" bash -euc "fetch_$name \"\$@\"" _ "$wanted" "$draft" >"$draft.log" 2>&1 &
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

fetch_runtime_client() {
  cp "$1"/runtime-client/package*.json .npmrc "$2"
  npm ci --prefix "$2" --foreground-scripts
}

fetch_newman() {
  cp "$1"/newman/package*.json .npmrc "$2"
  npm ci --prefix "$2" --ignore-scripts
}

# What the machine's own Python has in these versions is not fetched again.
fetch_python() {
  python3 -m venv --system-site-packages "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/python/requirements.txt"
}

fetch_dkimpy() {
  python3 -m venv "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/dkimpy/requirements.txt"
}

fetch_joserfc() {
  python3 -m venv "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/joserfc/requirements.txt"
}

fetch_parsedmarc() {
  python3 -m venv "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/parsedmarc/requirements.txt"
}

fetch_checkdmarc() {
  python3 -m venv "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/checkdmarc/requirements.txt"
}

fetch_pyevp() {
  python3 -m venv "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/pyevp/requirements.txt"
}

fetch_go_msgauth() {
  (cd "$1/go-msgauth" && go build -trimpath -o "$2/run" .)
}

fetch_python_generators() {
  python3 -m venv "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/generators/python/requirements.txt"
}

fetch_java_generators() {
  mvn --batch-mode --quiet --file "$1/generators/java/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DoutputDirectory="$2/provided" -DincludeScope=provided
}

# The modules of the client lie beside the generator, for a build without a network.
fetch_go_generators() {
  (cd "$1/generators/go" && export GOMODCACHE="$2/modules" GOFLAGS=-modcacherw &&
    go build -trimpath -o "$2/oapi-codegen" github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen && go mod download)
}

fetch_porcupine() {
  (cd "$1/porcupine" && go build -trimpath -o "$2/run" .)
}

fetch_zizmor() {
  python3 -m venv "$2"
  "$2/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$1/zizmor/requirements.txt"
}

fetch_actionlint() {
  (cd "$1/actionlint" && go build -trimpath -o "$2/run" github.com/rhysd/actionlint/cmd/actionlint)
}

# The one that builds itself comes last: it takes a minute of two processors.
fetch newman newman/package-lock.json npm
fetch dkimpy dkimpy/requirements.txt python3
fetch joserfc joserfc/requirements.txt python3
fetch parsedmarc parsedmarc/requirements.txt python3
fetch checkdmarc checkdmarc/requirements.txt python3
fetch pyevp pyevp/requirements.txt python3
fetch go_msgauth go-msgauth/main.go go
fetch python python/requirements.txt python3
fetch python_generators generators/python/requirements.txt python3
fetch java_generators generators/java/pom.xml java mvn
fetch go_generators generators/go/go.sum go
fetch porcupine porcupine/main.go go
fetch zizmor zizmor/requirements.txt python3
fetch actionlint actionlint/go.sum go
fetch runtime_client runtime-client/package-lock.json npm cmake make g++

[ -z "${CI:-}" ] || exit "$failed"
