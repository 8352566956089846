/** docker-compose.yml, as far as it can be held against the repository without Docker. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { parseEnv } from 'node:util'

import { parse } from 'yaml'

import { knownNames } from '../../schemas/config/names.ts'
import { readConfig } from '../../schemas/config/read-config.ts'

interface Service {
  image: string
  restart?: string
  build?: string
  environment?: Record<string, string>
  volumes?: string[]
  healthcheck?: { test: string[] }
  profiles?: string[]
}

const root = join(import.meta.dirname, '../..')
const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
const { services }: { services: Record<string, Service> } = parse(text, { merge: true })
const named = Object.entries(services)
const ours = named.filter(([, { build, environment }]) => build && environment?.AUTH_DB_DRIVER)

suite('docker-compose.yml', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-secrets-'))
  after(() => rmSync(folder, { recursive: true }))
  makeSecrets(folder)
  const secrets = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))

  test('has a server, a database and what grows with them', () => {
    assert.ok(ours.length >= 2)
    assert.ok(services.postgres && services.postern)
    assert.deepEqual(
      [services.postgres.profiles, services.postern.profiles],
      [undefined, undefined],
    )
  })

  for (const [name, { restart }] of named) {
    test(`${name} starts again by itself`, () => assert.equal(restart, 'unless-stopped'))
  }

  test('the database and every process of ours say whether they are well', () => {
    assert.ok(services.postgres?.healthcheck)
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
    assert.match(dockerfile, /^HEALTHCHECK (?!NONE)[\s\S]*\/health/m)
    for (const [name, { build, healthcheck }] of named) {
      if (build) assert.notEqual(healthcheck?.test[0], 'NONE', name)
    }
  })

  test('npm run secrets makes every variable that has to be there, and every password', () => {
    const used = [...text.matchAll(/\$\{(\w+)(:-?\??[^}]*)?\}/g)]
    const needed = used.filter(
      ([, name = '', rest = '']) => !rest.startsWith(':-') || /(PASSWORD|SECRET|KEY)$/.test(name),
    )
    const names = new Set(needed.map(([, name = '']) => name))
    assert.ok(names.has('POSTGRES_PASSWORD') && names.has('GRAFANA_PASSWORD'))
    assert.deepEqual(
      [...names].filter((name) => !secrets[name]),
      [],
    )
    assert.equal(new Set(Object.values(secrets)).size, Object.keys(secrets).length)
  })

  test('npm run secrets changes nothing that is there', () => {
    const before = readFileSync(join(folder, '.env'), 'utf8')
    makeSecrets(folder)
    assert.equal(readFileSync(join(folder, '.env'), 'utf8'), before)
  })

  for (const [name, { environment = {} }] of ours) {
    test(`the settings of ${name} are known, and a server starts with them`, () => {
      const unknown = Object.keys(environment).filter((variable) => !knownNames.has(variable))
      assert.deepEqual(unknown, [])
      const values = Object.entries(environment).map(([key, value]) => [
        key,
        filled(value, secrets),
      ])
      const config = readConfig(Object.fromEntries(values), { dev: false, warn() {} })
      assert.match(config.DATABASE_URL, new RegExp(`:${secrets.POSTGRES_PASSWORD}@`))
    })
  }

  test('what is mounted from here exists', () => {
    const mounted = named.flatMap(([, { volumes = [] }]) => volumes).map((one) => one.split(':')[0])
    const paths = mounted.filter((path) => path?.startsWith('./'))
    assert.ok(paths.length >= 5)
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(root, path ?? ''))),
      [],
    )
  })
})

function makeSecrets(cwd: string): void {
  execFileSync(process.execPath, [join(root, 'scripts/make-secrets.ts')], { cwd, stdio: 'ignore' })
}

/** As docker compose fills in what stands in .env. */
function filled(value: string, env: NodeJS.Dict<string>): string {
  return String(value).replaceAll(
    /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g,
    (_, name: string, preset = '') => env[name] ?? preset,
  )
}
