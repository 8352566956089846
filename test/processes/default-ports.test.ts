/** Where the server listens when the operator names no port. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { suite, type TestContext, test } from 'node:test'

import { encryptionKey, testConfig } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { isReady } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'

const ports = { api: 8081, metrics: 9100 }

suite('default ports', () => {
  test('are 8081 and 9100', () => {
    const config = testConfig()
    const { PORT, OTEL_EXPORTER_PROMETHEUS_PORT } = config
    assert.deepEqual({ api: PORT, metrics: OTEL_EXPORTER_PROMETHEUS_PORT }, ports)
  })

  test('the API listens on 8081 and metrics on 9100', async (t) => {
    const taken = await findTakenPorts(Object.values(ports))
    if (taken.length > 0) return t.skip(`another program has port ${taken.join(' and ')}`)
    const env = await settings(t)
    const { written, ended } = startCli(t, ['serve'], { cwd: tmpdir(), env })
    const failed = ended.then(() => assert.fail(written.out + written.err))
    failed.catch(() => {})

    const api = `http://127.0.0.1:${ports.api}`
    await Promise.race([until(() => isReady(api)), failed])

    assert.equal((await fetch(`${api}/.well-known/jwks.json`)).status, 200)
    const metrics = await (await fetch(`http://127.0.0.1:${ports.metrics}/`)).text()
    assert.ok(metrics.includes(`target_info{service_name="${env.OTEL_SERVICE_NAME}"`), metrics)
  })
})

async function settings(t: TestContext) {
  const { url: DATABASE_URL } = await cloneDatabase(t)
  return {
    DATABASE_URL,
    AUTH_DB_DRIVER: 'postgres',
    AUTH_API_EXTERNAL_URL: 'http://auth.example',
    AUTH_SITE_URL: 'http://app.example',
    AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
    AUTH_JWT_ALGORITHM: 'ES256',
    AUTH_ENCRYPTION_KEY: encryptionKey,
    AUTH_API_HOST: '127.0.0.1',
    OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.1',
    AUTH_METRICS_ENABLED: 'true',
    AUTH_METRICS_EXPORTER: 'prometheus',
    OTEL_SERVICE_NAME: `members-${randomUUID()}`,
    LOG_LEVEL: 'fatal',
  }
}

async function findTakenPorts(expected: number[]): Promise<number[]> {
  const tries = expected.map(async (port) => ((await isFree(port)) ? [] : [port]))
  return (await Promise.all(tries)).flat()
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
