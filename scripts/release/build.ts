/** The artifacts of a release, each from tracked files of the repository and its lock file. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { buildBundle } from '../../routes/console/site/bundle.ts'
import { writeArchive } from './archive.ts'
import { licenceTexts } from './licences.ts'
import type { Lock } from './lock-file.ts'
import { packNpm } from './npm-package.ts'
import { copyFiles, documentationFiles, programFiles } from './program-files.ts'
import { writeSbom } from './sbom.ts'

export interface Artifact {
  name: string
  bytes: number
  sha256: string
}

export type Architecture = 'x64' | 'arm64'

interface Plan {
  root: string
  /** An empty folder. */
  to: string
  architectures?: readonly Architecture[]
}

const architectures: readonly Architecture[] = ['x64', 'arm64']

/** Writes the artifacts and their checksums. */
export async function buildRelease({ root, to, architectures: built = architectures }: Plan) {
  const work = mkdtempSync(join(tmpdir(), 'postern-release-'))
  try {
    const manifest: { version: string } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    const prefix = `postern-${manifest.version}`
    const machines = await machineFolders(root, work, built)
    const licences = join(work, 'THIRD_PARTY_LICENSES')
    writeFileSync(licences, readLicences(root, machines))
    const names = [
      ...machines.map(({ folder, name }) => archiveMachine(folder, { to, prefix, name, licences })),
      archiveImageContext(root, work, { to, prefix }),
      archiveChart(root, to, manifest.version),
      await packNpm(root, join(work, 'package'), to, [licences]),
      ...sboms(root, to, prefix),
    ]
    cpSync(licences, join(to, 'THIRD_PARTY_LICENSES'))
    return writeChecksums(to, [...names, 'THIRD_PARTY_LICENSES'])
  } finally {
    rmSync(work, { recursive: true })
  }
}

interface Machine {
  name: string
  folder: string
}

/** What the archive for each architecture contains: the sources, the documentation, the built console, packages, the systemd unit. */
async function machineFolders(
  root: string,
  work: string,
  built: readonly Architecture[],
): Promise<Machine[]> {
  const common = join(work, 'common')
  copyFiles([...programFiles(root), ...documentationFiles(root)], root, common)
  mkdirSync(join(common, 'console/dist'), { recursive: true })
  await buildBundle(join(common, 'console/dist'))
  return built.map((cpu) => {
    const folder = join(work, cpu)
    cpSync(common, folder, { recursive: true })
    installPackages(folder, cpu)
    return { name: `linux-${cpu}`, folder }
  })
}

/** As the Dockerfile installs them. Nothing is compiled, so any machine can do it for any other. */
export function installPackages(folder: string, cpu: Architecture): void {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
  const platform = ['--os=linux', `--cpu=${cpu}`, '--libc=glibc']
  const options = ['--omit=dev', '--ignore-scripts', ...platform, ...quiet]
  execFileSync('npm', ['ci', ...options], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

function readLicences(root: string, machines: readonly Machine[]): string {
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const first = machines[0]
  if (!first) throw new Error('A release needs at least one architecture.')
  return licenceTexts(lock, first.folder)
}

interface MachineArchive {
  to: string
  prefix: string
  name: string
  licences: string
}

function archiveMachine(folder: string, { to, prefix, name, licences }: MachineArchive): string {
  cpSync(licences, join(folder, 'THIRD_PARTY_LICENSES'))
  const file = `${prefix}-${name}.tar.gz`
  writeArchive(folder, join(to, file), { prefix })
  return file
}

/** `docker build - < FILE` builds the image. */
function archiveImageContext(
  root: string,
  work: string,
  { to, prefix }: { to: string; prefix: string },
): string {
  const folder = join(work, 'context')
  copyFiles([...programFiles(root), 'Dockerfile'], root, folder)
  const file = `${prefix}-image-context.tar.gz`
  writeArchive(folder, join(to, file), { prefix: '.' })
  return file
}

/** In the form of `helm package`. */
function archiveChart(root: string, to: string, version: string): string {
  const file = `postern-chart-${version}.tgz`
  writeArchive(join(root, 'deploy/helm/postern'), join(to, file), { prefix: 'postern' })
  return file
}

function sboms(root: string, to: string, prefix: string): string[] {
  const date = execFileSync('git', ['log', '-1', '--format=%cI'], { cwd: root, encoding: 'utf8' })
  const files = { cyclonedx: `${prefix}.cdx.json`, spdx: `${prefix}.spdx.json` } as const
  for (const format of ['cyclonedx', 'spdx'] as const) {
    const utc = new Date(date.trim()).toISOString()
    writeSbom(root, join(to, files[format]), { format, date: utc })
  }
  return Object.values(files)
}

function writeChecksums(to: string, names: readonly string[]): Artifact[] {
  const artifacts = names.toSorted().map((name) => {
    const file = join(to, name)
    const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex')
    return { name, bytes: statSync(file).size, sha256 }
  })
  const lines = artifacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`)
  writeFileSync(join(to, 'SHA256SUMS'), lines.join(''))
  return artifacts
}
