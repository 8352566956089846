import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { parseTextSource } from '../../mail/cached-template.ts'
import { type CustomTemplateOptions, createCustomTemplates } from '../../mail/custom-templates.ts'
import { createHttpClient } from '../../plugins/outgoing/http-client/index.ts'
import { type Response, startTemplateServer } from './template-server.ts'

const start = Date.parse('2026-03-04T05:06:07Z')
const maxBytes = 10_000
const timeout = /timeout/
const noProxies = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined }

const unusable: [name: string, answer: Response | string, reason: RegExp][] = [
  ['returns 404', (response) => response.writeHead(404).end('<p>gone</p>'), /status 404/],
  ['fails', (response) => response.writeHead(500).end('<p>sorry</p>'), /status 500/],
  ['returns 204', (response) => response.writeHead(204).end(), /status 204/],
  ['returns 206', (response) => response.writeHead(206).end('<p>part</p>'), /status 206/],
  [
    'redirects',
    (response) => response.writeHead(302, { location: '/elsewhere' }).end(),
    /status 302/,
  ],
  ['is empty', '  \n', /empty/],
  ['is above the size limit', 'x'.repeat(maxBytes + 1), /larger than 10000 bytes/],
  [
    'is above the size limit and never ends',
    (response) => void response.write('x'.repeat(2 * maxBytes + 1)),
    /longer than 20000 bytes/,
  ],
  ['times out', () => {}, timeout],
  ['stalls', (response) => void response.write('<p>'), timeout],
  ['is disconnected', (response) => cutOff(response), /other side closed|terminated/],
  ['has a syntax error', '<p>\n{{ if .Email }}\n', /line 2: \{\{ if \}\} has no \{\{ end \}\}/],
]

suite('templates from URLs', () => {
  test('are fetched once and cached until they expire', async (t) => {
    const { server, templates, tick } = await open(t, '<p>{{ .Email }}</p>')

    assert.equal(await rendered(templates), '<p>ada@example.com</p>')
    tick(599)
    assert.equal(await rendered(templates), '<p>ada@example.com</p>')
    assert.deepEqual(server.paths, ['/mail.html?key=secret'])

    server.serve('<p>new</p>')
    tick(1)
    assert.equal(await rendered(templates), '<p>new</p>')
    assert.equal(server.paths.length, 2)
  })

  test('are fetched once for twenty racing emails', async (t) => {
    let release = () => {}
    const { server, templates } = await open(t, (response) => {
      release = () => response.end('late')
    })

    const all = Array.from({ length: 20 }, () => rendered(templates))
    while (server.paths.length === 0) await pause(5)
    release()

    assert.deepEqual(new Set(await Promise.all(all)), new Set(['late']))
    assert.equal(server.paths.length, 1)
  })

  test('are fetched for configured types only', async (t) => {
    const { server, templates } = await open(t, 'x')

    assert.equal(await templates.get('invite', 'en'), undefined)
    assert.equal(await templates.get('magic_link', 'en'), undefined)
    assert.equal(server.paths.length, 0)
  })

  test('are accepted at the size limit', async (t) => {
    const { templates } = await open(t, 'x'.repeat(maxBytes))

    assert.equal((await rendered(templates))?.length, maxBytes)
  })

  for (const [name, response, reason] of unusable) {
    test(`are replaced by the built-in one with a warning when the response ${name}`, async (t) => {
      const { templates, warnings, server } = await open(t, response, limitFor(reason))

      assert.equal(await templates.get('recovery', 'en'), undefined)

      assert.equal(server.paths.length, 1)
      assert.equal(warnings.length, 1)
      const [{ reason: output, url }, message] = warnings[0] ?? [{}, '']
      assert.match(output ?? '', reason)
      assert.equal(url, `${server.url}/mail.html`)
      assert.match(message, /AUTH_MAILER_TEMPLATES_RECOVERY .* the built-in text is sent/)
    })

    test(`are served from the cache when a later response ${name}`, async (t) => {
      const { server, templates, tick, warnings } = await open(t, 'good', limitFor(reason))
      await templates.get('recovery', 'en')
      server.serve(response)
      tick(600)

      assert.equal(await rendered(templates), 'good')

      assert.match(warnings[0]?.[0].reason ?? '', reason)
      assert.match(warnings[0]?.[1] ?? '', /the last valid copy is sent/)
    })
  }

  test('are replaced by the built-in one when unreachable', async (t) => {
    const { templates, warnings } = await open(t, 'x', {
      templates: [{ kind: 'recovery', value: 'http://127.0.0.1:9/mail.html' }],
    })

    assert.equal(await templates.get('recovery', 'en'), undefined)

    assert.match(warnings[0]?.[0].reason ?? '', /ECONNREFUSED|bad port/)
  })

  test('are fetched again 10 seconds after a failure', async (t) => {
    const { server, templates, tick } = await open(t, unavailable)

    assert.equal(await rendered(templates), undefined)
    server.serve('back')
    tick(9.9)
    assert.equal(await rendered(templates), undefined)
    assert.equal(server.paths.length, 1)
    tick(0.1)
    assert.equal(await rendered(templates), 'back')
    tick(599)
    assert.equal(await rendered(templates), 'back')
    assert.equal(server.paths.length, 2)
  })

  test('are fetched again 10 seconds after a failed refresh', async (t) => {
    const { server, templates, tick } = await open(t, 'old')
    await templates.get('recovery', 'en')
    server.serve(unavailable)
    tick(600)
    await templates.get('recovery', 'en')
    server.serve('new')
    tick(9.9)
    assert.equal(await rendered(templates), 'old')
    tick(0.1)
    assert.equal(await rendered(templates), 'new')
  })

  test('do not delay emails when refreshed in the background', async (t) => {
    const { server, templates, tick } = await open(t, 'old', { renewing: true })
    await templates.renew()
    let release = () => {}
    server.serve((response) => {
      release = () => response.end('new')
    })
    tick(600)

    assert.equal(await rendered(templates), 'old')
    const renewed = templates.renew()
    while (server.paths.length < 2) await pause(5)
    release()
    await renewed

    assert.equal(await rendered(templates), 'new')
    assert.equal(server.paths.length, 2)
  })

  test('are not refreshed before they expire', async (t) => {
    const { server, templates, tick } = await open(t, 'x', { renewing: true })

    for (let i = 0; i < 5; i++) await templates.renew()
    tick(599)
    await templates.renew()

    assert.equal(server.paths.length, 1)
  })

  const urls: [configured: string, url: string][] = [
    ['https://cdn.example/a.html', 'https://cdn.example/a.html'],
    ['HTTP://cdn.example/a.html', 'HTTP://cdn.example/a.html'],
    ['/mail/a.html', 'https://app.example/mail/a.html'],
    ['mail/a.html', 'https://app.example/mail/a.html'],
    ['//evil.example/a.html', 'https://app.example/evil.example/a.html'],
    ['file:///etc/passwd', 'https://app.example/file:///etc/passwd'],
  ]
  for (const [configured, url] of urls) {
    test(`resolve ${configured} to ${url}`, () => {
      const places = { siteUrl: 'https://app.example/', folder: undefined }
      assert.deepEqual(parseTextSource(configured, places), { from: 'url', url })
    })
  }
})

