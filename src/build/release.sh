#!/bin/bash
# Makes dist/release, the files of a release, from what `bun run build` has built. `release.sh --publishable` only
# says whether this commit may be published. The same commit gives the same bytes, with the same npm and libc.
# Needs Node.js with npm, zip, perl, GNU tar; for the image also Debian, without which it is left out. DIST: default dist.
set -euo pipefail
cd "$(dirname "$0")/../.."

# `repository` in package.json is the one place that names the owner.
version=$(sed -n 's/^\t"version": "\(.*\)",$/\1/p' package.json)
repository=$(sed -n 's/^\t"repository": "github:\(.*\)",$/\1/p' package.json)
owner=${repository%%/*}
scope=@$(echo "$owner" | tr '[:upper:]' '[:lower:]')
home=https://github.com/$repository
revision=$(git rev-parse HEAD)
time=$(git log -1 --format=%ct)
date=$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%SZ)
export TZ=UTC

if [ "${1:-}" = --publishable ]; then
	issue=""
	git tag --points-at HEAD | grep -qx "v$version" || issue="commit $revision has no tag v$version"
	[ -z "$(git status --porcelain)" ] || issue="there are uncommitted changes"
	[ "$owner" != OWNER ] || issue='"repository" in package.json still has the placeholder OWNER'
	echo "${issue:-publishable: $repository $version}"
	[ -z "$issue" ]
	exit
fi

dist=${DIST:-$PWD/dist}
out=$dist/release
packages=$PWD/src/build/packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"
archive() { tar --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --format=ustar "$@"; }

# Archives for operators. In Markdown, a link to a file that is not in them becomes its text.
mkdir "$work/documents"
git archive HEAD README.md LICENSE CHANGELOG.md .github/{SECURITY.md,screenshots} src/docs \
	src/{build,gateway,simulator}/README.md src/bot/{approval,features,settings,moderation,tools}/README.md \
	src/bot/game/{README.md,openapi.yaml,plugin.mjs} instances/{README.md,PRIVACY.md,example} \
	src/guild-document/{README.md,guild-document.schema.json} \
	docker/{README.md,systemd,proxy,monitoring} | tar -x -C "$work/documents"
src/build/unlink.sh "$work/documents"
src/build/docs.sh "$work/documents/docs"
sed -i "s|OWNER/guildhall|$repository|g" "$work/documents/README.md" "$work/documents/docs/README.md"
targets=""
for file in "$dist"/*/guildhall "$dist"/*/guildhall.exe "$dist/guildhall"; do
	[ -f "$file" ] || continue
	target=$(basename "$(dirname "$file")")
	# With --all, there is one for this platform in a folder as well.
	[ "$file" != "$dist/guildhall" ] || target=$("$file" --version | sed 's/.*, \(.*\))$/\1/')
	[[ " $targets " != *" $target "* ]] || continue
	targets="$targets${targets:+ }$target"
	name=guildhall-$version-$target
	cp -r "$work/documents" "$work/$target"
	chmod -R u=rwX,go=rX "$work/$target"
	install -m 755 "$file" "$work/$target/"
	for link in gateway bot; do [ "${file##*.}" = exe ] || ln -s guildhall "$work/$target/$link"; done
	archive -C "$work" --transform "s|^$target|$name|;" -c "$target" | gzip -n >"$out/$name.tar.gz"
done

# npm: a launcher, and a package for each platform. npm does not publish a private package.
private=""
[ "$owner" != OWNER ] || private='"private": true,'
manifest() {
	printf '{ "name": "%s", "version": "%s", %s "license": "MIT", "repository": "github:%s", %s "description": "%s" }\n' \
		"$1" "$version" "$private" "$repository" "$2" "An MCP gateway for Discord bots, and the bots"
}
pack() { npm pack --silent --pack-destination "$out" "$1" >/dev/null; }
optional=""
for target in $targets; do
	IFS=- read -r os cpu libc <<<"$target-"
	libc=${libc%-}
	[ "$os" != windows ] || os=win32
	only="\"os\": [\"$os\"], \"cpu\": [\"$cpu\"],"
	[ "$os" != linux ] || only="$only \"libc\": [\"${libc:-glibc}\"],"
	mkdir "$work/npm-$target"
	cp "$work/$target"/guildhall{,.exe} "$work/npm-$target" 2>/dev/null || true
	manifest "$scope/guildhall-$target" "$only" >"$work/npm-$target/package.json"
	pack "$work/npm-$target"
	optional="$optional${optional:+, }\"$scope/guildhall-$target\": \"$version\""
done
mkdir "$work/npm"
sed "s|{scope}|$scope|" "$packages/launcher.cjs" >"$work/npm/guildhall.js"
cp "$work/documents"/{README.md,LICENSE} "$work/npm"
manifest guildhall "\"bin\": { \"guildhall\": \"guildhall.js\" }, \"engines\": { \"node\": \">=18\" }, \"optionalDependencies\": { $optional }," >"$work/npm/package.json"
pack "$work/npm"

# Claude Desktop: the bridge, for the Node.js that it brings. https://github.com/anthropics/mcpb/blob/main/MANIFEST.md
mkdir -p "$work/bundle/server"
bun build --target=node --outfile="$work/bundle/server/connect.mjs" src/connect/main.ts >/dev/null
sed "s|\"version\": \"\"|\"version\": \"$version\"|" "$packages/bundle.json" >"$work/bundle/manifest.json"
find "$work/bundle" -exec touch -d "@$time" {} +
(cd "$work/bundle" && zip -X -q -D "$out/guildhall-$version.mcpb" manifest.json server/connect.mjs)
bundle=$(sha256sum <"$out/guildhall-$version.mcpb")
sed -e "s|\"name\": \"\"|\"name\": \"io.github.$repository\"|; s|\"version\": \"\"|\"version\": \"$version\"|" \
	-e "s|\"identifier\": \"\"|\"identifier\": \"$home/releases/download/v$version/guildhall-$version.mcpb\"|" \
	-e "s|\"fileSha256\": \"\"|\"fileSha256\": \"${bundle%% *}\"|" docker/registry/server.json >"$out/server.json"

# An image layout, in an archive: https://github.com/opencontainers/image-spec/blob/main/image-layout.md
blobs=$work/image/blobs/sha256
mkdir -p "$blobs"
# Moves a file to the blobs, and prints its descriptor.
blob() {
	local sum
	sum=$(sha256sum <"$2")
	printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d%s}' "$1" "${sum%% *}" "$(stat -c %s "$2")" "${3:-}"
	mv "$2" "$blobs/${sum%% *}"
}
image() {
	local architecture=$1 root=$work/root-$1 layer=$work/layer
	mkdir "$root"
	# Bun brings its own certificates and time zones; of a system it needs only libc.
	libc=$(sh "$packages/libc.sh" "$architecture" "$root") || return 1
	mkdir -p "$root"/{data,instances,tmp,etc,usr/local/bin,usr/local/share/guildhall}
	# Otherwise names in /etc/hosts would be asked of DNS first.
	echo "hosts: files dns" >"$root/etc/nsswitch.conf"
	cp "$work/$2/guildhall" "$root/usr/local/bin/"
	cp -r "$work/documents/docs" "$root/usr/local/share/guildhall/"
	chmod -R u=rwX,go=rX "$root"
	chmod 1777 "$root"/{data,instances,tmp}
	archive -C "$root" -cf "$layer" .
	local diff
	diff=$(sha256sum <"$layer")
	gzip -n "$layer"
	printf '{"created":"%s","architecture":"%s","os":"linux","config":%s,"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"%s","comment":"guildhall %s, %s"}]}' \
		"$date" "$architecture" "$(tr -d '\n\t' <"$packages/image.json")" "${diff%% *}" "$date" "$version" "$libc" >"$work/config"
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
		"$(blob config.v1+json "$work/config")" "$(blob layer.v1.tar+gzip "$layer.gz")" >"$work/manifest"
	local descriptor
	descriptor=$(blob manifest.v1+json "$work/manifest" ",\"platform\":{\"architecture\":\"$architecture\",\"os\":\"linux\"}")
	manifests="$manifests${manifests:+,}$descriptor"
	# Some tools, such as umoci, do not choose the platform from an index.
	named="$named,${descriptor%\}},\"annotations\":{\"org.opencontainers.image.ref.name\":\"$version-$architecture\"}}"
}
manifests="" named=""
for pair in amd64:linux-x64 arm64:linux-arm64; do
	[ ! -d "$work/${pair#*:}" ] || image "${pair%:*}" "${pair#*:}" || echo "the image for ${pair%:*} is left out" >&2
done
if [ -n "$manifests" ]; then
	printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s]}' "$manifests" >"$work/index"
	index=$(blob index.v1+json "$work/index" ",\"annotations\":{\"org.opencontainers.image.ref.name\":\"$version\"}")
	printf '{"schemaVersion":2,"manifests":[%s]}' "$index$named" >"$work/image/index.json"
	printf '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
	archive -C "$work/image" -cf "$out/guildhall-$version-image.tar" index.json oci-layout blobs
fi

# The script knows its version, and where the release is.
releases=$home/releases
[ "$owner" != OWNER ] || releases=""
sed "s|^version=\$|version=$version|; s|^releases=\$|releases=$releases|" src/install/install.sh >"$out/install.sh"

# SBOM (CycloneDX): the packages in the executables, and Bun. Without its number and with the commit's time, so that it is
# the same each time. npm would miss the packages of development, which are not in the executables.
mkdir "$work/sbom"
cp package.json bun.lock bunfig.toml "$work/sbom"
bun=$(bun --version)
(
	cd "$work/sbom"
	bun install --frozen-lockfile --production --silent
	node -e 'const all = require("./package.json"); delete all.devDependencies; fs.writeFileSync("package.json", JSON.stringify(all))'
	npm sbom --sbom-format cyclonedx --sbom-type application |
		sed "/\"serialNumber\"/d; s|\"timestamp\": \".*\"|\"timestamp\": \"$date\"|; s|\"name\": \"sbom\"|\"name\": \"guildhall\"|" |
		sed "s|^  \"components\": \[|&\n    { \"bom-ref\": \"bun@$bun\", \"type\": \"platform\", \"name\": \"bun\", \"version\": \"$bun\", \"purl\": \"pkg:npm/bun@$bun\" },|"
) >"$out/guildhall-$version.cdx.json"

# Where it comes from: https://slsa.dev/spec/v1.0/provenance in https://github.com/in-toto/attestation/tree/main/spec/v1
subjects=$(cd "$out" && sha256sum -- * | sed 's|^\(.*\)  \(.*\)|{ "name": "\2", "digest": { "sha256": "\1" } }|' | paste -sd,)
lock=$(sha256sum <bun.lock)
cat >"$out/guildhall-$version.unsigned.intoto.json" <<STATEMENT
{
	"_type": "https://in-toto.io/Statement/v1",
	"subject": [$subjects],
	"predicateType": "https://slsa.dev/provenance/v1",
	"predicate": {
		"buildDefinition": {
			"buildType": "$home/blob/main/src/build/README.md",
			"externalParameters": { "version": "$version", "platforms": "$targets" },
			"internalParameters": {
				"signed": false,
				"note": "This statement is not signed: it says what the builder claims, and proves nothing."
			},
			"resolvedDependencies": [
				{ "uri": "git+$home", "digest": { "gitCommit": "$revision" } },
				{ "uri": "pkg:npm/bun@$bun" },
				{ "name": "bun.lock", "digest": { "sha256": "${lock%% *}" } }
			]
		},
		"runDetails": { "builder": { "id": "${GITHUB_WORKFLOW_REF:-a computer that is not named}" } }
	}
}
STATEMENT
(cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS && ls -l)
