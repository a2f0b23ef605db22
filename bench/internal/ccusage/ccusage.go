// Package ccusage gets the program that the report is compared with: npm's ccusage, pinned.
package ccusage

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Release is the newest that the registry had for Linux on x86. Since 20 a release is one native program a platform; npm
// checks the package against the hash that the registry tells.
const Release = "20.0.24"

// ErrMissing is what a comparison cannot be made without.
var ErrMissing = errors.New("not to be had")

// Binary installs the program into the user's cache, once, and returns its path. No script of the package runs.
func Binary() (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	pkg := "@ccusage/ccusage-" + runtime.GOOS + "-" + arch
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	prefix := filepath.Join(cache, "plimsoll-bench", "ccusage-"+Release)
	bin := filepath.Join(prefix, "node_modules", pkg, "bin", "ccusage")
	if _, err := os.Stat(bin); err != nil {
		npm := exec.Command("npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", prefix, pkg+"@"+Release)
		if out, err := npm.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s@%s is %w: npm: %s", pkg, Release, ErrMissing, bytes.TrimSpace(out))
		}
	}
	return bin, os.Chmod(bin, 0o755)
}
