#!/bin/sh
# Puts what an executable for Linux needs of Debian's libc6 into a directory: libc.sh amd64|arm64 DIRECTORY
# Needs Debian (apt-get, dpkg-deb); Ubuntu has other architectures on another server. Prints the package that was used.
set -eu
case $1 in
amd64) triplet=x86_64-linux-gnu loader=lib64/ld-linux-x86-64.so.2 ;;
arm64) triplet=aarch64-linux-gnu loader=lib/ld-linux-aarch64.so.1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Package lists of its own, so that another architecture does not change those of the machine.
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
options="-o APT::Architecture=$1 -o APT::Architectures=$1 -o Dir::State::Lists=$work/lists -o Dir::Cache=$work/cache -o APT::Sandbox::User=root"
cd "$work"
# shellcheck disable=SC2086 # these are several options
apt-get -qq $options update >&2
# shellcheck disable=SC2086
apt-get -qq $options download libc6 >&2
dpkg-deb -x libc6_*.deb root
mkdir -p "$2/lib/$triplet" "$2/$(dirname "$loader")"
cp -L "$(find root -path "*/$triplet/${loader##*/}")" "$2/$loader"
for name in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2; do
	cp -L "$(find root -path "*/$triplet/$name")" "$2/lib/$triplet/"
done
cp root/usr/share/doc/libc6/copyright "$2/lib/$triplet/libc6.copyright"
echo libc6_*.deb
