#!/usr/bin/env bash
# Fetches what PIN names through the npm client, without running any script of a package, and puts here the library and
# the licences of it and of the package that is bundled into it. A tarball with another hash than PIN's is refused, and so
# are files with other sums than SHA256SUMS. To upgrade: change PIN, run this, and take over the sums that it prints.
set -euo pipefail
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unpack() { # unpack MEMBER FILE: the tarball that was fetched last
  tar -xzOf "$work/$tarball" "package/$1" >"$work/$2"
}
while read -r package integrity; do
  tarball=$(npm pack --ignore-scripts --silent --pack-destination "$work" "$package")
  got=sha512-$(openssl dgst -sha512 -binary "$work/$tarball" | base64 | tr -d '\n')
  if [ "$got" != "$integrity" ]; then
    echo "$package: the tarball has $got, PIN has $integrity" >&2
    exit 1
  fi
  case $package in
    chart.js@*) unpack dist/chart.umd.min.js chart.umd.min.js && unpack LICENSE.md LICENSE ;;
    @kurkle/color@*) unpack LICENSE.md LICENSE.color ;;
  esac
done <PIN

if ! (cd "$work" && sha256sum --quiet --check "$OLDPWD/SHA256SUMS"); then
  echo "the files are not those of SHA256SUMS; they have" >&2
  (cd "$work" && sha256sum chart.umd.min.js LICENSE LICENSE.color) >&2
  exit 1
fi
cp "$work"/{chart.umd.min.js,LICENSE,LICENSE.color} .
