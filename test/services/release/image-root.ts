/** The file system of the container image, made by the steps of the Dockerfile without a container engine. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { buildBundle } from '../../../routes/console/site/bundle.ts'
import { installPackages } from '../../../scripts/release/build.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { architecture, repository } from './artifacts.ts'

const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')

/** The user `node` of the base image. */
const user = 1000

/** `/app` of the image, from the build context. */
export async function makeApp(root: string, context: string): Promise<string> {
  const app = join(root, 'app')
  cpSync(context, app, { recursive: true })
  installPackages(app, architecture)
  mkdirSync(join(app, 'console/dist'), { recursive: true })
  await buildBundle(join(app, 'console/dist'))
  execFileSync(process.execPath, [join(app, 'deploy/strip-types.mjs')])
  return app
}

/** In the place of the base image: Node, the libraries that it and native packages load, and certificates. */
export function addBase(root: string, app: string): void {
  const natives = execFileSync('find', [app, '-name', '*.node'], { encoding: 'utf8' }).trim()
  const libraries = [process.execPath, ...natives.split('\n')].flatMap(listLibraries)
  for (const file of new Set(libraries)) copyTo(root, file)
  copyTo(root, process.execPath, '/usr/local/bin/node')
  for (const name of ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2']) {
    const file = `/lib/x86_64-linux-gnu/${name}`
    if (existsSync(file)) copyTo(root, file)
  }
  for (const folder of ['tmp', 'etc', 'proc', 'dev', 'home/node']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  writeFileSync(join(root, 'etc/passwd'), `node:x:${user}:${user}::/home/node:/bin/false\n`)
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n')
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')
}

function listLibraries(file: string): string[] {
  const lines = execFileSync('ldd', [file], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? [])
}

function copyTo(root: string, file: string, to = file): void {
  mkdirSync(dirname(join(root, to)), { recursive: true })
  copyFileSync(file, join(root, to))
}

/** The variables of the Dockerfile. */
export function imageEnvironment(): Record<string, string> {
  const [, name = '', value = ''] = /^ENV (\w+)=(\S+)$/m.exec(dockerfile) ?? []
  return { [name]: value }
}

export function imageCommand(): string[] {
  return JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]')
}

export function healthCheck(): string[] {
  return JSON.parse(/^HEALTHCHECK[\s\S]*?CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]')
}

/**
 * Runs a command in the file system: a mount namespace in which the root is read-only and `/tmp` is in memory, the user
 * of the image without capabilities, its WORKDIR.
 */
export function runInImage(
  t: Ending,
  root: string,
  { command, env }: { command: readonly string[]; env: Record<string, string> },
) {
  const script = [
    'root=$1',
    'shift',
    'mount --bind "$root" "$root"',
    'mount -o remount,bind,ro "$root"',
    'mount -t proc proc "$root/proc"',
    'mount --bind /dev "$root/dev"',
    'mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"',
    `exec unshare --root="$root" --wd=/app --setgid=${user} --setuid=${user} "$@"`,
  ].join(' && ')
  const [program, ...args] = command
  assert.equal(program, 'node')
  const line = ['--mount', 'sh', '-c', script, 'sh', root, '/usr/local/bin/node', ...args]
  const child = spawn('unshare', line, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, ended }
}
