/** The container setup, as far as it can be held against the repository without a container engine. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { parseEnv } from 'node:util'

import { parse } from 'yaml'

import { knownNames } from '../../plugins/config/names.ts'
import { readConfig } from '../../plugins/config/read-config.ts'
import { parseDuration } from '../../schemas/duration.ts'
import { makeSecrets, newFolder } from './env-file.ts'

interface Service {
  image?: string
  build?: string
  restart?: string
  stop_grace_period?: string
  ports?: string[]
  environment?: Record<string, string>
  volumes?: string[]
  healthcheck?: { test: string[] }
  depends_on?: string[] | Record<string, { condition: string }>
}

interface Compose {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const text = read('docker-compose.yml')
const dockerfile = read('Dockerfile')
const { services, volumes }: Compose = parse(text, { merge: true })
const named = Object.entries(services)
const servers = named.filter(([, { build, environment }]) => build && environment?.AUTH_DB_DRIVER)
const mounts = named.flatMap(([, service]) => service.volumes ?? []).map((one) => one.split(':')[0])

suite('docker-compose.yml', () => {
  test('takes every image at a version, and starts everything again by itself', () => {
    for (const [name, { build, image, restart }] of named) {
      if (!build) assert.match(image ?? '', /:v?\d/, name)
      assert.notEqual(restart ?? 'no', 'no', name)
    }
  })

  test('waits for nobody who does not say whether they are well', () => {
    const waits = named.flatMap(([, { depends_on = {} }]) =>
      Array.isArray(depends_on) ? [] : Object.entries(depends_on),
    )
    const awaited = waits.filter(([, { condition }]) => condition === 'service_healthy')
    assert.ok(awaited.some(([name]) => name === 'postgres'))
    for (const [name] of awaited) {
      const { build, healthcheck } = services[name] ?? {}
      assert.ok(build ? /^HEALTHCHECK (?!NONE)/m.test(dockerfile) : healthcheck, name)
      assert.notEqual(healthcheck?.test[0], 'NONE', name)
    }
  })

  test('mounts what exists', () => {
    const paths = mounts.filter((path = '') => path.startsWith('./'))
    assert.ok(paths.length >= 5)
    for (const path of paths) assert.ok(existsSync(join(root, path ?? '')), path)
    for (const name of mounts.filter((path = '') => !path.startsWith('.'))) {
      assert.ok(name !== undefined && name in volumes, name)
    }
  })

  for (const [name, { environment = {} }] of servers) {
    test(`the settings of ${name} are known, and a server starts with them`, (t) => {
      const secrets = makeSecrets(newFolder(t))
      for (const [variable, value] of Object.entries(environment)) {
        // What is empty takes a password of .env out again that is for others.
        assert.ok(value === '' || knownNames.has(variable), variable)
      }
      const config = configOf(environment, secrets)
      assert.match(config.DATABASE_URL, new RegExp(`//postern:${secrets.POSTERN_PASSWORD}@`))
    })
  }

  test('image, balancer and neighbours look for the server where it listens', (t) => {
    const environment = services.postern?.environment ?? {}
    const { PORT, OTEL_EXPORTER_PROMETHEUS_PORT } = configOf(environment, makeSecrets(newFolder(t)))
    const [, exposed = ''] = /^EXPOSE (.*)$/m.exec(dockerfile) ?? []
    assert.deepEqual(exposed.split(' ').map(Number), [PORT, OTEL_EXPORTER_PROMETHEUS_PORT])
    assert.match(dockerfile, new RegExp(`GOTRUE_API_PORT \\|\\| ${PORT}}`))
    const inside = services.postern?.ports?.map((port) => Number(port.split(':').at(-1)))
    assert.deepEqual(inside, [PORT, OTEL_EXPORTER_PROMETHEUS_PORT])
    const asked = `${text}\n${read('deploy/haproxy.cfg')}`.matchAll(/\b(?:postern|replica):(\d+)/g)
    const ports = [...asked].map(([, port]) => Number(port))
    assert.ok(ports.length >= 2)
    assert.deepEqual(new Set(ports), new Set([PORT]))
    const { scrape_configs } = parse(read('deploy/prometheus.yml'))
    assert.equal(scrape_configs[0].dns_sd_configs[0].port, OTEL_EXPORTER_PROMETHEUS_PORT)
  })
})

suite('the containers of the server', () => {
  test('get more time to stop than the server takes', (t) => {
    for (const [name, { environment = {}, stop_grace_period = '' }] of servers) {
      const { AUTH_SHUTDOWN_DELAY } = configOf(environment, makeSecrets(newFolder(t)))
      assert.ok(parseDuration(stop_grace_period) > AUTH_SHUTDOWN_DELAY + 60, name)
    }
  })

  test('are reached at the port that links name, alone and behind the balancer', (t) => {
    const secrets = makeSecrets(newFolder(t))
    for (const [name, { environment = {} }] of servers) {
      const { port } = new URL(configOf(environment, secrets).AUTH_API_EXTERNAL_URL)
      const { ports = [] } = services[name === 'replica' ? 'balancer' : name] ?? {}
      assert.ok(
        ports.some((published) => published.startsWith(`127.0.0.1:${port}:`)),
        name,
      )
    }
  })

  test('say at start that there is no mail server, until one is named', (t) => {
    const environment = services.postern?.environment ?? {}
    const secrets = makeSecrets(newFolder(t))
    const said = (env: NodeJS.Dict<string>) => {
      const notices: string[] = []
      const config = configOf(environment, { ...secrets, ...env }, (one) => notices.push(one))
      return { port: config.AUTH_SMTP_PORT, words: notices.join() }
    }
    assert.match(said({}).words, /AUTH_SMTP_HOST is not set/)
    assert.equal(said({}).port, 587)
    const caught = said(parseEnv(read('deploy/mail-catcher.env')))
    assert.doesNotMatch(caught.words, /AUTH_SMTP_HOST/)
    assert.equal(caught.port, 1025)
  })

  test('believe a client address of the proxies beside them, and of nobody else outside', (t) => {
    for (const [name, { environment = {}, ports = [] }] of servers) {
      const config = configOf(environment, makeSecrets(newFolder(t)))
      assert.equal(config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED, true, name)
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name)
    }
    assert.match(read('deploy/Caddyfile'), /header_up Proxy-Forwarded-For \{remote_host\}/)
    assert.match(read('deploy/Caddyfile'), /reverse_proxy postern:8081 /)
  })
})

/** Of a server that gets these settings, as docker compose fills in what stands in .env. */
function configOf(
  environment: Record<string, string>,
  env: NodeJS.Dict<string>,
  warn: (notice: string) => void = () => {},
) {
  const filled = Object.entries(environment).map(([key, value]) => [
    key,
    String(value).replaceAll(
      /\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g,
      (_, name: string, preset = '') => env[name] ?? preset,
    ),
  ])
  return readConfig(Object.fromEntries(filled), { dev: false, warn })
}
