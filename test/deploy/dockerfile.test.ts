/** The Dockerfile: base image, user, health check, and excluded files. */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { promisify } from 'node:util'

import { ignoredBy } from '../../scripts/release/ignored-by.ts'
import { listen } from '../support/processes/listening.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const dockerfile = read('Dockerfile')

suite('Dockerfile', () => {
  test('uses the required Node version and not root', () => {
    const [major] = JSON.parse(read('package.json')).devDependencies.node.split('.')
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    assert.deepEqual(new Set(bases), new Set([`node:${major}-slim`]))
    const [, user = 'root'] = [...dockerfile.matchAll(/^USER (\S+)$/gm)].at(-1) ?? []
    assert.notEqual(user, 'root')
  })

  test('health check fails when nothing listens', () => {
    const [program, , script] = check()
    assert.equal(program, 'node')
    const env = { PATH: process.env.PATH, PORT: '1' }
    assert.throws(() => execFileSync(process.execPath, ['-e', script], { env }))
  })

  for (const name of ['PORT', 'AUTH_API_PORT', 'GOTRUE_API_PORT']) {
    test(`health check uses the port of ${name}`, async (t) => {
      const server = createServer((_request, response) => response.end())
      t.after(() => void server.close())
      const env = { PATH: process.env.PATH, [name]: String(await listen(server)) }
      await promisify(execFile)(process.execPath, ['-e', check()[2]], { env })
    })
  }

  test('health check counts failures after five minutes only', () => {
    assert.match(dockerfile, /^HEALTHCHECK .*--start-period=5m /m)
  })

  const stored = [
    'scripts/require-node.cjs',
    'scripts/make-secrets.ts',
    'deploy/init-database.sql',
    'mail/languages/en.json',
    '.npmrc',
  ]
  const ofThisMachine = [
    '.env',
    '.env.production',
    '.env.local',
    'postern.dump',
    'postern.dump.part',
    'users.ndjson',
    'users.ndjson.refused.ndjson',
    'users.csv',
    'data/users.csv',
    'backups',
    'exports',
    '.data',
    'node_modules',
    'server.log',
  ]

  test('excludes secrets and local data from the image', () => {
    const isIgnored = ignoredBy(read('.dockerignore'))
    for (const path of [...ofThisMachine, '.git']) assert.ok(isIgnored(path), path)
    for (const path of stored) assert.ok(!isIgnored(path), path)
  })

  test('excludes secrets and local data from commits', () => {
    const isIgnored = (path: string) =>
      spawnSync('git', ['check-ignore', '--quiet', '--no-index', path], { cwd: root }).status === 0
    for (const path of ofThisMachine) assert.ok(isIgnored(path) || isIgnored(`${path}/`), path)
    for (const path of [...stored, '.env.example']) assert.ok(!isIgnored(path), path)
  })
})

function check(): [program: string, flag: string, script: string] {
  const [, command = ''] = /HEALTHCHECK[^[]*(\[.*\])$/m.exec(dockerfile) ?? []
  return JSON.parse(command)
}
