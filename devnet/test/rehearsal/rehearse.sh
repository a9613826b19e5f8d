#!/bin/bash
# Runs rehearsal.test.ts on an image of Debian, in namespaces of its own: whatever ends it, also Ctrl-C or a SIGKILL, the
# kernel takes the machines, their network and all files with it. After a SIGKILL of this script, an empty folder in
# TMPDIR and empty cgroups stay.
set -euo pipefail
cd "$(dirname "$0")/../../.."

if [ "${1:-}" != inside ]; then
  missing=()
  [ "$(id -u)" = 0 ] || missing+=("root (run it with sudo)")
  for program in unshare setpriv nsenter ip openssl tar mmdebstrap systemd-nspawn; do
    command -v "$program" > /dev/null || missing+=("$program")
  done
  [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=("debian-archive-keyring")
  unshare --mount --net --pid --fork true 2> /dev/null || missing+=("the right to make namespaces")
  grep -qw overlay /proc/filesystems || modprobe overlay 2> /dev/null || missing+=("overlayfs, of the kernel")
  if [ ${#missing[@]} -gt 0 ]; then
    printf 'The rehearsal needs Linux with systemd-nspawn, and this is missing here:\n' >&2
    printf '  %s\n' "${missing[@]}" >&2
    printf 'On Debian and Ubuntu: apt-get install systemd-container mmdebstrap debian-archive-keyring iproute2 openssl\n' >&2
    exit 1
  fi
  npm run --silent build
  npm run --silent build:sol
  folder=$(mktemp -d)
  # Without setpriv, a SIGKILL of this script would leave it running.
  setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc bash "$0" inside "$folder" &
  cleanup() {
    kill -KILL $! 2> /dev/null || true
    wait $! 2> /dev/null || true
    rmdir "$folder"
    # The kernel takes a moment to end all.
    for _ in {1..50}; do
      find /sys/fs/cgroup -depth -type d -path '*/dataset-oracle-rehearsal*' -exec rmdir {} + 2> /dev/null && break
      sleep 0.2
    done
  }
  trap cleanup EXIT
  trap 'exit 130' INT TERM
  wait $!
  exit
fi

folder=$2
mount -t tmpfs tmpfs "$folder"
image=$folder/image
started=$SECONDS
mmdebstrap --quiet --variant=minbase bookworm "$image" \
  --include=systemd,systemd-sysv,ca-certificates,curl,procps,openssl,git,caddy,nginx,dnsmasq-base

systemctl --root "$image" --quiet disable caddy nginx
rm "$image/etc/hostname"
echo "127.0.0.1 localhost" > "$image/etc/hosts"

# What the documents have people install: Node as /usr/bin/node, and this repository, built.
cp "$(node -p process.execPath)" "$image/usr/bin/node"
npm=$(dirname "$(readlink -f "$(command -v npm)")")
mkdir -p "$image/usr/lib/node_modules"
cp -a "${npm%/bin}" "$image/usr/lib/node_modules/npm"
for name in npm npx; do ln -s ../lib/node_modules/npm/bin/$name-cli.js "$image/usr/bin/$name"; done
mkdir "$image/opt/dataset-oracle"
tar --create --exclude='./deployments/*.json' --exclude=./docs/site/node_modules --exclude=./broadcast . |
  tar --extract --no-same-owner --directory "$image/opt/dataset-oracle"
git clone --quiet --bare "$image/opt/dataset-oracle" "$image/srv/dataset-oracle.git"
git -C "$image/opt/dataset-oracle" remote set-url origin file:///srv/dataset-oracle.git
# npm's launcher of cast hides failures.
ln -sf "../@foundry-rs/cast-linux-$(node -p '({ x64: "amd64" })[process.arch] ?? process.arch')/bin/cast" \
  "$image/opt/dataset-oracle/node_modules/.bin/cast"
# An upgrade installs what this repository has been installed from.
cp -a "$(npm config get cache)" "$image/root/.npm"
echo offline=true > "$image/root/.npmrc"
printf 'An image of Debian with this repository: %s s\n' $((SECONDS - started))

# The machines' files are theirs.
mount -t tmpfs tmpfs /run
export REHEARSAL_FOLDER=$folder TMPDIR=$folder
unshare --net npx vitest run devnet/test/rehearsal/rehearsal.test.ts --mode long --reporter verbose --bail 1

minutes=$(((SECONDS - started + 59) / 60))
printf 'The rehearsal took %s minutes, without the build\n' $minutes
if [ -n "${CI:-}" ] && [ $minutes -gt 15 ]; then
  echo 'It has to take at most 15 minutes' >&2
  exit 1
fi
