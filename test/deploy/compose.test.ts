/** The container setup, checked against the repository without a container engine. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { parseEnv } from 'node:util'

import { parse } from 'yaml'

import { knownNames } from '../../config/names.ts'
import { readConfig } from '../../config/read-config.ts'
import { parseDuration } from '../../schemas/values/duration.ts'
import { composeWith, containerEnvironment } from './compose-file.ts'
import { makeSecrets, newFolder } from './env-file.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const text = read('docker-compose.yml')
const dockerfile = read('Dockerfile')
const required = {
  POSTGRES_PASSWORD: 'a',
  POSTERN_PASSWORD: 'b',
  AUTH_JWT_SECRET: 'c',
  AUTH_ENCRYPTION_KEY: 'd',
}
const { services, volumes } = composeWith(required)
const named = Object.entries(services)
const servers = named.filter(([, { build, environment }]) => build && environment?.AUTH_DB_DRIVER)
const mounts = named.flatMap(([, service]) => service.volumes ?? []).map((one) => one.split(':')[0])

/** What .env may not change, because another container counts on it or it belongs to the file. */
const fixed: Record<string, string> = {
  AUTH_DB_DRIVER: 'there is one',
  AUTH_API_HOST: 'the published port leads to every address of the container',
  PORT: 'proxies, health check and published port look for the server there',
  OTEL_EXPORTER_PROMETHEUS_HOST: 'Prometheus is another container',
  OTEL_EXPORTER_PROMETHEUS_PORT: 'Prometheus looks for it there',
  DATABASE_URL: 'the database is a container of the file',
  AUTH_REDIS_URL: 'of replicas, it is a container of the file',
  POSTGRES_PASSWORD: 'not for the server',
  POSTERN_PASSWORD: 'not for the server',
  AUTHENTICATOR_PASSWORD: 'not for the server',
  GRAFANA_PASSWORD: 'not for the server',
}

