/** What the container setup promises, as far as that is known without a container engine. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'

import { parse } from 'yaml'

interface Service {
  image?: string
  profiles?: string[]
  read_only?: boolean
  healthcheck?: { test: string[] }
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
}

interface Compose {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const compose: Compose = parse(read('docker-compose.yml'), { merge: true })

suite('docker-compose.yml', () => {
  test('runs Postgres and the server by default, and a mail catcher for development', () => {
    const { services } = compose
    const always = Object.entries(services).filter(([, { profiles }]) => profiles === undefined)
    assert.deepEqual(always.map(([name]) => name).toSorted(), ['postern', 'postgres'])
    assert.match(services.postgres?.image ?? '', /^postgres:18/)
    assert.deepEqual(services.mail?.profiles, ['dev'])
  })

  test('starts the server when the database is healthy', () => {
    const { postern, postgres, mail } = compose.services
    assert.equal(postern?.depends_on?.postgres?.condition, 'service_healthy')
    for (const service of [postgres, mail]) assert.ok(service?.healthcheck)
  })

  test('keeps the data in a named volume, where this Postgres looks for it', () => {
    assert.deepEqual(compose.services.postgres?.volumes, ['database:/var/lib/postgresql'])
    assert.ok('database' in compose.volumes)
  })

  test('leaves the server no file system to write to', () => {
    assert.equal(compose.services.postern?.read_only, true)
  })
})

suite('npm run secrets', () => {
  test('makes them once, for the owner alone, and leaves the rest of .env as it is', (t) => {
    const folder = newFolder(t)
    writeFileSync(join(folder, '.env'), 'AUTH_SITE_URL=http://x\nAUTH_JWT_SECRET=mine', {
      mode: 0o600,
    })
    const first = makeSecrets(folder)
    const second = makeSecrets(folder)
    assert.deepEqual(second, first)
    assert.equal(first.AUTH_SITE_URL, 'http://x')
    assert.equal(first.AUTH_JWT_SECRET, 'mine')
    assert.match(first.AUTH_ENCRYPTION_KEY ?? '', /^[\w-]{43}$/)
    const fresh = newFolder(t)
    assert.notEqual(makeSecrets(fresh).POSTGRES_PASSWORD, first.POSTGRES_PASSWORD)
    assert.equal(statSync(join(fresh, '.env')).mode & 0o777, 0o600)
  })
})

suite('the image', () => {
  test('is built without development packages, runs as a plain user and tells how it is', () => {
    const dockerfile = read('Dockerfile')
    assert.match(dockerfile, /^FROM node:24-slim$/m)
    assert.match(dockerfile, /npm ci --omit=dev/)
    assert.match(dockerfile, /^USER node$/m)
    const [, command = ''] = /HEALTHCHECK[^[]*(\[.*\])$/m.exec(dockerfile) ?? []
    const [program, , script] = JSON.parse(command)
    assert.equal(program, 'node')
    // Nothing listens there, so that the check must say no.
    const env = { PATH: process.env.PATH, PORT: '1' }
    assert.throws(() => execFileSync(process.execPath, ['-e', script], { env }))
  })

  test('holds neither secrets nor data of the machine it is built on', () => {
    const ignored = read('.dockerignore').split('\n')
    for (const path of ['.env', '.data', '.git', 'node_modules']) assert.ok(ignored.includes(path))
  })
})

function makeSecrets(folder: string): Record<string, string | undefined> {
  execFileSync(process.execPath, [join(root, 'scripts/make-secrets.ts')], { cwd: folder })
  return parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-compose-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}
