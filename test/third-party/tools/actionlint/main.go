//go:build tools

// The module that is built is named in go.mod: a linter of the workflows of GitHub Actions.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