suite('docker-compose.yml', () => {
  test('pins each image and restarts each service', () => {
    for (const [name, { build, image, restart }] of named) {
      if (!build) assert.match(image ?? '', /:v?\d/, name)
      assert.notEqual(restart ?? 'no', 'no', name)
    }
  })

  test('waits for services with a health check only', () => {
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

  test('mounts existing paths', () => {
    const paths = mounts.filter((path = '') => path.startsWith('./'))
    assert.ok(paths.length >= 5)
    for (const path of paths) assert.ok(existsSync(join(root, path ?? '')), path)
    // An absolute path is the operator's.
    for (const name of mounts.filter((path = '') => !/^[./]/.test(path))) {
      assert.ok(name !== undefined && name in volumes, name)
    }
  })

  for (const [name, { environment = {} }] of servers) {
    test(`${name}: has known settings that start a server`, (t) => {
      const secrets = makeSecrets(newFolder(t))
      for (const [variable, value] of Object.entries(environment)) {
        // An empty value removes a password of .env meant for other services.
        assert.ok(value === '' || knownNames.has(variable), variable)
      }
      const config = readComposeConfig(name, secrets)
      assert.match(config.DATABASE_URL, new RegExp(`//postern:${secrets.POSTERN_PASSWORD}@`))
    })
  }

  test('uses the port the server listens on in image, load balancer and other services', (t) => {
    const { PORT, OTEL_EXPORTER_PROMETHEUS_PORT } = readComposeConfig(
      'postern',
      makeSecrets(newFolder(t)),
    )
    const [, exposed = ''] = /^EXPOSE (.*)$/m.exec(dockerfile) ?? []
    assert.deepEqual(exposed.split(' ').map(Number), [PORT, OTEL_EXPORTER_PROMETHEUS_PORT])
    assert.match(dockerfile, new RegExp(`GOTRUE_API_PORT \\|\\| ${PORT}}`))
    const inside = services.postern?.ports?.map((port) => Number(port.split(':').at(-1)))
    assert.deepEqual(inside, [PORT, OTEL_EXPORTER_PROMETHEUS_PORT])
    const requested = `${text}\n${read('deploy/haproxy.cfg')}`.matchAll(
      /\b(?:postern|replica):(\d+)/g,
    )
    const ports = [...requested].map(([, port]) => Number(port))
    assert.ok(ports.length >= 2)
    assert.deepEqual(new Set(ports), new Set([PORT]))
    const { scrape_configs } = parse(read('deploy/prometheus.yml'))
    assert.equal(scrape_configs[0].dns_sd_configs[0].port, OTEL_EXPORTER_PROMETHEUS_PORT)
  })
})

suite('docs/deploying.md', () => {
  const guide = read('docs/deploying.md')

  test('clones the default branch instead of a tag', () => {
    assert.doesNotMatch(guide, /git clone .*--branch/)
  })

  test('names each fixed variable, and the configurable ports and network', () => {
    const names = [...Object.keys(fixed).filter((name) => !name.endsWith('_PASSWORD'))]
    for (const name of [...names, 'POSTERN_PORT', 'POSTERN_METRICS_PORT', 'POSTERN_NETWORK']) {
      assert.ok(guide.includes(`\`${name}`), name)
    }
  })

  test('upgrades existing services with the image of the file', () => {
    const [, commands = ''] = /### Upgrade[\s\S]*?```sh\n([\s\S]*?)```/.exec(guide) ?? []
    assert.match(commands, /^docker tag postern postern:before$/m)
    const used = [...commands.matchAll(/docker compose exec (?:-T )?(\w+)/g)].map(([, one]) => one)
    assert.deepEqual(used, ['postgres', 'postern'])
    for (const name of used) assert.ok(name !== undefined && name in services, name)
    assert.equal(services.postern?.image, 'postern')
  })
})

suite('server containers', () => {
  test('have a stop grace period longer than the shutdown', (t) => {
    for (const [name, { stop_grace_period = '' }] of servers) {
      const { AUTH_SHUTDOWN_DELAY } = readComposeConfig(name, makeSecrets(newFolder(t)))
      assert.ok(parseDuration(stop_grace_period) > AUTH_SHUTDOWN_DELAY + 60, name)
    }
  })

  test('are reached at the port in links, alone and behind the load balancer', (t) => {
    const secrets = makeSecrets(newFolder(t))
    for (const [name] of servers) {
      const { port } = new URL(readComposeConfig(name, secrets).AUTH_API_EXTERNAL_URL)
      const { ports = [] } = services[name === 'replica' ? 'balancer' : name] ?? {}
      assert.ok(
        ports.some((published) => published.startsWith(`127.0.0.1:${port}:`)),
        name,
      )
    }
  })

  test('warn at startup without a mail server', (t) => {
    const secrets = makeSecrets(newFolder(t))
    const describeEnv = (env: NodeJS.Dict<string>) => {
      const notices: string[] = []
      const config = readComposeConfig('postern', { ...secrets, ...env }, (one) =>
        notices.push(one),
      )
      return { port: config.AUTH_SMTP_PORT, words: notices.join() }
    }
    assert.match(describeEnv({}).words, /AUTH_SMTP_HOST is not set/)
    assert.equal(describeEnv({}).port, 587)
    const caught = describeEnv(parseEnv(read('deploy/mail-catcher.env')))
    assert.doesNotMatch(caught.words, /AUTH_SMTP_HOST/)
    assert.equal(caught.port, 1025)
  })

  test('trust the addresses of the two proxies only', (t) => {
    const secrets = makeSecrets(newFolder(t))
    for (const POSTERN_NETWORK of [undefined, '10.99.7']) {
      const env = { ...secrets, POSTERN_NETWORK }
      const { services, networks } = composeWith(env)
      const [network] = networks.default?.ipam.config ?? []
      const proxies = ['tls', 'balancer'].map(
        (name) => services[name]?.networks?.default?.ipv4_address ?? '',
      )
      for (const [name] of servers) {
        const config = readComposeConfig(name, env)
        assert.equal(config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED, true, name)
        assert.deepEqual(config.AUTH_TRUSTED_PROXIES, proxies)
      }
      const of = (cidr = '') => {
        const [address = '', bits] = cidr.split('/')
        const list = new BlockList()
        list.addSubnet(address, Number(bits))
        return list
      }
      for (const address of proxies) {
        assert.ok(of(network?.subnet).check(address), address)
        // Services without a fixed address do not get one of the proxies’.
        assert.ok(!of(network?.ip_range).check(address), address)
        assert.notEqual(address, network?.gateway)
      }
      assert.ok(of(network?.subnet).check(network?.gateway ?? ''))
    }
    assert.match(read('deploy/Caddyfile'), /header_up Proxy-Forwarded-For \{remote_host\}/)
    assert.match(read('deploy/Caddyfile'), /reverse_proxy postern:8081 /)
    assert.match(read('deploy/haproxy.cfg'), /http-request set-header Proxy-Forwarded-For %\[src\]/)
  })

  test('publish ports on loopback only', () => {
    for (const [, { ports = [] }] of servers) {
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
    }
  })

  for (const [name, service] of servers) {
    test(`${name}: .env overrides each variable except documented ones`, (t) => {
      const secrets = makeSecrets(newFolder(t))
      const { environment = {} } = service
      for (const variable of Object.keys(environment)) {
        const env = { ...secrets, [variable]: 'changed' }
        const filled = composeWith(env).services[name] ?? {}
        const isChanged = containerEnvironment(filled, env)[variable] === 'changed'
        assert.equal(isChanged, !(variable in fixed), variable)
      }
      const other = { ...secrets, AUTH_PASSWORD_MIN_LENGTH: '12', POSTERN_PORT: '9000' }
      assert.equal(readComposeConfig(name, other).AUTH_PASSWORD_MIN_LENGTH, 12)
      const published = composeWith(other).services[name === 'replica' ? 'balancer' : name]?.ports
      assert.match(published?.[0] ?? '', /^127\.0\.0\.1:9000:/)
    })
  }
})

/** Of a server started by docker compose with this .env. */
function readComposeConfig(
  name: string,
  env: NodeJS.Dict<string>,
  warn: (notice: string) => void = () => {},
) {
  const service = composeWith(env).services[name] ?? {}
  return readConfig(containerEnvironment(service, env), { dev: false, warn })
}
