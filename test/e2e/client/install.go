// Package client installs and drives Claude Code for tests: any published version, in an environment made from
// nothing, with a throw-away home, headless or in a terminal.
package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// installLimit bounds one installation. npm needs seconds on a good line; the binaries are some 300 MB.
const installLimit = 5 * time.Minute

// A Client is an installed Claude Code.
type Client struct {
	Version string
	Path    string // the runnable
}

// CacheDir is where clients are kept between runs: $PLIMSOLL_E2E_CACHE, or a folder of ours in the user's cache.
func CacheDir() (string, error) {
	if dir := os.Getenv("PLIMSOLL_E2E_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder for clients: %w", err)
	}
	return filepath.Join(dir, "plimsoll-e2e"), nil
}

// Install returns the client of a version, from the cache or else from npm. Installations wait for each other, also
// between processes. A version is in the cache whole or not at all.
func Install(ctx context.Context, cache, version string) (Client, error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return Client{}, fmt.Errorf("install client %s: %w", version, err)
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(cache, "lock")).Lock()
	if err != nil {
		return Client{}, fmt.Errorf("install client %s: %w", version, err)
	}
	defer unlock()

	dir := filepath.Join(cache, version)
	if path, err := runnable(dir); err == nil {
		return Client{Version: version, Path: path}, nil
	}
	// What an interrupted run left is in the way of npm and of the rename.
	if err := os.RemoveAll(dir); err != nil {
		return Client{}, fmt.Errorf("install client %s: %w", version, err)
	}
	temp, err := os.MkdirTemp(cache, version+".tmp")
	if err != nil {
		return Client{}, fmt.Errorf("install client %s: %w", version, err)
	}
	defer os.RemoveAll(temp)
	if err := npmInstall(ctx, temp, version); err != nil {
		return Client{}, fmt.Errorf("install client %s: %w", version, err)
	}
	if _, err := runnable(temp); err != nil {
		return Client{}, fmt.Errorf("install client %s: %w", version, err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return Client{}, fmt.Errorf("install client %s: %w", version, err)
	}
	path, err := runnable(dir)
	return Client{Version: version, Path: path}, err
}

// npmInstall runs npm in the caller's environment: the registry, certificates and proxies are set up there. Scripts
// are off, since the package's own only makes a second copy of the binary.
func npmInstall(ctx context.Context, dir, version string) error {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", dir,
		"--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error",
		"@anthropic-ai/claude-code@"+version)
	cmd.Dir = dir
	ownGroup(cmd)
	out, err := cmd.CombinedOutput()
	if cause := ctx.Err(); cause != nil {
		err = cause
	}
	if err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("npm install: %w: %s", err, line)
	}
	return nil
}

// runnable finds the client in a folder that npm installed to. Every version of the 2.1 line that is tested brings a
// native binary in a package per platform; before that the package was a script for Node.
func runnable(dir string) (string, error) {
	modules := filepath.Join(dir, "node_modules")
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	for _, path := range []string{
		filepath.Join(modules, "@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+arch, "claude"),
		filepath.Join(modules, ".bin", "claude"),
	} {
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errors.New("npm installed no runnable for " + runtime.GOOS + "/" + runtime.GOARCH)
}
