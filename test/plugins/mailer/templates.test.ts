/** The AUTH_MAILER_TEMPLATE* settings, through the server that has them. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { createLibrary } from '../../../mail/languages/library.ts'
import { previewAll } from '../../../mail/preview.ts'
import { configuredRenderer } from '../../../plugins/mailer/renderer.ts'
import { type Answer, startTemplateServer } from '../../mail/template-server.ts'
import { configOf } from '../../support/config.ts'
import { cloneDatabase } from '../../support/database.ts'
import { buildMailApp } from '../../support/mail-app.ts'
import { until } from '../../support/until.ts'

const now = Date.parse('2026-03-04T05:06:07Z')

suite('mail template settings', () => {
  const sizes: [limit: string | undefined, bytes: number, taken: boolean][] = [
    [undefined, 1_000_000, true],
    [undefined, 1_000_001, false],
    ['100', 100, true],
    ['100', 101, false],
    ['1200000', 1_200_000, true],
    ['1200000', 1_200_001, false],
  ]
  for (const [limit, bytes, taken] of sizes) {
    const name = `${bytes} bytes are ${taken ? 'taken' : 'too many'}`
    test(`AUTH_MAILER_TEMPLATE_MAX_SIZE ${limit ?? 'unset'}: ${name}`, async (t) => {
      const env = limit === undefined ? {} : { AUTH_MAILER_TEMPLATE_MAX_SIZE: limit }
      const { html } = await start(t, 'x'.repeat(bytes), env)

      assert.equal((await html()).startsWith('xxx'), taken)
    })
  }

  test('AUTH_MAILER_TEMPLATE_MAX_AGE says how long a copy is good', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now })
    const { server, html } = await keeping(t, 'old', { AUTH_MAILER_TEMPLATE_MAX_AGE: '2m' })
    await html()
    server.serve('new')

    t.mock.timers.tick(119_000)
    assert.equal(await html(), 'old')
    t.mock.timers.tick(1000)
    assert.equal(await html(), 'new')
  })

  test('AUTH_MAILER_TEMPLATE_RETRY_INTERVAL says when to ask again after a failure', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now })
    const env = { AUTH_MAILER_TEMPLATE_RETRY_INTERVAL: '90s' }
    const { server, html } = await keeping(t, (response) => response.writeHead(503).end(), env)
    assert.match(await html(), /Reset your password/)
    server.serve('back')

    t.mock.timers.tick(89_000)
    assert.match(await html(), /Reset your password/)
    t.mock.timers.tick(1000)
    assert.equal(await html(), 'back')
  })

  test('AUTH_MAILER_TEMPLATE_RELOADING_ENABLED fetches before any mail needs it, again and again', async (t) => {
    const { server } = await start(t, 'x', {
      AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: 'true',
      AUTH_MAILER_TEMPLATE_MAX_AGE: '0.5s',
    })

    await until(() => server.paths.length >= 2)
  })

  test('without it a template is fetched when a mail needs it', async (t) => {
    const { server, html } = await start(t, 'x', {})
    // A request of ours comes after whatever the start may have sent.
    await fetch(new URL('/later', server.url))
    assert.deepEqual(server.paths, ['/later'])

    await html()

    assert.equal(server.paths.length, 2)
  })

  test('a redirect is not followed', async (t) => {
    const elsewhere = await startTemplateServer(t, 'elsewhere')
    const { html } = await start(
      t,
      (response) => response.writeHead(302, { location: elsewhere.url }).end(),
      {},
    )

    assert.match(await html(), /Reset your password/)
    assert.equal(elsewhere.paths.length, 0)
  })

  test('outside development a template in the own network is refused', async (t) => {
    const { server, html } = await start(t, 'x', {}, false)

    assert.match(await html(), /Reset your password/)
    assert.equal(server.paths.length, 0)
  })
})

async function start(
  t: TestContext,
  answer: Answer | string,
  env: Record<string, string>,
  dev = true,
) {
  const server = await startTemplateServer(t, answer)
  const database = await cloneDatabase(t)
  const app = await buildMailApp(
    configOf(
      { DATABASE_URL: database.url, AUTH_MAILER_TEMPLATES_RECOVERY: server.url, ...env },
      dev,
    ),
  )
  t.after(() => app.close())
  const html = async () => {
    const previews = await app.mailer.preview('en')
    return previews.find(({ kind }) => kind === 'recovery')?.html ?? ''
  }
  return { server, html }
}

/** As outside development, where a copy is kept: by the renderer alone, as the guard would refuse a server on this machine. */
async function keeping(t: TestContext, answer: Answer | string, env: Record<string, string>) {
  const server = await startTemplateServer(t, answer)
  const config = configOf({ AUTH_MAILER_TEMPLATES_RECOVERY: server.url, ...env }, false)
  const log = { warn() {} }
  const renderer = configuredRenderer(config, {
    fetch,
    log,
    speech: createLibrary(() => undefined).get,
  })
  const addresses = { siteUrl: 'http://app.example', externalUrl: 'http://auth.example' }
  const html = async () => {
    const previews = await previewAll(renderer, addresses, 'en')
    return previews.find(({ kind }) => kind === 'recovery')?.html ?? ''
  }
  return { server, html }
}
