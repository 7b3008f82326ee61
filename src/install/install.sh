#!/bin/sh
# Installs Guildhall: fetches a release, verifies it, and installs it. Says each step before it does it.
# `bun run release` fills in the two variables.
set -eu

version=
releases=

usage() {
	cat <<USAGE
Usage: install.sh [--version <version>] [--from <url>] [--to <directory>] [--domain <domain>] [--yes] [--dry-run] [--help]

Fetches the release of Guildhall for this computer, verifies its checksum and installs it. As root on Linux with systemd it
then runs "guildhall install", which shows what it will do, and asks.

  --version  the version to install (default: ${version:-none})
  --from     the address of the files of a release (default: ${releases:-none})
  --to       the directory of the executable (default: /usr/local/bin for root, otherwise ~/.local/bin)
  --domain   also publish the gateway with TLS at this domain, as "guildhall install --domain" does
  --yes      do not ask
  --dry-run  only say what would be done
USAGE
}

say() { printf '%s\n' "$*"; }
fail() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

# Everything is in functions, so that a script which was cut off does nothing.
main() {
	wanted=$version from='' to='' domain='' yes='' dry=''
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --from | --to | --domain)
			[ -n "${2:-}" ] || fail "expected a value after $1"
			case $1 in
			--version) wanted=${2#v} ;;
			--from) from=${2%/} ;;
			--to) to=${2%/} ;;
			--domain) domain=$2 ;;
			esac
			shift
			;;
		--yes) yes=--yes ;;
		--dry-run) dry=yes ;;
		--help | -h) usage && exit 0 ;;
		*) usage >&2 && fail "unknown argument $1" ;;
		esac
		shift
	done
	[ -n "$wanted" ] || fail "this copy belongs to no release: name one with --version and --from"
	[ -n "$from" ] || [ -n "$releases" ] || fail "this release was not published: name the address of its files with --from"
	from=${from:-$releases/download/v$wanted}
	find_platform
	root=''
	[ "$(id -u)" != 0 ] || root=yes
	if [ -z "$to" ]; then
		if [ -n "$root" ]; then to=/usr/local/bin; else to=${HOME:?}/.local/bin; fi
	fi
	server=''
	[ -z "$root" ] || [ "$to" != /usr/local/bin ] || [ ! -d /run/systemd/system ] || server=yes
	[ -z "$domain" ] || [ -n "$server" ] || fail "--domain needs root on Linux with systemd"
	compare_installed
	file=guildhall-$wanted-$platform.tar.gz
	# Where the gateway looks for it.
	case $to in */bin) docs=${to%/bin}/share/guildhall/docs ;; *) docs='' ;; esac
	find_tools

	say "1. Fetch $from/$file"
	say "2. Verify it with SHA256SUMS from there"
	if [ -n "$server" ]; then
		say "3. Run: guildhall install${domain:+ --domain $domain}${yes:+ --yes}"
	else
		say "3. Install it as $to/guildhall${docs:+, and its documentation as $docs}"
	fi
	if [ -n "$dry" ]; then
		say "Nothing was changed (--dry-run)."
		exit 0
	fi

	work=$(mktemp -d) || fail "no temporary directory: is the disk full?"
	trap 'rm -rf "$work" "$to/.guildhall.new" ${docs:+"$docs.new"}' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	say "Fetching $file …"
	fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
	fetch "$from/$file" "$work/$file"
	say "Verifying …"
	(cd "$work" && grep " $file\$" SHA256SUMS >sum) || fail "SHA256SUMS does not list $file: nothing was installed"
	(cd "$work" && $checksum -c sum >/dev/null 2>&1) ||
		fail "the checksum of $file is wrong: the download is damaged or not the release. Nothing was installed."
	tar -xzf "$work/$file" -C "$work" || fail "could not unpack $file in $work (is the disk full? TMPDIR names another place). Nothing was installed."
	unpacked=$work/guildhall-$wanted-$platform
	"$unpacked/guildhall" --version >/dev/null || {
		# The shell's code for a file that it may not execute.
		[ $? != 126 ] || fail "executables do not run in $work (is it mounted noexec?): TMPDIR names another place. Nothing was installed."
		fail "the executable does not run on this computer. Nothing was installed."
	}
	if [ -n "$server" ]; then as_service; else as_file; fi
}

