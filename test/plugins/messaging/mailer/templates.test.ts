/** The AUTH_MAILER_TEMPLATE* settings, through the server that has them. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { createLibrary } from '../../../../mail/languages/library.ts'
import { previewAll } from '../../../../mail/preview.ts'
import { configuredRenderer } from '../../../../plugins/messaging/mailer/renderer.ts'
import { type Response, startTemplateServer } from '../../../mail/template-server.ts'
import { testConfig } from '../../../support/config.ts'
import { buildMailApp } from '../../../support/messages/mail-app.ts'
import { sharedDatabase } from '../../../support/processes/shared-database.ts'
import { until } from '../../../support/processes/until.ts'

const now = Date.parse('2026-03-04T05:06:07Z')

suite('AUTH_MAILER_TEMPLATE_* settings', () => {
  const database = sharedDatabase()

  async function start(
    t: TestContext,
    response: Response | string,
    env: Record<string, string>,
    dev = true,
  ) {
    const server = await startTemplateServer(t, response)
    const { url: DATABASE_URL } = await database()
    const settings = { DATABASE_URL, AUTH_MAILER_TEMPLATES_RECOVERY: server.url, ...env }
    const app = await buildMailApp(testConfig(settings, dev))
    t.after(() => app.close())
    const html = async () => {
      const previews = await app.mailer.preview('en')
      return previews.find(({ kind }) => kind === 'recovery')?.html ?? ''
    }
    return { server, html }
  }

  const sizes: [limit: string | undefined, bytes: number, taken: boolean][] = [
    [undefined, 1_000_000, true],
    [undefined, 1_000_001, false],
    ['100', 100, true],
    ['100', 101, false],
    ['1200000', 1_200_000, true],
    ['1200000', 1_200_001, false],
  ]
  for (const [limit, bytes, taken] of sizes) {
    const name = `${bytes} bytes are ${taken ? 'accepted' : 'rejected'}`
    test(`AUTH_MAILER_TEMPLATE_MAX_SIZE ${limit ?? 'unset'}: ${name}`, async (t) => {
      const env = limit === undefined ? {} : { AUTH_MAILER_TEMPLATE_MAX_SIZE: limit }
      const { html } = await start(t, 'x'.repeat(bytes), env)

      assert.equal((await html()).startsWith('xxx'), taken)
    })
  }

  test('AUTH_MAILER_TEMPLATE_MAX_AGE limits the age of a cached template', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now })
    const { server, html } = await caching(t, 'old', { AUTH_MAILER_TEMPLATE_MAX_AGE: '2m' })
    await html()
    server.serve('new')

    t.mock.timers.tick(119_000)
    assert.equal(await html(), 'old')
    t.mock.timers.tick(1000)
    assert.equal(await html(), 'new')
  })

  test('AUTH_MAILER_TEMPLATE_RETRY_INTERVAL delays the next fetch after a failure', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now })
    const env = { AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: '90s' }
    const { server, html } = await caching(t, (response) => response.writeHead(503).end(), env)
    assert.match(await html(), /Reset your password/)
    server.serve('back')

    t.mock.timers.tick(89_000)
    assert.match(await html(), /Reset your password/)
    t.mock.timers.tick(1000)
    assert.equal(await html(), 'back')
  })

  test('AUTH_MAILER_TEMPLATE_RELOADING_ENABLED fetches templates in advance and periodically', async (t) => {
    const { server } = await start(t, 'x', {
      AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: 'true',
      AUTH_MAILER_TEMPLATE_MAX_AGE: '0.5s',
    })

    await until(() => server.paths.length >= 2)
  })

  test('fetches a template on first use by default', async (t) => {
    const { server, html } = await start(t, 'x', {})
    // This request comes after anything sent at the start.
    await fetch(new URL('/later', server.url))
    assert.deepEqual(server.paths, ['/later'])

    await html()

    assert.equal(server.paths.length, 2)
  })

  test('does not follow redirects', async (t) => {
    const other = await startTemplateServer(t, 'elsewhere')
    const { html } = await start(
      t,
      (response) => response.writeHead(302, { location: other.url }).end(),
      {},
    )

    assert.match(await html(), /Reset your password/)
    assert.equal(other.paths.length, 0)
  })

  test('rejects private addresses outside development', async (t) => {
    const { server, html } = await start(t, 'x', {}, false)

    assert.match(await html(), /Reset your password/)
    assert.equal(server.paths.length, 0)
  })
})

/** Caching outside development, tested with the renderer alone, because the guard rejects local servers. */
async function caching(t: TestContext, response: Response | string, env: Record<string, string>) {
  const server = await startTemplateServer(t, response)
  const config = testConfig({ AUTH_MAILER_TEMPLATES_RECOVERY: server.url, ...env }, false)
  const log = { warn() {} }
  const renderer = configuredRenderer(config, {
    fetch,
    log,
    messagesFor: createLibrary(() => undefined).get,
    defaultTag: 'en',
  })
  const addresses = { siteUrl: 'http://app.example', externalUrl: 'http://auth.example' }
  const html = async () => {
    const previews = await previewAll(renderer, addresses, 'en')
    return previews.find(({ kind }) => kind === 'recovery')?.html ?? ''
  }
  return { server, html }
}