suite('templates from files', () => {
  const places = { siteUrl: 'https://app.example', folder: '/srv/mail/' }

  for (const name of ['a.html', './de/a.html', 'de/../a.html', '..a.html']) {
    test(`resolve ${name} in the folder`, () => {
      assert.deepEqual(parseTextSource(name, places), {
        from: 'file',
        path: resolve('/srv/mail', name),
      })
    })
  }

  for (const name of ['../mail.html', '../mail-of-others/a.html', 'de/../../a.html', '.']) {
    test(`reject ${name}`, () => {
      assert.throws(() => parseTextSource(name, places), /is outside AUTH_TEMPLATES_DIR/)
    })
  }

  test('resolve a path with a leading slash against the site URL', () => {
    assert.deepEqual(parseTextSource('/etc/passwd', places), {
      from: 'url',
      url: 'https://app.example/etc/passwd',
    })
  })
})

async function open(
  t: TestContext,
  response: Response | string,
  change: Partial<CustomTemplateOptions> = {},
) {
  t.mock.timers.enable({ apis: ['Date'], now: start })
  const server = await startTemplateServer(t, response)
  const warnings: [{ reason?: string; url?: string }, string][] = []
  const client = createHttpClient({ dev: true, proxy: noProxies, maxBytes: 2 * maxBytes })
  t.after(client.close)
  const templates = createCustomTemplates({
    fetch: client.fetch,
    siteUrl: 'https://app.example',
    folder: undefined,
    templates: [
      { kind: 'recovery', value: ` ${server.url}/mail.html?key=secret ` },
      { kind: 'magic_link', value: ' ' },
    ],
    maxAgeSeconds: 600,
    retrySeconds: 10,
    timeoutSeconds: 5,
    maxBytes,
    renewing: false,
    rereading: false,
    log: { warn: (details, message) => void warnings.push([details, message]) },
    ...change,
  })
  const tick = (seconds: number) => t.mock.timers.tick(seconds * 1000)
  return { server, templates, warnings, tick }
}

/** Only the responses that never end have little time: on a busy machine, the others may be slow as well. */
function limitFor(reason: RegExp) {
  return { timeoutSeconds: reason === timeout ? 2 : 30 }
}

async function rendered(templates: ReturnType<typeof createCustomTemplates>) {
  return (await templates.get('recovery', 'en'))?.render({ Email: 'ada@example.com' })
}

function unavailable(response: Parameters<Response>[0]) {
  response.writeHead(503).end()
}

function cutOff(response: Parameters<Response>[0]) {
  response.writeHead(200, { 'content-length': '100' })
  response.write('<p>', () => response.destroy())
}