find_platform() {
	system=$(uname -s) machine=$(uname -m)
	case $machine in
	x86_64 | amd64) machine=x64 ;;
	aarch64 | arm64) machine=arm64 ;;
	esac
	case $system-$machine in
	Linux-x64 | Linux-arm64)
		platform=linux-$machine
		# Alpine and others with musl.
		! ldd --version 2>&1 | grep -qi musl || platform=linux-$machine-musl
		;;
	Darwin-x64 | Darwin-arm64) platform=darwin-$machine ;;
	*) fail "there is no release for $system on $machine. On Windows, unpack guildhall-$wanted-windows-x64.tar.gz from $from" ;;
	esac
}

compare_installed() {
	[ -x "$to/guildhall" ] || return 0
	present=$("$to/guildhall" --version 2>/dev/null | sed 's/[ +-].*//') || present=
	case $present in
	"") say "$to/guildhall is present, and does not say its version: it will be replaced." ;;
	"$wanted") say "Guildhall $present is installed already: it will be installed again." ;;
	*)
		newest=$(printf '%s\n%s\n' "$present" "$wanted" | sort -t. -k1,1n -k2,2n -k3,3n | tail -n 1)
		[ "$newest" = "$wanted" ] ||
			fail "Guildhall $present is installed, which is newer than $wanted. An older version does not start with newer databases: remove $to/guildhall first if you want it."
		say "Guildhall $present is installed: $wanted will replace it. \"guildhall upgrade\" also backs up the databases first."
		;;
	esac
}

find_tools() {
	if command -v curl >/dev/null; then
		fetch() { curl -fsSL --retry 2 -o "$2" "$1" || fetch_failed "$1"; }
	elif command -v wget >/dev/null; then
		fetch() { wget -q -t 3 -O "$2" "$1" || fetch_failed "$1"; }
	else fail "curl or wget is needed"; fi
	if command -v sha256sum >/dev/null; then checksum=sha256sum
	elif command -v shasum >/dev/null; then checksum="shasum -a 256"
	else fail "sha256sum or shasum is needed to verify the download"; fi
	for tool in tar gzip; do command -v $tool >/dev/null || fail "$tool is needed"; done
}

fetch_failed() { fail "could not fetch $1 completely. Nothing was installed."; }

as_service() {
	say "Installing as a service …"
	set -- install ${domain:+--domain "$domain"} ${yes:+--yes}
	# With "curl … | sh", stdin is this script.
	if [ -n "$yes" ] || [ -t 0 ]; then "$unpacked/guildhall" "$@"
	elif (: </dev/tty) 2>/dev/null; then "$unpacked/guildhall" "$@" </dev/tty
	else fail "there is no terminal to ask on: add --yes to go on without a question. Nothing was installed."; fi
}

as_file() {
	say "Installing $to/guildhall …"
	replace ||
		fail "could not write $to/guildhall${docs:+ and $docs} (is the disk full, or does the directory belong to somebody else?)"
	say "Installed $("$to/guildhall" --version)."
	case :$PATH: in
	*:"$to":*) say "Try: guildhall demo" ;;
	*) say "Try: $to/guildhall demo ($to is not in PATH)" ;;
	esac
}

# A program that runs from the old file continues undisturbed.
replace() {
	mkdir -p "$to" && cp "$unpacked/guildhall" "$to/.guildhall.new" && chmod 755 "$to/.guildhall.new" &&
		{ [ -z "$docs" ] || { mkdir -p "${docs%/docs}" && rm -rf "$docs.new" && cp -R "$unpacked/docs" "$docs.new"; }; } &&
		[ ! -d "$to/guildhall" ] && mv "$to/.guildhall.new" "$to/guildhall" &&
		{ [ -z "$docs" ] || { rm -rf "$docs" && mv "$docs.new" "$docs"; }; }
}

main "$@"
